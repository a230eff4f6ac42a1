// The server of a node: `server` and `port`, which most types of proxies have.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/ip.h"
#include "yaml/reader.h"

namespace culvert::flow {

struct ServerAddress {
  // A name in the spelling of wire/host.h, or the address as IpAddress prints it, without brackets
  // and zone.
  std::string host;
  IpAddress ip;  // not valid() for a name
  // Of a link-local IPv6 address, "eth0" or "2"; else empty. The interface may come and go, so it
  // is looked up at every dial: see scope_id().
  std::string zone;
  uint16_t port = 0;

  // 0 without a zone; nothing when there is no such interface now.
  [[nodiscard]] std::optional<uint32_t> scope_id() const;
  // "192.0.2.1:80", "[2001:db8::1]:80", "node.example:443"; for logs.
  [[nodiscard]] std::string to_string() const;
};

// A host as profiles write one: a name, an IPv4 address, an IPv6 one with or without brackets and
// zone. The port stays 0.
std::optional<ServerAddress> parse_server(std::string_view text);

// `server` and `port` of a node; an error in its diagnostics and nothing when one is missing or not
// what it should be.
std::optional<ServerAddress> read_server(yaml::MapReader& node);

}  // namespace culvert::flow
