// Stream: an ordered, reliable, full-duplex byte stream. The one contract that sockets of every
// backend, TLS, camouflage layers, proxy protocols and the in-memory twins share (flow/stream.h
// gives it its name in the contracts layer).
//
// Threads: a stream belongs to the worker that made it; every call comes from that worker's thread.
// Nothing blocks: an operation that cannot proceed returns kWouldBlock, and the caller arms a
// Waiter.
//
// Reading is borrowed. lend() shows unread bytes, receiving some first when there are none; they
// stay the stream's, may be changed in place by the borrower (decryption), and are valid until the
// next call of lend() or consume(). An idle stream holds no buffer.
//
// Writing is vectored. write() takes a prefix of the bytes and says how long it is. After
// kWouldBlock or a short write, the bytes not taken keep their place in memory and are offered
// again, first, once wait_writable() fires: a completion-based backend may already be sending them.
//
// Ending. Each direction ends on its own: shutdown_write() ends ours in order (FIN, close_notify),
// and lend() returns kEndOfStream when the peer ended its own. A broken end (reset, TLS truncated
// without close_notify) is kReset. close() ends both directions in order: bytes already taken still
// go out. abort() resets, so that the peer sees a broken stream. Destroying an open stream closes
// it.
#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <span>

#include "base/bytes.h"
#include "base/ip.h"
#include "base/result.h"
#include "rt/waiter.h"

namespace culvert::rt {

class Pipe;

class Stream {
 public:
  Stream() = default;
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  virtual ~Stream() = default;

  // kWouldBlock while the connection (and any handshake) is under way, ok when open, otherwise why
  // it failed. wait_writable() fires when this changes.
  [[nodiscard]] virtual Status opened() = 0;

  // Unread bytes (never empty), or kWouldBlock, kEndOfStream, or the error that broke the stream.
  [[nodiscard]] virtual Result<MutableBytes> lend() = 0;
  // Gives back the first `n` bytes of what lend() showed; n is at most that many.
  virtual void consume(size_t n) = 0;
  // How many bytes lend() would show without touching the transport.
  [[nodiscard]] virtual size_t unread() const = 0;

  // Takes between 1 and all of the bytes (0 only when `data` is empty), or kWouldBlock, or an
  // error.
  [[nodiscard]] virtual Result<size_t> write(std::span<const iovec> data) = 0;
  [[nodiscard]] Result<size_t> write(Bytes data) {
    const iovec one{const_cast<uint8_t*>(data.data()), data.size()};
    return write(std::span<const iovec>(&one, 1));
  }
  // Ends our direction after what was taken. Idempotent.
  virtual Status shutdown_write() = 0;
  virtual void close() = 0;
  virtual void abort() = 0;

  // Arms a waiter for the next time lend() or write() may make progress or fail; nullptr disarms.
  // One slot each; arming replaces. A waiter may fire without cause: try again and arm again.
  virtual void wait_readable(Waiter* waiter) = 0;
  virtual void wait_writable(Waiter* waiter) = 0;

  [[nodiscard]] virtual Endpoint local() const = 0;
  [[nodiscard]] virtual Endpoint remote() const = 0;

  // Streams that are nothing but a kernel socket can pass bytes on through a pipe, unseen. Between
  // two of them a relay may, whenever unread() is 0, call these instead of lend() and write(); the
  // waiters serve both. `pipe` is empty for splice_in(), and holds bytes for splice_out().
  [[nodiscard]] virtual bool can_splice() const { return false; }
  // Bytes moved (never 0), or as lend().
  [[nodiscard]] virtual Result<size_t> splice_in(Pipe& /*pipe*/) { return Errc::kUnsupported; }
  // Bytes moved (never 0), or as write().
  [[nodiscard]] virtual Result<size_t> splice_out(Pipe& /*pipe*/) { return Errc::kUnsupported; }
};

}  // namespace culvert::rt
