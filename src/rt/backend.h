// Backend: where a worker's readiness, sockets and time come from. Three of them share this
// interface and one conformance suite: epoll, io_uring, and the simulated network.
#pragma once

#include <sys/types.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>

#include "base/clock.h"
#include "base/ip.h"
#include "base/result.h"
#include "rt/datagram.h"
#include "rt/stream.h"

namespace culvert::rt {

// TCP keep-alive; dead peers are found by it, there is no timer of ours for them.
struct KeepAlive {
  bool on = true;
  int idle_s = 15;      // 0 = the system's default
  int interval_s = 15;  // 0 = the system's default
  friend bool operator==(const KeepAlive&, const KeepAlive&) = default;
};

// Descriptors that flows leave to the rest of the program; an eighth of the limit where that is
// less.
inline constexpr int kReserve = 32;

// The name of a network interface, empty for none.
class InterfaceName {
 public:
  static constexpr size_t kMax = 15;  // bytes: IFNAMSIZ less the zero that ends it
  InterfaceName() = default;
  // False, and nothing is changed, for what no interface can be called.
  [[nodiscard]] bool assign(std::string_view name) {
    if (name.size() > kMax || name.find('\0') != std::string_view::npos) return false;
    text_ = {};
    std::copy(name.begin(), name.end(), text_.begin());
    return true;
  }
  [[nodiscard]] bool empty() const { return text_[0] == 0; }
  [[nodiscard]] std::string_view view() const { return text_.data(); }
  friend bool operator==(const InterfaceName&, const InterfaceName&) = default;

 private:
  std::array<char, kMax + 1> text_{};
};

struct ListenOptions {
  bool reuse_port = true;  // one socket per worker on the same endpoint
  bool v6_only = false;    // an IPv6 wildcard also takes IPv4 unless set
  int backlog = 4096;
  // The last descriptors are kept for others (the controller, name resolution): see kReserve.
  bool leaves_reserve = false;
  KeepAlive keep_alive = {};  // of accepted connections
  // TCP Fast Open and Multipath TCP for clients that ask for them. Where the kernel has none, or it
  // is switched off, connections are plain TCP.
  bool fast_open = false;
  bool multipath = false;
  // SO_MARK of the listener and of what it accepts, 0 = none; needs CAP_NET_ADMIN, and failing to
  // set it is listen()'s error.
  uint32_t mark = 0;
  friend bool operator==(const ListenOptions&, const ListenOptions&) = default;
};

struct ConnectOptions {
  bool no_delay = true;
  bool leaves_reserve = false;  // as in ListenOptions
  KeepAlive keep_alive = {};
  // TCP Fast Open: where the kernel holds a cookie of the destination's, the stream is open at once
  // and the SYN leaves with the first bytes written, or after kFastOpenWait without any. What fails
  // then (refused, unreachable) shows when reading or writing instead of in opened(); and close()
  // before the destination has answered takes the bytes back. Otherwise a plain connection.
  bool fast_open = false;
  bool multipath = false;  // Multipath TCP; plain TCP where either side has none
  // SO_MARK, 0 = none; needs CAP_NET_ADMIN. Failing to set it is connect()'s error: nothing leaves
  // unmarked.
  uint32_t mark = 0;
  // Leave by this interface and no other. It is looked up for each connection, so one that went
  // and came back is found; while there is none, connect() fails with kUnreachable.
  InterfaceName interface = {};
};
static_assert(std::is_trivially_copyable_v<ConnectOptions>);

// How long a fast open may wait for bytes to send along: what speaks first on a connection is then
// the peer, who must hear of it. A client that was told that its tunnel stands, and speaks first,
// does so within its own round trip.
inline constexpr Duration kFastOpenWait = std::chrono::milliseconds(50);

// Closes handles that are not descriptors of the kernel (the simulated network's).
class HandleCloser {
 public:
  virtual void close_handle(int handle) = 0;

 protected:
  ~HandleCloser() = default;
};

// A connection as it was accepted, not yet bound to a worker: plain data that may travel to another
// worker through its Mailbox, where adopt() makes a stream of it. Closed if it never gets there.
class AcceptedSocket {
 public:
  AcceptedSocket() = default;
  AcceptedSocket(int handle, Endpoint remote, HandleCloser* closer = nullptr)
      : handle_(handle), remote_(remote), closer_(closer) {}
  AcceptedSocket(AcceptedSocket&& other) noexcept
      : handle_(other.release()), remote_(other.remote_), closer_(other.closer_) {}
  AcceptedSocket& operator=(AcceptedSocket&&) = delete;
  ~AcceptedSocket();
  [[nodiscard]] const Endpoint& remote() const { return remote_; }
  [[nodiscard]] int release() {
    const int handle = handle_;
    handle_ = -1;
    return handle;
  }

 private:
  int handle_ = -1;
  Endpoint remote_;
  HandleCloser* closer_ = nullptr;
};

// Receives what a listener accepts, on the listener's worker.
class Acceptor {
 public:
  virtual ~Acceptor() = default;
  virtual void accepted(AcceptedSocket socket) = 0;
  // Descriptors ran out: accepting pauses for a while and then goes on by itself.
  virtual void accept_paused(Error /*error*/) {}
};

class Listener {
 public:
  virtual ~Listener() = default;                     // closes the socket
  [[nodiscard]] virtual Endpoint local() const = 0;  // not valid for a unix socket
};

class Backend {
 public:
  virtual ~Backend() = default;
  [[nodiscard]] virtual const Clock& clock() const = 0;
  // Waits until something is ready, wake() was called, or `until` passed (a time in the past only
  // looks), and notes what became ready; returns how much. dispatch() then fires the waiters: the
  // worker reads the clock in between.
  virtual size_t poll(TimePoint until) = 0;
  virtual void dispatch() = 0;
  // Ends a poll() that is under way or comes next. Any thread.
  virtual void wake() = 0;

  [[nodiscard]] virtual Result<std::unique_ptr<Listener>> listen(const Endpoint& at,
                                                                 const ListenOptions& options,
                                                                 Acceptor& acceptor) = 0;
  // A stream socket in the file system, for clients on this host. Its file has `mode` and no more
  // from the first moment; folders that lead to it and are missing are made with mode 0700. A
  // socket that was left there and that nobody listens on is removed first; anything else in its
  // place is an error (EADDRINUSE). The file is removed with the listener. What is accepted has no
  // remote() and, once adopted, no local(). The path has at most 107 bytes (kTooLarge).
  // kUnsupported in the simulation.
  [[nodiscard]] virtual Result<std::unique_ptr<Listener>> listen_unix(const std::string& path,
                                                                      mode_t mode,
                                                                      Acceptor& acceptor) = 0;
  // Starts a connection; Stream::opened() tells how it goes.
  [[nodiscard]] virtual Result<std::unique_ptr<Stream>> connect(const Endpoint& to,
                                                                const ConnectOptions& options) = 0;
  [[nodiscard]] virtual Result<std::unique_ptr<Stream>> adopt(AcceptedSocket socket) = 0;
  // Bound to `at` (an unspecified address with port 0 for any); when `peer` is valid, connected to
  // it: only its datagrams arrive.
  [[nodiscard]] virtual Result<std::unique_ptr<DatagramSocket>> open_datagram(
      const Endpoint& at, const Endpoint& peer) = 0;
};

}  // namespace culvert::rt
