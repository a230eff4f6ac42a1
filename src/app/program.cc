#include "app/program.h"

#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/controller.h"
#include "app/command_line.h"
#include "app/log_writer.h"
#include "app/registry.h"
#include "app/service.h"
#include "base/format.h"
#include "base/log.h"
#include "config/settings.h"
#include "dns/system_resolver.h"
#include "engine/engine.h"
#include "rt/background.h"
#include "rt/cpus.h"
#include "rt/epoll_backend.h"
#include "rt/worker.h"

namespace culvert::app {
namespace {

// ---------------------------------------------------------------- where things are

bool is_directory(const std::string& path) {
  struct stat st {};
  return stat(path.c_str(), &st) == 0 && S_ISDIR(st.st_mode);
}
bool is_there(const std::string& path) {
  struct stat st {};
  return stat(path.c_str(), &st) == 0;
}

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// -d, then our folder, then mihomo's if only that one exists.
std::string home_directory(const CommandLine& line) {
  if (!line.home.empty()) return line.home;
  std::string base = environment("XDG_CONFIG_HOME");
  if (base.empty()) base = environment("HOME") + "/.config";
  if (!is_directory(base + "/culvert") && is_directory(base + "/mihomo")) return base + "/mihomo";
  return base + "/culvert";
}

std::string hex(Bytes bytes) {
  std::string out;
  for (const uint8_t b : bytes) out += format("{:02x}", b);
  return out;
}

std::string version_text() {
#if defined(__x86_64__)
  const char* machine = "amd64";
#elif defined(__aarch64__)
  const char* machine = "arm64";
#else
  const char* machine = "other";
#endif
  return format("Culvert Meta {} linux {} with g++{}.{}", CULVERT_VERSION, machine, __GNUC__,
                __GNUC_MINOR__);
}

struct Profile {
  config::Settings settings;
  std::string path;  // what -t names
  bool built_in = false;
};

std::optional<Profile> load_profile(const CommandLine& line, const std::string& home,
                                    Diagnostics& diagnostics) {
  Profile profile;
  std::optional<config::Settings> settings;
  if (line.config == "-") {
    profile.path = "<stdin>";
    std::string text;
    char buffer[65536];
    size_t n;
    while ((n = std::fread(buffer, 1, sizeof buffer, stdin)) > 0) text.append(buffer, n);
    settings = config::load_text(profile.path, text, {}, diagnostics);
  } else {
    profile.path = line.config.empty() ? home + "/config.yaml" : line.config;
    if (line.config.empty() && !is_there(profile.path)) {
      profile.path = "<built-in>";
      profile.built_in = true;
      settings = config::load_text(profile.path, config::default_profile(), {}, diagnostics);
    } else {
      settings = config::load_file(profile.path, {}, diagnostics);
    }
  }
  if (!settings) return std::nullopt;
  profile.settings = *std::move(settings);
  if (line.secret) profile.settings.secret = *line.secret;
  if (line.controller) {
    profile.settings.external_controller =
        config::parse_controller(*line.controller, "-ext-ctl", diagnostics);
    if (!profile.settings.external_controller) return std::nullopt;
  }
  return profile;
}

}  // namespace

int run_program(int argc, char** argv) {
  // Few arenas: a worker allocates seldom, and each arena keeps memory of its own.
  mallopt(M_ARENA_MAX, 2);
  std::string message;
  const Result<CommandLine> line =
      parse_command_line(std::vector<std::string>(argv + 1, argv + argc), message);
  if (!line.ok()) {
    std::fprintf(stderr, "culvert: %s\n%s", message.c_str(), kUsage);
    return 2;
  }
  if (line->help) {
    std::fputs(kUsage, stdout);
    return 0;
  }
  if (line->version) {
    std::printf("%s\n", version_text().c_str());
    return 0;
  }
  const std::string home = home_directory(*line);
  Diagnostics diagnostics;
  std::optional<Profile> profile = load_profile(*line, home, diagnostics);
  std::string path = profile                 ? profile->path
                     : !line->config.empty() ? line->config
                                             : home + "/config.yaml";
  if (profile && line->test) {
    // Rules and nodes too: everything that a start would refuse.
    const flow::Registry registry = make_registry();
    dns::SystemResolver resolver({});
    const engine::Surroundings surroundings(registry, resolver);
    if (engine::Generation::build(std::make_shared<config::Settings>(profile->settings),
                                  surroundings, nullptr, diagnostics) == nullptr) {
      profile.reset();
    }
  }
  std::fputs(diagnostics.to_string().c_str(), stderr);
  if (line->test) {
    std::printf(profile ? "configuration file %s test is successful\n"
                        : "configuration file %s test failed\n",
                path.c_str());
    return profile ? 0 : 1;
  }
  if (!profile) return 1;
  if (profile->built_in && profile->settings.secret.empty()) {
    uint8_t raw[12];
    SystemRng().fill(raw);
    profile->settings.secret = hex(raw);
  }
  ServiceOptions service;
  service.welcome = profile->built_in;
  const std::string secret = profile->settings.secret;
  service.settings = std::make_shared<config::Settings>(std::move(profile->settings));
  service.home = home;
  service.load = [line = *line, home](const engine::ProfileSource& source,
                                      Diagnostics& out) -> std::shared_ptr<const config::Settings> {
    CommandLine from = line;
    if (!source.path.empty()) from.config = source.path;
    std::optional<Profile> again;
    if (source.is_text) {
      auto settings = config::load_text("<payload>", source.text, {}, out);
      if (settings) again = Profile{*std::move(settings), "<payload>", false};
    } else {
      again = load_profile(from, home, out);
    }
    if (!again) return nullptr;
    return std::make_shared<config::Settings>(std::move(again->settings));
  };
  const int status = serve(service);
  if (status != kRestart) return status;
  // With the same arguments and environment; nothing that was opened is left to it.
  execv("/proc/self/exe", argv);
  std::fprintf(stderr, "culvert: cannot start again: %s\n", std::strerror(errno));
  return 1;
}

}  // namespace culvert::app
