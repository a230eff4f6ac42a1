// The SOCKS inbound: SOCKS4, 4a and 5, CONNECT. BIND, UDP ASSOCIATE and unknown commands are
// refused with the reply their version has for it. Users by RFC 1929; SOCKS4, which carries no
// password, is refused where users are required.
#pragma once

#include <memory>

#include "flow/registry.h"

namespace culvert::protocol::socks {

std::unique_ptr<flow::Inbound> make_inbound(const flow::Options* options,
                                            const flow::BuildContext& context);

void register_protocol(flow::Registry& registry);

}  // namespace culvert::protocol::socks
