// What a TCP socket is told before it connects or listens. Internal to the backends of rt/.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "rt/backend.h"

namespace culvert::rt {

// For what may fail without harm.
void set_int(int fd, int level, int name, int value);
void set_keep_alive(int fd, const KeepAlive& keep_alive);

// A socket that does not block, of MPTCP where that is asked for and the kernel has it. `family` is
// AF_INET or AF_INET6. The caller closes it.
Result<int> open_tcp_socket(int family, bool multipath);

// Before connect() or bind(). An error means that the socket must not be used: what it sent would
// go another way than the one that was asked for.
Status set_mark(int fd, uint32_t mark);                         // 0 = none
Status bind_to_interface(int fd, const InterfaceName& device);  // empty = any

void allow_fast_open_clients(int listener);
void prefer_fast_open(int fd);
// Whether the answer to a SYN, sent or still kept back for the first bytes, is yet to come.
bool is_handshake_pending(int fd);

}  // namespace culvert::rt
