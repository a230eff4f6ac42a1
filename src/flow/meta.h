// FlowMeta: what is known about one flow, split by the stage that learns it. Plain data.
//
// `host` points into memory that belongs to whoever fills the meta in, and stays valid while the
// meta is used: the inbound's buffer during its handshake, the flow's tracker block afterwards
// (FlowSink::open() moves it there). IP destinations need no memory at all.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

#include "base/ip.h"

namespace culvert::flow {

enum class Network : uint8_t { kTcp = 1, kUdp = 2 };

// What the client spoke; the words of mihomo's IN-TYPE and of /connections.
enum class InboundType : uint8_t { kHttp, kHttps, kSocks4, kSocks5, kTunnel, kInner };
std::string_view name(InboundType type);
std::string_view name(Network network);

inline constexpr uint32_t kNoUser = UINT32_MAX;

struct FlowMeta {
  // What the client said (the inbound).
  Endpoint source;       // the client
  Endpoint destination;  // ip invalid when only a name was given; the port always counts
  const char* host = nullptr;
  uint8_t host_length = 0;  // 0 = destination.ip is the destination
  Network network = Network::kTcp;
  InboundType inbound_type = InboundType::kInner;
  uint8_t dscp = 0;
  uint16_t inbound_port = 0;
  // Numbers that stay as long as the program runs, whatever is reloaded (stats::Directory).
  uint32_t inbound = 0;     // the listener
  uint32_t user = kNoUser;  // from the Authenticator
  // What resolving added.
  IpAddress resolved;  // the address rules are judged by, for a name
  // What routing decided.
  uint32_t rule = UINT32_MAX;      // index into the rules of the generation that judged it
  uint32_t outbound = UINT32_MAX;  // the node's number, as `inbound`
  bool address_named = false;      // the rule that matched names the destination's address

  [[nodiscard]] std::string_view host_name() const { return {host, host_length}; }
  void set_host(std::string_view h) {
    host = h.data();
    host_length = static_cast<uint8_t>(h.size());
  }
  // The destination as an address: the literal, or what resolving found; invalid when neither.
  [[nodiscard]] const IpAddress& address() const {
    return destination.ip.valid() ? destination.ip : resolved;
  }
};
static_assert(sizeof(FlowMeta) <= 128 && std::is_trivially_copyable_v<FlowMeta>);

// "a.example:443", "192.0.2.1:80", "[2001:db8::1]:80"
std::string destination_text(const FlowMeta& meta);

}  // namespace culvert::flow
