// The HTTP proxy inbound: CONNECT tunnels, and absolute-form requests over kept-alive connections
// on both sides (RFC 9110, RFC 9112). Users by Basic authentication, judged request by request.
//
// A request goes to what its target says, whatever its Host field says, which is rewritten. Bodies
// pass as they are framed; hop-by-hop fields are taken out; nothing is added but Host. A client
// that leaves ends its exchange. An upgrade (101) turns the connection into a tunnel.
#pragma once

#include <memory>

#include "flow/registry.h"

namespace culvert::protocol::http {

std::unique_ptr<flow::Inbound> make_inbound(const flow::Options* options,
                                            const flow::BuildContext& context);

void register_protocol(flow::Registry& registry);

}  // namespace culvert::protocol::http
