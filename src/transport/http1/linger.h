// The orderly end of a connection whose peer may still be sending.
#pragma once

#include "flow/stream.h"

namespace culvert::transport {

// Ends our direction and takes what still arrives, for at most a second and 256 KiB, then closes
// (RFC 9112 section 9.6): closing over unread bytes resets the connection, and the reset can
// overtake the last answer. `stream` outlives the task.
flow::Task<void> linger_and_close(flow::Stream& stream);

}  // namespace culvert::transport
