#include "flow/server_address.h"

#include <net/if.h>

#include <algorithm>

#include "base/format.h"
#include "wire/host.h"
#include "yaml/scalar.h"

namespace culvert::flow {
namespace {

constexpr std::string_view kForm = "a host name or an IP address";

bool is_zone(std::string_view text) {
  return !text.empty() && text.size() < IF_NAMESIZE && std::ranges::all_of(text, [](char c) {
    return c > ' ' && c < 0x7F && c != '/' && c != '%' && c != '[' && c != ']';
  });
}

}  // namespace

std::optional<uint32_t> ServerAddress::scope_id() const {
  if (zone.empty()) return 0;
  if (const auto number = yaml::parse_integer(zone); number && *number > 0 && *number < INT32_MAX) {
    return static_cast<uint32_t>(*number);
  }
  const unsigned found = ::if_nametoindex(zone.c_str());
  if (found == 0) return std::nullopt;
  return found;
}

std::string ServerAddress::to_string() const {
  if (!ip.is_v6()) return format("{}:{}", host, port);
  return zone.empty() ? format("[{}]:{}", host, port) : format("[{}%{}]:{}", host, zone, port);
}

std::optional<ServerAddress> parse_server(std::string_view text) {
  const bool bracketed = text.starts_with('[') && text.ends_with(']') && text.size() > 2;
  if (bracketed) text = text.substr(1, text.size() - 2);
  ServerAddress out;
  std::string_view address = text;
  if (const size_t percent = text.find('%'); percent != std::string_view::npos) {
    address = text.substr(0, percent);
    out.zone = text.substr(percent + 1);
    if (!is_zone(out.zone)) return std::nullopt;
  }
  if (const auto ip = IpAddress::parse(address)) {
    if (!ip->is_v6() && (bracketed || !out.zone.empty())) return std::nullopt;
    out.ip = *ip;
    out.host = ip->to_string();
    return out;
  }
  wire::HostBuffer buffer;
  if (bracketed || !out.zone.empty()) return std::nullopt;
  const auto host = wire::normalize_host(text, buffer);
  if (!host) return std::nullopt;
  out.host = *host;
  return out;
}

std::optional<ServerAddress> read_server(yaml::MapReader& node) {
  const auto text = node.string("server");
  const auto port = node.port("port", yaml::PortZero::kRefused);
  // Each getter has said what it found; what is missing is said here.
  const auto say_missing = [&](std::string_view key) {
    if (node.find(key) == nullptr) node.refuse(node.node(), node.path(), format("no {}", key));
  };
  if (!text) say_missing("server");
  if (!port) say_missing("port");
  if (!text || !port) return std::nullopt;
  auto out = parse_server(*text);
  if (!out) {
    node.fail(*node.find("server"), node.path_of("server"), std::string(kForm));
    return std::nullopt;
  }
  out->port = *port;
  return out;
}

}  // namespace culvert::flow
