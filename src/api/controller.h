// Controller: the REST and WebSocket API that dashboards use, on the control worker. What it
// answers is in routes_*.cc and docs/api.md.
//
// With a secret every request carries "Authorization: Bearer <secret>", WebSocket upgrades may
// carry ?token= instead. Without one, Host must be an address or localhost, state-changing requests
// carry no Origin or that of a known dashboard, other origins are allowed to read nothing, and the
// controller does not open beyond loopback. The files below /ui are anybody's; a unix socket asks
// for nothing, its file's mode keeps others out.
//
// Bounds: kMaxClients connections; the first request head within Options::head_time of accept; a
// body of kMaxBody within kBodyTime, and BodyRoom::kTotal of all clients' together; a client that
// does not take what it asked for, or a piece of it, within kWriteTime is closed. Long answers are
// sent as they are made, a TextSource's piece at a time: a client that stalls holds no more.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/choices.h"
#include "engine/engine.h"
#include "engine/reloader.h"
#include "rt/backend.h"
#include "store/store.h"

namespace culvert::api {

struct ControllerState;

class Controller {
 public:
  static constexpr size_t kMaxClients = 256;
  static constexpr size_t kMaxBody = 1 << 20;
  static constexpr Duration kKeepAlive = std::chrono::seconds(60);
  static constexpr Duration kWriteTime = std::chrono::seconds(10);
  static constexpr Duration kBodyTime = std::chrono::seconds(10);

  // What it asks and drives; all outlive it. `reloader` and what follows may be null where a test
  // has no use for them.
  struct Parts {
    engine::Engine* engine = nullptr;
    engine::Reloader* reloader = nullptr;
    engine::Choices* choices = nullptr;
    rt::Background* background = nullptr;
    store::Store* store = nullptr;  // the background thread's
    // Loads a profile, on the background thread.
    std::function<std::shared_ptr<const config::Settings>(const engine::ProfileSource&,
                                                          Diagnostics&)>
        load = {};
    // Ends the program in order, to be started again.
    std::function<void()> restart = {};
    // Forgets the names that were resolved.
    std::function<void()> flush_names = {};
  };
  struct Options {
    std::optional<Endpoint> listen;
    std::string unix_path;  // of a unix socket, which asks for no secret; empty = none
    std::string ui;         // a folder that is served below /ui; empty = none
    std::string secret;
    std::vector<std::string> allow_origins{"*"};
    bool allow_private_network = true;
    Duration head_time = std::chrono::seconds(10);
  };
  // Lives on the engine's control worker, and no longer than the engine.
  Controller(Parts parts, Options options);
  Controller(const Controller&) = delete;
  Controller& operator=(const Controller&) = delete;
  ~Controller();

  // Opens the listeners that are configured and may be opened; says in the log which could not be.
  Status start();
  // Goes by other options from now on: connections stay, listeners whose address changed are closed
  // and others opened.
  void change(Options options);
  // Where it listens; nothing when it does not.
  [[nodiscard]] std::optional<Endpoint> listening_at() const;
  void stop_accepting();
  // Ends every connection; the control worker's loop has to turn for them to be gone.
  void stop();

 private:
  class Gate;
  // Each says in the log what could not be opened.
  Status open();
  Status open_unix();
  const Parts parts_;
  engine::Engine& engine_;
  Options options_;
  rt::Scope listing_scope_;  // of what sessions share, beside them
  std::unique_ptr<ControllerState> state_;
  std::unique_ptr<Gate> gate_;
  std::unique_ptr<Gate> unix_gate_;
  rt::Scope scope_;
};

}  // namespace culvert::api
