#include "flow/server_outbound.h"

#include <utility>

namespace culvert::flow {

Task<Result<StreamPtr>> ServerOutbound::dial(const FlowMeta& meta, TimePoint deadline) {
  const std::optional<uint32_t> scope = server_.scope_id();
  if (!scope) co_return Error(Errc::kUnreachable, Side::kUpstream, true);
  FlowMeta to_server = meta;
  to_server.destination = Endpoint(server_.ip, server_.port, *scope);
  to_server.resolved = {};
  // By the profile: it may be an address that the client could not reach by itself.
  to_server.address_named = true;
  to_server.host = nullptr;
  to_server.host_length = 0;
  if (!server_.ip.valid()) to_server.set_host(server_.host);
  Result<StreamPtr> stream = co_await dialer_.dial(to_server, deadline);
  if (!stream.ok()) co_return stream.error();
  const Status ready = co_await handshake(**stream, meta, deadline);
  if (!ready.ok()) co_return ready.error();
  co_return std::move(*stream);
}

Task<Result<std::unique_ptr<PacketChannel>>> ServerOutbound::open_packets(const FlowMeta&,
                                                                          TimePoint) {
  co_return Errc::kUnsupported;
}

}  // namespace culvert::flow
