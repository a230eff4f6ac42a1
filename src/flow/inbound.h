// Inbound: how flows come in. An inbound turns an accepted stream into flows: it speaks its
// protocol with the client and asks the engine, through FlowSink, for the other side.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "flow/authenticator.h"
#include "flow/meta.h"
#include "flow/stream.h"
#include "flow/tracker.h"

namespace culvert::flow {

// The far side of an open flow: the stream to the destination and the flow's account.
struct Upstream {
  StreamPtr stream;
  TrackerPtr tracker;
};

// What is known of a connection when it is accepted.
struct AcceptInfo {
  Endpoint source;
  uint16_t inbound_port = 0;
  uint32_t inbound = 0;  // which listener: FlowMeta::inbound
  TimePoint deadline;    // for the whole handshake, measured from accept, not renewed by bytes
};

// What the engine offers an inbound.
class FlowSink {
 public:
  virtual ~FlowSink() = default;
  // The users of the connection's listener, as the profile has them now: valid until the next wait.
  virtual const Authenticator& authenticator(const AcceptInfo& info) = 0;
  // Routes and dials the flow described by `meta` (source, destination, inbound fields and user
  // filled in), within the engine's dial timeout. Logs the outcome itself: the inbound only tells
  // the client. kRejected when a rule or the safety policy says so; with `retry` set the client was
  // already kept waiting in silence (REJECT-DROP) and is closed without an answer. `meta`, and the
  // host it points to, outlive the task.
  virtual Task<Result<Upstream>> open(FlowMeta& meta) = 0;
  // Joins the two streams until both directions end; returns at once. Bytes the client has already
  // sent are still unread in `client` and go first.
  virtual void relay(StreamPtr client, Upstream upstream) = 0;
};

class Inbound {
 public:
  virtual ~Inbound() = default;
  // Serves one connection; returns when it was handed to relay() or is over. Runs on the
  // connection's worker, in its scope. `sink` outlives the task.
  virtual Task<void> serve(StreamPtr stream, AcceptInfo info, FlowSink& sink) = 0;
};

}  // namespace culvert::flow
