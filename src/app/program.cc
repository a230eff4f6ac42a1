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

// How long flows may go on after SIGTERM.
constexpr Duration kDrainGrace = std::chrono::seconds(5);

// ---------------------------------------------------------------- signals

// Set by the handler, looked at by the control loop.
std::atomic<int> g_signal{0};
rt::Backend* g_control_backend = nullptr;

void on_signal(int number) {
  const int saved = errno;
  // Asked a second time: at once.
  if (number != SIGHUP && g_signal.exchange(number) != 0) _exit(1);
  if (number == SIGHUP) g_signal.store(SIGHUP);
  if (g_control_backend != nullptr) g_control_backend->wake();
  errno = saved;
}

void install_signals() {
  struct sigaction action {};
  action.sa_handler = on_signal;
  sigemptyset(&action.sa_mask);
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) sigaction(number, &action, nullptr);
  signal(SIGPIPE, SIG_IGN);
}

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
    settings = config::load_text(profile.path, text, diagnostics);
  } else {
    profile.path = line.config.empty() ? home + "/config.yaml" : line.config;
    if (line.config.empty() && !is_there(profile.path)) {
      profile.path = "<built-in>";
      profile.built_in = true;
      settings = config::load_text(profile.path, config::default_profile(), diagnostics);
    } else {
      settings = config::load_file(profile.path, diagnostics);
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

// ---------------------------------------------------------------- running

// What a newcomer needs next; standard output, because it is not a log.
void print_welcome(const Profile& profile, const std::vector<Endpoint>& at) {
  const std::string proxy = at.empty() ? "" : at.front().to_string();
  std::string controller = "(no controller)";
  if (profile.settings.external_controller) {
    controller = format("http://{}/ with the secret {}",
                        profile.settings.external_controller->to_string(), profile.settings.secret);
  }
  std::printf("Proxy:      curl -x http://%s https://example.com/   (or socks5h://, socks4a://)\n",
              proxy.c_str());
  std::printf("Controller: %s\n", controller.c_str());
  std::printf("Your own:   culvert -f profile.yaml\n");
  std::fflush(stdout);
}

int serve(const Profile& profile) {
  const config::Settings& settings = profile.settings;
  rt::Background background;
  LogWriter log_writer(background, STDOUT_FILENO);
  log::set_level(settings.log_level);
  log::set_default_sink(&log_writer);
  struct RestoreLog {
    LogWriter& writer;
    rt::Background& background;
    ~RestoreLog() {
      log::set_default_sink(nullptr);
      background.stop();
      writer.flush();
    }
  } restore_log{log_writer, background};

  const size_t descriptors = rt::raise_descriptor_limit();
  rt::ByteBudget budget(settings.buffer_budget != 0 ? settings.buffer_budget
                                                    : rt::ByteBudget::default_limit());
  rt::Worker control({0, rt::make_epoll_backend(), std::make_unique<SystemRng>(), &budget});
  const unsigned count = settings.workers != 0 ? settings.workers : rt::usable_cpus();
  std::vector<std::unique_ptr<rt::Worker>> workers;
  for (unsigned i = 0; i < count; ++i) {
    workers.push_back(std::make_unique<rt::Worker>(
        rt::Worker::Options{i, rt::make_epoll_backend(), std::make_unique<SystemRng>(), &budget}));
  }
  const flow::Registry registry = make_registry();
  dns::SystemResolver resolver(dns::SystemResolver::Options::from_environment(settings.ipv6));
  Diagnostics diagnostics;
  std::unique_ptr<engine::Generation> generation =
      engine::Generation::build(settings, registry, resolver, diagnostics);
  engine::Engine engine(control, std::move(workers), resolver, true);
  const bool started =
      generation != nullptr && engine.start(std::move(generation), diagnostics).ok();
  if (!started) {
    std::fputs(diagnostics.to_string().c_str(), stderr);
    return 1;
  }

  rt::Worker::Enter enter(control);
  api::Controller controller(
      engine, {settings.external_controller, settings.secret, settings.cors_allow_origins,
               settings.cors_allow_private_network, settings.handshake_timeout});
  if (const Status opened = controller.start(); !opened.ok()) {
    const int e = opened.error().os_errno;
    CULVERT_LOG(kError, "External controller listen error: {}",
                e != 0 ? std::string_view(std::strerror(e)) : describe(opened.code()));
  }
  g_control_backend = &control.backend();
  install_signals();
  const std::vector<Endpoint> at = engine.listening_at();
  for (size_t i = 0; i < at.size(); ++i) {
    CULVERT_LOG(kInfo, "{} listening at: {}", engine.generation().listeners[i].name,
                at[i].to_string());
  }
  CULVERT_LOG(kInfo, "{} workers, {} descriptors, {} KiB of buffers", count, descriptors,
              budget.limit() >> 10);
  if (profile.built_in) print_welcome(profile, at);

  bool draining = false, drained = false;
  struct Drain {
    static rt::Task<void> run(engine::Engine& e, bool* done) {
      co_await e.drain(kDrainGrace);
      *done = true;
    }
  };
  while (!drained) {
    control.turn(kNever);
    const int number = g_signal.load();
    if (number == SIGHUP) {
      g_signal.store(0);
      CULVERT_LOG(kWarning,
                  "SIGHUP: this version cannot reload; restart it to apply a changed profile");
    } else if (number != 0 && !draining) {
      draining = true;
      CULVERT_LOG(kInfo, "stopping: no new connections, open ones have up to {} s",
                  std::chrono::duration_cast<std::chrono::seconds>(kDrainGrace).count());
      controller.stop_accepting();
      control.scope().spawn("drain", Drain::run(engine, &drained));
    }
  }
  controller.stop();
  engine.stop();
  control.scope().cancel();
  while (control.scope().running() != 0) control.turn(TimePoint::min());
  g_control_backend = nullptr;
  return 0;
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
    if (engine::Generation::build(profile->settings, registry, resolver, diagnostics) == nullptr) {
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
  return serve(*profile);
}

}  // namespace culvert::app
