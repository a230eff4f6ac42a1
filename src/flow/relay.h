// Relay: joins two open streams until both directions have ended. One plain object for both
// directions, no coroutine, no buffer while idle: it borrows bytes from one stream and offers them
// to the other, in place. A direction that turns out to be bulk, between two plain sockets, goes on
// through a pipe of the kernel's instead, where its bytes are not copied at all.
//
// Endings are carried faithfully (case K26): an end of one direction is passed on and the other
// direction goes on; a reset on either side resets the other; a broken end is never turned into an
// orderly one. Once one direction has ended, the other may stay silent for at most
// Options::half_closed_idle, counted anew from every byte; then both are reset. A relay has no
// other timer: dead peers are found by TCP keep-alive.
//
// Owned by the Relays of its worker and part of the worker's load; deletes itself when it is over.
#pragma once

#include <cstdint>

#include "base/clock.h"
#include "base/intrusive_list.h"
#include "flow/inbound.h"
#include "rt/timer.h"

namespace culvert::flow {

class Relay;

// The relays of one worker.
class Relays {
 public:
  struct Options {
    Duration half_closed_idle = std::chrono::seconds(30);
  };
  Relays();
  explicit Relays(Options options);
  Relays(const Relays&) = delete;
  Relays& operator=(const Relays&) = delete;
  ~Relays();

  // Takes over both streams and the account, and starts.
  void start(StreamPtr client, Upstream upstream);
  // Resets what is still open.
  void abort_all();
  [[nodiscard]] size_t size() const { return count_; }

 private:
  friend class Relay;
  Options options_;
  IntrusiveList<Relay> list_;
  size_t count_ = 0;
};

}  // namespace culvert::flow
