// REJECT refuses a flow at once; REJECT-DROP keeps the client waiting in silence first. Both are
// told from failures by the code kRejected; `retry` marks the silent one (flow/inbound.h).
#pragma once

#include <memory>
#include <string>

#include "flow/registry.h"

namespace culvert::protocol::reject {

void register_protocol(flow::Registry& registry);

}  // namespace culvert::protocol::reject
