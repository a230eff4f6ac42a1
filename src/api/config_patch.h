// PATCH /configs: what it asks for, read as a whole before anything is changed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostics.h"
#include "base/ip.h"
#include "base/log.h"
#include "config/settings.h"

namespace culvert::api {

// What is to change; the rest stays. null is as if the key were not there, and unknown keys count
// for nothing (both as in mihomo).
struct ConfigPatch {
  std::optional<uint16_t> port;  // 0 closes it
  std::optional<uint16_t> socks_port;
  std::optional<uint16_t> mixed_port;
  std::optional<bool> allow_lan;
  std::optional<std::string> bind_address;
  std::optional<config::Mode> mode;
  std::optional<log::Level> log_level;
  std::optional<bool> ipv6;
  std::optional<bool> tcp_concurrent;
  std::optional<std::string> interface_name;
  std::optional<std::vector<Prefix>> skip_auth_prefixes;
  std::optional<std::vector<Prefix>> lan_allowed_ips;
  std::optional<std::vector<Prefix>> lan_disallowed_ips;
};

// Nothing when the body is none, a value is bad, or something is to be switched on that this
// version has not; `why` tells which.
std::optional<ConfigPatch> parse_config_patch(std::string_view body, std::string& why);

// `current` with the changes; an error is added when they do not go together (two listeners of one
// port).
std::optional<config::Settings> apply_config_patch(const config::Settings& current,
                                                   const ConfigPatch& patch, Diagnostics& out);

}  // namespace culvert::api
