#include "config/address.h"

namespace culvert::config {

IpAddress any_address() {
  return *IpAddress::parse("::");
}

std::optional<Endpoint> parse_controller_endpoint(std::string_view text) {
  constexpr std::string_view kLocalhost = "localhost:";
  if (text.starts_with(':')) {
    const auto port = parse_port(text.substr(1));
    if (!port) return std::nullopt;
    return Endpoint(any_address(), *port);
  }
  if (text.starts_with(kLocalhost)) {
    const auto port = parse_port(text.substr(kLocalhost.size()));
    if (!port) return std::nullopt;
    return Endpoint(IpAddress::v4(0x7F000001), *port);
  }
  return Endpoint::parse(text);
}

std::optional<IpAddress> parse_bind_address(std::string_view text) {
  if (text == "*") return any_address();
  if (text.starts_with('[') && text.ends_with(']')) {
    const auto ip = IpAddress::parse(text.substr(1, text.size() - 2));
    return ip && ip->is_v6() ? ip : std::nullopt;
  }
  return IpAddress::parse(text);
}

}  // namespace culvert::config
