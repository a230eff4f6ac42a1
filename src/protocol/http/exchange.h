// One absolute-form request and its response, moved between a client and an origin.
#pragma once

#include <string>
#include <string_view>

#include "flow/inbound.h"
#include "flow/stream.h"
#include "transport/http1/head_reader.h"
#include "wire/http1.h"

namespace culvert::protocol::http {

// A silence longer than this within a message ends the exchange.
inline constexpr Duration kBodyIdle = std::chrono::minutes(10);

// The request head as the origin gets it: origin-form, Host from the target, hop-by-hop fields out.
std::string rewrite_request(const wire::HttpHead& head, const wire::AbsoluteTarget& target);
// The response head as the client gets it; `close` adds Connection: close. When either side speaks
// HTTP/1.0 (the client HTTP/1.client_minor), staying is said too.
std::string rewrite_response(const wire::HttpHead& head, bool close, uint8_t client_minor);
// Whether the request asks for another protocol on this connection (RFC 9110 section 7.8).
bool asks_upgrade(const wire::HttpHead& head);

// Moves one body from `from` to `to`, counting it for the flow.
class BodyMover {
 public:
  BodyMover(flow::Stream& from, flow::Stream& to, flow::FlowTracker& tracker, bool upload)
      : from_(from), to_(to), tracker_(tracker), upload_(upload) {}
  flow::Task<Status> move(wire::BodyFraming framing);

 private:
  flow::Task<Status> write(Bytes bytes);
  flow::Stream& from_;
  flow::Stream& to_;
  flow::FlowTracker& tracker_;
  bool upload_;
};

// How an exchange ended.
enum class Outcome : uint8_t {
  kReusable,    // both connections may carry another request
  kClientOnly,  // the client may ask again, the origin's connection is used up
  kFinished,    // both are used up
  kUpgraded,    // 101 was passed on: relay from here
  kNoAnswer,    // the origin gave no response: the client may be told so
  kBroken,      // a message was cut off: nothing more can be said
};

struct ExchangeRequest {
  std::string head;  // rewritten
  wire::BodyFraming body;
  bool is_head = false;  // HEAD
  bool keep_alive = true;
  bool upgrade = false;
  uint8_t minor = 1;
};

// Runs one exchange over open streams. The client's leaving cancels it, and so does interrupting
// the flow (FlowTracker::interrupt): it is then kBroken.
flow::Task<Outcome> run_exchange(flow::Stream& client, flow::Upstream& upstream,
                                 const ExchangeRequest& request);

}  // namespace culvert::protocol::http
