// PacketChannel: a two-way path for datagrams to many destinations, in batches. What an outbound
// opens for a UDP flow, and what an inbound offers the engine.
//
// Buffers: a received packet's bytes and host belong to the channel and stay valid until its next
// receive(); the receiver may change the bytes in place. Sent packets are read during send() only.
// Nothing blocks. Worker-local.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "base/bytes.h"
#include "base/ip.h"
#include "base/result.h"
#include "rt/waiter.h"

namespace culvert::flow {

struct Packet {
  // The far end: where it goes, or whence it came. A name when `host` is not empty (then only the
  // port of `peer` counts).
  Endpoint peer;
  std::string_view host;
  // The address on our side, so that a reply leaves from where the request came in; invalid = any.
  IpAddress local;
  MutableBytes payload;
  // > 0: payload is several datagrams of this size one after the other, the last may be shorter.
  uint16_t segment = 0;
  uint8_t tos = 0;  // DSCP and ECN bits
};

enum class PacketFate : uint8_t {
  kSent,
  kDropped,  // no room, too large for the path, or no route: counted, never retried by the channel
};

class PacketChannel {
 public:
  PacketChannel() = default;
  PacketChannel(const PacketChannel&) = delete;
  PacketChannel& operator=(const PacketChannel&) = delete;
  virtual ~PacketChannel() = default;  // closes

  // Fills a prefix of `out`, at least one packet; kWouldBlock when there is none; any other error
  // ends the channel.
  [[nodiscard]] virtual Result<size_t> receive(std::span<Packet> out) = 0;
  // Decides every packet of the batch: fates[i] is batch[i]'s. Back-pressure drops the newest. An
  // error ends the channel.
  [[nodiscard]] virtual Status send(std::span<const Packet> batch, std::span<PacketFate> fates) = 0;
  virtual void wait_readable(rt::Waiter* waiter) = 0;
  // Packets dropped by send() since the channel opened.
  [[nodiscard]] virtual uint64_t dropped() const = 0;
};

}  // namespace culvert::flow
