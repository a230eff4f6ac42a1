// Push: the way out for a client that asked for a stream of JSON texts, as WebSocket text frames or
// as lines of a chunked response.
#pragma once

#include <string>
#include <string_view>

#include "base/clock.h"
#include "flow/stream.h"
#include "wire/http1.h"
#include "wire/websocket.h"

namespace culvert::api {

// Writes `head`, `body` and `tail`, without copying them together first; all stay valid until the
// task ends.
flow::Task<Status> write_around(flow::Stream& stream, std::string_view head, std::string_view body,
                                std::string_view tail, TimePoint deadline);

class Push {
 public:
  // Over WebSocket when `key` is not empty (the client's Sec-WebSocket-Key).
  Push(flow::Stream& stream, std::string_view key, bool chunked)
      : stream_(stream), key_(key), chunked_(chunked) {}

  // Sends the response head; `fields` are further header fields.
  flow::Task<Status> begin(std::string_view fields);
  // Sends one text. Fails when the client does not take it in time, or is gone.
  flow::Task<Status> send(std::string_view json);
  // Sends a text in parts, as they are made: fragments of one message, or chunks of one line.
  // Pings wait meanwhile.
  flow::Task<Status> send_part(std::string_view json, bool first, bool last, TimePoint deadline);
  // Waits until `when`, answering pings meanwhile. An error, kEndOfStream included, ends the
  // stream; so does a `wake` that is raised: then ok at once.
  flow::Task<Status> wait(TimePoint when, rt::Signal* wake);
  // Says goodbye in the protocol's own way, unless the client did not take what was sent before.
  flow::Task<void> end();

  // Runs beside the others until the client ends; spawned by the owner, ended by its scope.
  flow::Task<void> listen();

 private:
  flow::Task<Status> send_frame(wire::WsOpcode opcode, bool fin, std::string_view payload,
                                TimePoint deadline);
  [[nodiscard]] bool websocket() const { return !key_.empty(); }
  flow::Stream& stream_;
  const std::string key_;
  const bool chunked_;
  wire::WsReader reader_;
  rt::Signal* waiting_ = nullptr;  // raised when the client said something
  std::string pong_;
  bool pong_due_ = false;
  bool over_ = false;
  bool broken_ = false;  // something was sent in part, or not at all
  uint16_t close_code_ = wire::kWsNormal;
};

}  // namespace culvert::api
