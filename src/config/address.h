// Addresses as profiles write them.
#pragma once

#include <optional>
#include <string_view>

#include "base/ip.h"

namespace culvert::config {

inline constexpr std::string_view kControllerForm =
    "host:port, such as 127.0.0.1:9090 or [::1]:9090, or :9090 for every address";

// The wildcard of both families.
IpAddress any_address();

// external-controller; see parse_controller() in settings.h.
std::optional<Endpoint> parse_controller_endpoint(std::string_view text);

// bind-address: "*" or an address, an IPv6 one with or without brackets.
std::optional<IpAddress> parse_bind_address(std::string_view text);

}  // namespace culvert::config
