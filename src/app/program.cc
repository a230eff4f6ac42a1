#include "app/program.h"

#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/command_line.h"
#include "app/explain_command.h"
#include "app/hooks.h"
#include "app/profile_loader.h"
#include "app/registry.h"
#include "app/service.h"
#include "base/format.h"
#include "base/rng.h"
#include "config/key_list.h"
#include "config/settings.h"
#include "dns/system_resolver.h"
#include "engine/engine.h"

namespace culvert::app {
namespace {

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

// What makes a profile's nodes and rules; everything that a start would refuse.
bool can_be_served(const config::Settings& settings, const flow::Registry& registry,
                   Diagnostics& diagnostics) {
  dns::SystemResolver resolver({});
  const engine::Surroundings surroundings(registry, resolver);
  return engine::Generation::build(std::make_shared<config::Settings>(settings), surroundings,
                                   nullptr, diagnostics) != nullptr;
}

// -t. What is not supported is listed: those nodes and groups would reject their flows.
int test_profile(ProfileLoader& loader, const flow::Registry& registry) {
  Diagnostics diagnostics;
  const std::optional<Profile> profile = loader.load(diagnostics);
  const bool good = profile && can_be_served(profile->settings, registry, diagnostics);
  std::fputs(diagnostics.to_string().c_str(), stderr);
  if (good) std::fputs(config::unsupported_report(profile->settings).c_str(), stdout);
  std::printf(
      good ? "configuration file %s test is successful\n" : "configuration file %s test failed\n",
      (profile ? profile->path : loader.path()).c_str());
  return good ? 0 : 1;
}

// One line for all: a profile of thousands of nodes may have hundreds that are not supported.
void tell_unsupported(const config::Settings& settings) {
  const auto is_unsupported = [](const auto& it) { return !it.unsupported.empty(); };
  const auto nodes = std::ranges::count_if(settings.proxies, is_unsupported);
  const auto groups = std::ranges::count_if(settings.groups, is_unsupported);
  if (nodes + groups == 0) return;
  std::fprintf(stderr,
               "%s: warning: not supported, and rejecting their flows: %td of the nodes, %td of "
               "the groups; culvert -t lists them\n",
               settings.source_name.c_str(), nodes, groups);
}

}  // namespace

int run_program(int argc, char** argv) {
  // Few arenas: a worker allocates seldom, and each arena keeps memory of its own.
  mallopt(M_ARENA_MAX, 2);
  std::string message;
  const Environment environment = process_environment;
  const Result<CommandLine> line =
      parse_command_line(std::vector<std::string>(argv + 1, argv + argc), environment, message);
  if (!line.ok()) {
    const bool is_unsupported = line.error().code == Errc::kUnsupported;
    std::fprintf(stderr, "culvert: %s\n%s", message.c_str(), is_unsupported ? "" : kUsage);
    return is_unsupported ? 1 : 2;
  }
  if (line->help) {
    std::fputs(kUsage, stdout);
    return 0;
  }
  if (line->version) {
    std::printf("%s\n", version_text().c_str());
    return 0;
  }
  if (line->subcommand == Subcommand::kKeys) {
    std::fputs(config::keys_markdown().c_str(), stdout);
    return 0;
  }
  for (const std::string& note : line->notes) std::fprintf(stderr, "culvert: %s\n", note.c_str());
  const flow::Registry registry = make_registry();
  ProfileLoader loader(*line, environment, registry);
  if (line->test) return test_profile(loader, registry);
  if (line->subcommand == Subcommand::kExplain) {
    return explain_command(line->explain, loader, registry);
  }
  Diagnostics diagnostics;
  std::optional<Profile> profile = loader.load(diagnostics);
  std::fputs(diagnostics.to_string().c_str(), stderr);
  if (!profile) return 1;
  tell_unsupported(profile->settings);
  if (profile->built_in && profile->settings.secret.empty()) {
    uint8_t raw[12];
    SystemRng().fill(raw);
    profile->settings.secret = hex(raw);
  }
  ServiceOptions service;
  service.welcome = profile->built_in;
  service.settings = std::make_shared<config::Settings>(std::move(profile->settings));
  service.home = loader.home();
  service.load = [&loader, was_built_in = profile->built_in,
                  secret = profile->built_in ? service.settings->secret : std::string()](
                     const engine::ProfileSource& source,
                     Diagnostics& out) -> std::shared_ptr<const config::Settings> {
    std::optional<Profile> again = source.is_text        ? loader.load_text(source.text, out)
                                   : source.path.empty() ? loader.load(out)
                                                         : loader.load_named(source.path, out);
    if (!again) return nullptr;
    if (again->built_in && !was_built_in) {
      out.add({Severity::kError, loader.path(), 0, 0, {}, "it is gone", {}});
      return nullptr;
    }
    if (again->built_in && again->settings.secret.empty()) again->settings.secret = secret;
    return std::make_shared<config::Settings>(std::move(again->settings));
  };
  bool started = false;
  service.on_started = [&] {
    started = true;
    start_hook("post-up", line->post_up);
  };
  const int status = serve(service);
  if (started) run_hook("post-down", line->post_down);
  if (status != kRestart) return status;
  // With the same arguments and environment; nothing that was opened is left to it.
  execv("/proc/self/exe", argv);
  std::fprintf(stderr, "culvert: cannot start again: %s\n", std::strerror(errno));
  return 1;
}

}  // namespace culvert::app
