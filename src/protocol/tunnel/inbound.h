// The tunnel inbound (`tunnels`): every connection is a flow to one fixed destination. TCP only.
#pragma once

#include <memory>

#include "flow/registry.h"

namespace culvert::protocol::tunnel {

// `options` is a flow::TunnelTarget, made by the profile's reader.
std::unique_ptr<flow::Inbound> make_inbound(const flow::Options* options,
                                            const flow::BuildContext& context);
void register_protocol(flow::Registry& registry);

}  // namespace culvert::protocol::tunnel
