// Datagram sockets, in batches. Same threading and readiness rules as Stream.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/bytes.h"
#include "base/ip.h"
#include "base/result.h"
#include "rt/waiter.h"

namespace culvert::rt {

// One datagram of a batch. Received: `payload` is the socket's until the next receive(), `peer` is
// the sender, `local` the address it came to. Sent: the caller's bytes, read during the call only.
// `segment` > 0 says that payload is several datagrams of that size, the last one shorter
// (GSO/GRO).
struct Datagram {
  Endpoint peer;
  IpAddress local;
  MutableBytes payload;
  uint16_t segment = 0;
  uint8_t tos = 0;
  bool truncated = false;
};

class DatagramSocket {
 public:
  DatagramSocket() = default;
  DatagramSocket(const DatagramSocket&) = delete;
  DatagramSocket& operator=(const DatagramSocket&) = delete;
  virtual ~DatagramSocket() = default;

  // Fills a prefix of `out` and returns its length (at least 1), or kWouldBlock, or an error. An
  // asynchronous ICMP error of a connected socket comes back once, as kRefused or kUnreachable.
  [[nodiscard]] virtual Result<size_t> receive(std::span<Datagram> out) = 0;
  // Sends a prefix and returns its length; kWouldBlock when not even the first fits. A datagram too
  // large for the path is skipped: it counts as sent.
  [[nodiscard]] virtual Result<size_t> send(std::span<const Datagram> batch) = 0;
  virtual void wait_readable(Waiter* waiter) = 0;
  virtual void wait_writable(Waiter* waiter) = 0;
  [[nodiscard]] virtual Endpoint local() const = 0;
};

}  // namespace culvert::rt
