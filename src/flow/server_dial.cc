#include "flow/server_dial.h"

namespace culvert::flow {

Task<Result<StreamPtr>> dial_server(Dialer& dialer, const ServerAddress& server,
                                    const FlowMeta& flow, TimePoint deadline) {
  const std::optional<uint32_t> scope = server.scope_id();
  if (!scope) co_return Error(Errc::kUnreachable, Side::kUpstream, true);
  FlowMeta meta = flow;
  meta.destination = Endpoint(server.ip, server.port, *scope);
  meta.resolved = {};
  // By the profile: it may be an address that the client could not reach by itself.
  meta.address_named = true;
  meta.host = nullptr;
  meta.host_length = 0;
  if (!server.ip.valid()) meta.set_host(server.host);
  co_return co_await dialer.dial(meta, deadline);
}

}  // namespace culvert::flow
