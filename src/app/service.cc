#include "app/service.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <optional>
#include <vector>

#include "api/controller.h"
#include "app/log_writer.h"
#include "app/registry.h"
#include "base/format.h"
#include "base/log.h"
#include "dns/system_resolver.h"
#include "engine/choices.h"
#include "engine/engine.h"
#include "engine/reloader.h"
#include "rt/background.h"
#include "rt/cpus.h"
#include "rt/epoll_backend.h"
#include "rt/worker.h"
#include "store/store.h"

namespace culvert::app {
namespace {

// How long flows may go on after SIGTERM.
constexpr Duration kDrainGrace = std::chrono::seconds(5);

// ---------------------------------------------------------------- signals

// Set by the handler, looked at by the control loop.
std::atomic<int> g_stop{0};
std::atomic<bool> g_reload{false};
rt::Backend* g_control_backend = nullptr;

void on_signal(int number) {
  const int saved = errno;
  if (number == SIGHUP) {
    g_reload.store(true);
  } else if (g_stop.exchange(number) != 0) {
    _exit(1);  // asked a second time: at once
  }
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

// What a newcomer needs next; standard output, because it is not a log.
void print_welcome(const config::Settings& settings, const std::vector<Endpoint>& at) {
  const std::string proxy = at.empty() ? "" : at.front().to_string();
  std::string controller = "(no controller)";
  if (settings.external_controller) {
    controller = format("http://{}/ with the secret {}", settings.external_controller->to_string(),
                        settings.secret);
  }
  std::printf("Proxy:      curl -x http://%s https://example.com/   (or socks5h://, socks4a://)\n",
              proxy.c_str());
  std::printf("Controller: %s\n", controller.c_str());
  std::printf("Your own:   culvert -f profile.yaml\n");
  std::fflush(stdout);
}

// Those that are not among `before`.
void log_listeners(const engine::Engine& engine, const std::vector<Endpoint>& before) {
  const std::vector<Endpoint>& at = engine.listening_at();
  for (size_t i = 0; i < at.size(); ++i) {
    if (std::ranges::find(before, at[i]) != before.end()) continue;
    CULVERT_LOG(kInfo, "{} listening at: {}", engine.generation().listeners[i].name,
                at[i].to_string());
  }
}

void log_diagnostics(const Diagnostics& diagnostics) {
  for (const Diagnostic& d : diagnostics.entries()) {
    const log::Level level =
        d.severity == Severity::kError ? log::Level::kError : log::Level::kWarning;
    if (log::enabled(level)) log::write(level, "{}", d.to_string());
  }
}

// The log's way out for as long as this lives.
class Logging {
 public:
  Logging(rt::Background& background, log::Level level)
      : background_(background), writer_(background, STDOUT_FILENO) {
    log::set_level(level);
    log::set_default_sink(&writer_);
  }
  Logging(const Logging&) = delete;
  Logging& operator=(const Logging&) = delete;
  ~Logging() {
    log::set_default_sink(nullptr);
    background_.stop();
    writer_.flush();
  }

 private:
  rt::Background& background_;
  LogWriter writer_;
};

api::Controller::Options controller_options(const config::Settings& s) {
  return {s.external_controller, s.external_controller_unix,   s.external_ui,      s.secret,
          s.cors_allow_origins,  s.cors_allow_private_network, s.handshake_timeout};
}

// Has the background thread end its work while everything that it works on is still there.
class BackgroundEnd {
 public:
  explicit BackgroundEnd(rt::Background& background) : background_(background) {}
  BackgroundEnd(const BackgroundEnd&) = delete;
  BackgroundEnd& operator=(const BackgroundEnd&) = delete;
  ~BackgroundEnd() { background_.stop(); }

 private:
  rt::Background& background_;
};

rt::Task<void> drain(engine::Engine& engine, bool* done) {
  co_await engine.drain(kDrainGrace);
  *done = true;
}

// Loads the profile again, and says how that went.
rt::Task<void> reload(engine::Reloader& reloader, const ServiceOptions& options) {
  engine::Reloader::Load load = [&options](const auto&, Diagnostics& out) {
    return options.load({}, out);
  };
  auto changing = reloader.change(std::move(load));
  const auto outcome = co_await std::move(changing);
  log_diagnostics(outcome->diagnostics);
  if (outcome->status.ok()) {
    CULVERT_LOG(kInfo, "profile reloaded");
  } else if (outcome->status.code() != Errc::kCancelled) {
    CULVERT_LOG(kError, "profile not reloaded: the one before stays in force");
  }
}

}  // namespace

int serve(const ServiceOptions& options) {
  const config::Settings& settings = *options.settings;
  // A signal that comes while it starts is kept for the loop.
  install_signals();
  rt::Background background;
  const Logging logging(background, settings.log_level);
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
  store::Store store(options.home + "/culvert.db");
  engine::Surroundings surroundings(registry, resolver);
  Diagnostics diagnostics;
  engine::Engine::GenerationPtr generation =
      engine::Generation::build(options.settings, surroundings, nullptr, diagnostics);
  std::vector<store::Store::Selection> remembered;
  if (settings.store_selected) {
    auto read = store.selections();
    if (read.ok()) remembered = *std::move(read);
    if (!store.trouble().empty()) {
      CULVERT_LOG(kWarning, "remembered selections: {}", store.trouble());
    }
  }
  engine::Engine engine(control, std::move(workers), surroundings, true);
  const bool started =
      generation != nullptr && engine.start(std::move(generation), remembered, diagnostics).ok();
  if (!started) {
    std::fputs(diagnostics.to_string().c_str(), stderr);
    return 1;
  }

  rt::Worker::Enter enter(control);
  const BackgroundEnd background_end(background);
  engine::Choices choices(control, background, store);
  choices.set_on(settings.store_selected);
  std::optional<api::Controller> controller;
  std::vector<Endpoint> logged;  // listeners that the log has told of
  engine::Reloader reloader(engine, background, [&](const config::Settings& before) {
    const config::Settings& now = *engine.generation().settings;
    log::set_level(now.log_level);
    resolver.set_ipv6(now.ipv6);
    choices.set_on(now.store_selected);
    controller->change(controller_options(now));
    log_listeners(engine, logged);
    logged = engine.listening_at();
    if (now.workers != before.workers || now.buffer_budget != before.buffer_budget) {
      CULVERT_LOG(kWarning, "culvert: workers and buffer-budget change with the next start");
    }
  });
  bool restart = false;
  controller.emplace(
      api::Controller::Parts{&engine, &reloader, &choices, &background, &store, options.load,
                             [&] { restart = true; }, [&] { resolver.flush(); }},
      controller_options(settings));
  const Status opened = controller->start();
  (void)opened;  // it has said so; the proxy works without
  g_control_backend = &control.backend();
  log_listeners(engine, {});
  logged = engine.listening_at();
  CULVERT_LOG(kInfo, "{} workers, {} descriptors, {} KiB of buffers", count, descriptors,
              budget.limit() >> 10);
  if (options.welcome) print_welcome(settings, engine.listening_at());
  options.on_started();

  bool draining = false, drained = false;
  while (!drained) {
    if (g_reload.exchange(false) && !draining) {
      control.scope().spawn("reload", reload(reloader, options));
    }
    if ((g_stop.load() != 0 || restart) && !draining) {
      draining = true;
      CULVERT_LOG(kInfo, "stopping: no new connections, open ones have up to {} s",
                  std::chrono::duration_cast<std::chrono::seconds>(kDrainGrace).count());
      controller->stop_accepting();
      control.scope().spawn("drain", drain(engine, &drained));
    }
    if (!drained) control.turn(kNever);
  }
  controller->stop();
  engine.stop();
  control.scope().cancel();
  while (control.scope().running() != 0) control.turn(TimePoint::min());
  g_control_backend = nullptr;
  // A signal that came in the meantime ends the program for good.
  return restart && g_stop.load() == 0 ? kRestart : 0;
}

}  // namespace culvert::app
