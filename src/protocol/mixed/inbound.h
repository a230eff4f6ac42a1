// The mixed inbound: SOCKS and HTTP on one port. The first byte tells: 4 or 5 is SOCKS, anything
// else HTTP. The stream goes on, with that byte unread, to the inbound of that name in the
// Registry.
#pragma once

#include <memory>

#include "flow/registry.h"

namespace culvert::protocol::mixed {

std::unique_ptr<flow::Inbound> make_inbound(const flow::Options* options,
                                            const flow::BuildContext& context);

void register_protocol(flow::Registry& registry);

}  // namespace culvert::protocol::mixed
