// The load generator's modes; each prints one JSON object on a line and returns the exit status.
// Streams speak a protocol of three modes, picked by the client's first byte:
//   U  the client sends blocks of 1 MiB, the server answers each with one byte
//   D  each byte from the client asks for one block
//   E  the server sends back what comes
// so that a byte counts only when the far end has had it.
#pragma once

#include <cstddef>

#include "net.h"

namespace culvert::load {

constexpr size_t kBlock = size_t{1} << 20;

// TCP and UDP on one port, --listen IP:PORT; prints READY and runs until it is killed.
int serve(const Options& options);
// --dir up|down --conns N --window BLOCKS --secs S
int run_streams(const Options& options);
// Connect, --size bytes there and back, close: --workers N --secs S --max COUNT
int run_short(const Options& options);
// --n N --workers W --rounds R --size B --limit S: opens, then at each line on stdin: transfers,
// closes, ends.
int run_hold(const Options& options);
// --n N --blocks B: asks for blocks and reads none of them; ends at the end of stdin.
int run_stopped(const Options& options);
// --size B --window W --secs S, echoed datagrams
int run_datagrams(const Options& options);
// --names FILE (one a line) --window W --secs S, questions for A records
int run_dns(const Options& options);

}  // namespace culvert::load
