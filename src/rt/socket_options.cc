#include "rt/socket_options.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cerrno>

// Newer than the C library's headers may be.
#ifndef IPPROTO_MPTCP
#define IPPROTO_MPTCP 262
#endif
#ifndef TCP_FASTOPEN_CONNECT
#define TCP_FASTOPEN_CONNECT 30
#endif

namespace culvert::rt {
namespace {

// Clients whose first bytes came with a SYN that is not acknowledged yet; more of them shake hands
// as usual.
constexpr int kFastOpenQueue = 256;

}  // namespace

void set_int(int fd, int level, int name, int value) {
  setsockopt(fd, level, name, &value, sizeof value);
}

void set_keep_alive(int fd, const KeepAlive& keep_alive) {
  // Accepted sockets inherit the listener's: off is said too.
  set_int(fd, SOL_SOCKET, SO_KEEPALIVE, keep_alive.on ? 1 : 0);
  if (!keep_alive.on) return;
  if (keep_alive.idle_s > 0) set_int(fd, IPPROTO_TCP, TCP_KEEPIDLE, keep_alive.idle_s);
  if (keep_alive.interval_s > 0) set_int(fd, IPPROTO_TCP, TCP_KEEPINTVL, keep_alive.interval_s);
}

Result<int> open_tcp_socket(int family, bool multipath) {
  constexpr int kType = SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC;
  int fd = -1;
  // Not built in, switched off, forbidden by a security module: there is an errno for each. What
  // stands in the way of any socket stands in the way of the second one too.
  if (multipath) fd = socket(family, kType, IPPROTO_MPTCP);
  if (fd < 0) fd = socket(family, kType, 0);
  if (fd < 0) return error_from_errno(errno);
  return fd;
}

Status set_mark(int fd, uint32_t mark) {
  if (mark == 0) return {};
  if (setsockopt(fd, SOL_SOCKET, SO_MARK, &mark, sizeof mark) != 0) return error_from_errno(errno);
  return {};
}

Status bind_to_interface(int fd, const InterfaceName& device) {
  if (device.empty()) return {};
  const std::string_view name = device.view();
  if (setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, name.data(),
                 static_cast<socklen_t>(name.size())) == 0) {
    return {};
  }
  // It may come back.
  if (errno == ENODEV) return Error(Errc::kUnreachable, Side::kLocal, true, ENODEV);
  return error_from_errno(errno);
}

void allow_fast_open_clients(int listener) {
  set_int(listener, IPPROTO_TCP, TCP_FASTOPEN, kFastOpenQueue);
}

void prefer_fast_open(int fd) {
  set_int(fd, IPPROTO_TCP, TCP_FASTOPEN_CONNECT, 1);
}

bool is_handshake_pending(int fd) {
  tcp_info info{};
  socklen_t n = sizeof info;
  return getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &n) == 0 && info.tcpi_state == TCP_SYN_SENT;
}

}  // namespace culvert::rt
