// The way to a node's server, which every outbound that has one begins with.
#pragma once

#include "flow/dialer.h"
#include "flow/server_address.h"

namespace culvert::flow {

// A stream to `server` through `dialer`, for `flow`. kUnreachable when the address has a zone that
// is no interface now. `server` and `flow` outlive the task.
Task<Result<StreamPtr>> dial_server(Dialer& dialer, const ServerAddress& server,
                                    const FlowMeta& flow, TimePoint deadline);

}  // namespace culvert::flow
