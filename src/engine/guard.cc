#include "engine/guard.h"

#include <ifaddrs.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>

namespace culvert::engine {
namespace {

std::vector<IpAddress> addresses_of_this_host() {
  std::vector<IpAddress> out;
  ifaddrs* all = nullptr;
  if (getifaddrs(&all) != 0) return out;
  for (const ifaddrs* a = all; a != nullptr; a = a->ifa_next) {
    if (a->ifa_addr == nullptr) continue;
    const IpAddress ip = Endpoint::from_sockaddr(*a->ifa_addr).ip;
    if (ip.valid()) out.push_back(ip);
  }
  freeifaddrs(all);
  return out;
}

// Only an address of this host can be bound, which costs three microseconds to find out; where the
// system allows more (ip_nonlocal_bind), the list of them decides.
bool is_local_now(const IpAddress& ip) {
  sockaddr_storage at{};
  const uint32_t size = Endpoint(ip, 0).to_sockaddr(at);
  const int fd = socket(at.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return false;
  const bool bound = bind(fd, reinterpret_cast<const sockaddr*>(&at), size) == 0;
  close(fd);
  if (!bound) return false;
  const std::vector<IpAddress> now = addresses_of_this_host();
  return std::find(now.begin(), now.end(), ip) != now.end();
}

}  // namespace

Guard::Guard(std::vector<Endpoint> listeners)
    : listeners_(std::move(listeners)), own_(addresses_of_this_host()) {}

bool Guard::is_own_address(const IpAddress& ip) const {
  return ip.is_loopback() || ip.is_unspecified() ||
         std::find(own_.begin(), own_.end(), ip) != own_.end() || is_local_now(ip);
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
