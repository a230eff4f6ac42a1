// The texts of /etc/resolv.conf (resolv.conf(5)) and /etc/hosts (hosts(5)), parsed. Lines that make
// no sense are passed over, as the C library does.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/ip.h"

namespace culvert::wire {

struct ResolvConf {
  static constexpr size_t kMaxServers = 8;
  static constexpr size_t kMaxSearch = 6;
  std::vector<Endpoint> servers;    // port 0: the caller's
  std::vector<std::string> search;  // the last domain or search line, lower-cased
  uint32_t ndots = 1;               // 0..15
  uint32_t timeout_s = 5;           // 1..30
  uint32_t attempts = 2;            // 1..5
};
ResolvConf parse_resolv_conf(std::string_view text);

struct HostsEntry {
  IpAddress ip;
  std::string name;  // lower-cased
};
// At most `limit` entries.
std::vector<HostsEntry> parse_hosts(std::string_view text, size_t limit = 100'000);

}  // namespace culvert::wire
