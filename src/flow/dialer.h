// Dialer and Outbound: how a flow leaves. Outbounds, and chains of them, compose through Dialer.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "flow/meta.h"
#include "flow/packet_channel.h"
#include "flow/stream.h"

namespace culvert::flow {

// Opens paths to destinations. Called on any worker; what it opens belongs to that worker, and goes
// on when the dialer is gone: what it needs of it, it shares or has copied.
class Dialer {
 public:
  virtual ~Dialer() = default;
  // A stream to meta's destination, open and ready for payload, or why not (side kUpstream when the
  // far end is to blame). `meta` outlives the task.
  virtual Task<Result<StreamPtr>> dial(const FlowMeta& meta, TimePoint deadline) = 0;
  // A channel for meta's datagrams; kUnsupported when the protocol carries none.
  virtual Task<Result<std::unique_ptr<PacketChannel>>> open_packets(const FlowMeta& meta,
                                                                    TimePoint deadline) = 0;
};

// What a protocol can do, as data: nobody elsewhere asks for a type by name.
struct Capabilities {
  bool stream = true;
  bool udp = false;
  bool mux = false;
  bool early_data = false;
  bool needs_tls = false;
};

// Which addresses a flow may be connected to. An outbound that connects by itself (DIRECT) asks for
// every address it is about to try, since a name may resolve to anything: a client on another host
// does not reach this host's loopback or link-local addresses, and no flow reaches a listener of
// our own, unless a rule names the address.
class DestinationGuard {
 public:
  virtual ~DestinationGuard() = default;
  [[nodiscard]] virtual bool allows(const FlowMeta& meta, const Endpoint& to) const = 0;
};

class Outbound : public Dialer {
 public:
  [[nodiscard]] virtual std::string_view name() const = 0;
  // The API's type word: "Direct", "Reject", ...
  [[nodiscard]] virtual std::string_view type() const = 0;
  [[nodiscard]] virtual Capabilities capabilities() const = 0;
};

}  // namespace culvert::flow
