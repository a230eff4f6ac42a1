// The DIRECT outbound: connects to the destination itself.
//
// Names are resolved by the Resolver of the build context, unless routing already did; all
// addresses are tried as RFC 8305 has it.
#pragma once

#include <memory>
#include <string>

#include "flow/registry.h"

namespace culvert::protocol::direct {

std::unique_ptr<flow::Outbound> make_outbound(std::string_view node_name,
                                              const flow::Options* options,
                                              const flow::BuildContext& context);

void register_protocol(flow::Registry& registry);

}  // namespace culvert::protocol::direct
