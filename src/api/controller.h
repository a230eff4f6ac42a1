// Controller: the REST and WebSocket API that dashboards use, on the control worker.
//
//   GET /             {"hello":"mihomo"}
//   GET /version      {"meta":true,"version":...}
//   GET /connections  a snapshot; over WebSocket one every ?interval= milliseconds
//   GET /traffic      a line a second, chunked or over WebSocket
//   GET /memory       the same
//   GET /logs         ?level= (default info), ?format=structured; the same
//
// With a secret every request carries "Authorization: Bearer <secret>", WebSocket upgrades may
// carry ?token= instead. Without one, Host must be an address or localhost, state-changing requests
// carry no Origin or that of a known dashboard, other origins are allowed to read nothing, and the
// controller does not open beyond loopback.
//
// Bounds: kMaxClients connections; the first request head within Options::head_time of accept;
// bodies are not read but up to kMaxBody, which no route here uses; a client that does not take
// what it asked for within kWriteTime is closed. A snapshot is sent as it is made, and what there
// is of it at once is bounded by ConnectionsText: a client that stalls holds no more.
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

class Controller {
 public:
  static constexpr size_t kMaxClients = 256;
  static constexpr size_t kMaxBody = 1 << 20;
  static constexpr Duration kKeepAlive = std::chrono::seconds(60);
  static constexpr Duration kWriteTime = std::chrono::seconds(10);

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
  class Session;
  Status open();
  const Parts parts_;
  engine::Engine& engine_;
  Options options_;
  std::unique_ptr<Gate> gate_;
  rt::Scope scope_;
};

}  // namespace culvert::api
