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

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "rt/backend.h"

namespace culvert::api {

class Controller {
 public:
  static constexpr size_t kMaxClients = 256;
  static constexpr size_t kMaxBody = 1 << 20;
  static constexpr Duration kKeepAlive = std::chrono::seconds(60);
  static constexpr Duration kWriteTime = std::chrono::seconds(10);

  struct Options {
    std::optional<Endpoint> listen;
    std::string secret;
    std::vector<std::string> allow_origins{"*"};
    bool allow_private_network = true;
    Duration head_time = std::chrono::seconds(10);
  };
  // Lives on the engine's control worker, and no longer than the engine.
  Controller(engine::Engine& engine, Options options);
  Controller(const Controller&) = delete;
  Controller& operator=(const Controller&) = delete;
  ~Controller();

  // Opens the listener, if one is configured and may be opened.
  Status start();
  // Where it listens; nothing when it does not.
  [[nodiscard]] std::optional<Endpoint> listening_at() const;
  void stop_accepting();
  // Ends every connection; the control worker's loop has to turn for them to be gone.
  void stop();

 private:
  class Gate;
  class Session;
  engine::Engine& engine_;
  const Options options_;
  std::unique_ptr<Gate> gate_;
  rt::Scope scope_;
};

}  // namespace culvert::api
