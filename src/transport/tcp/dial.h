// Dials a list of addresses over TCP: the first at once, each further one when the one before
// failed or kept quiet for 250 ms; the first that opens wins and the rest are cancelled. The order
// is the caller's, interleaved by family beginning with the first one's (Happy Eyeballs, RFC 8305
// sections 4 and 5).
#pragma once

#include <span>

#include "base/ip.h"
#include "flow/resolver.h"
#include "flow/stream.h"
#include "rt/backend.h"

namespace culvert::transport {

inline constexpr Duration kAttemptDelay = std::chrono::milliseconds(250);

// Opens a stream to `to`.
flow::Task<Result<flow::StreamPtr>> dial_one(Endpoint to, rt::ConnectOptions options,
                                             TimePoint deadline);

// Opens a stream to `port` at one of `addresses` (not empty). The error is the last attempt's, with
// side kUpstream.
flow::Task<Result<flow::StreamPtr>> dial_any(flow::AddressList addresses, uint16_t port,
                                             rt::ConnectOptions options, Duration attempt_delay,
                                             TimePoint deadline);

// RFC 8305 section 4: families alternate, the first one's first; order within a family is kept.
flow::AddressList interleave(const flow::AddressList& addresses);

}  // namespace culvert::transport
