#include "engine/guard.h"

#include <ifaddrs.h>

#include <algorithm>

namespace culvert::engine {

Guard::Guard(std::vector<Endpoint> listeners) : listeners_(std::move(listeners)) {
  ifaddrs* all = nullptr;
  if (getifaddrs(&all) != 0) return;
  for (const ifaddrs* a = all; a != nullptr; a = a->ifa_next) {
    if (a->ifa_addr == nullptr) continue;
    const IpAddress ip = Endpoint::from_sockaddr(*a->ifa_addr).ip;
    if (ip.valid()) own_.push_back(ip);
  }
  freeifaddrs(all);
}

bool Guard::is_own_address(const IpAddress& ip) const {
  return ip.is_loopback() || ip.is_unspecified() ||
         std::find(own_.begin(), own_.end(), ip) != own_.end();
}

bool Guard::is_own_listener(const Endpoint& to) const {
  const IpAddress ip = to.ip.unmapped();
  return std::any_of(listeners_.begin(), listeners_.end(),
                     [&](const Endpoint& l) {
                       return l.port == to.port && (l.ip.is_unspecified() || ip.is_unspecified() ||
                                                    l.ip.unmapped() == ip);
                     }) &&
         is_own_address(ip);
}

bool Guard::allows(const flow::FlowMeta& meta, const Endpoint& to) const {
  const IpAddress ip = to.ip.unmapped();
  if (is_own_listener(to)) return false;
  if (meta.address_named) return true;
  const bool guarded = ip.is_loopback() || ip.is_unspecified() || ip.is_link_local();
  return !guarded || is_own_address(meta.source.ip.unmapped());
}

}  // namespace culvert::engine
