#include "dns/hosts_table.h"

#include <algorithm>
#include <bit>

#include "wire/host.h"

namespace culvert::dns {

HostsTable::HostsTable(std::vector<wire::HostsEntry> entries, const KeyedHash& hash, bool ipv6)
    : entries_(std::move(entries)) {
  std::erase_if(entries_, [&](const wire::HostsEntry& e) {
    wire::HostBuffer buffer;
    return (e.ip.is_v6() && !ipv6) || wire::normalize_host(e.name, buffer) != e.name ||
           IpAddress::parse(e.name);
  });
  if (entries_.empty()) return;
  std::ranges::stable_sort(entries_, {}, &wire::HostsEntry::name);
  names_.resize(std::bit_ceil(2 * entries_.size()));
  const size_t mask = names_.size() - 1;
  for (size_t i = 0; i < entries_.size();) {
    size_t end = i + 1;
    while (end < entries_.size() && entries_[end].name == entries_[i].name) ++end;
    const uint64_t h = hash(entries_[i].name);
    size_t at = h & mask;
    while (names_[at].count != 0) at = (at + 1) & mask;
    names_[at] = {h, static_cast<uint32_t>(i), static_cast<uint32_t>(end - i)};
    i = end;
  }
}

bool HostsTable::find(uint64_t hash, std::string_view name, flow::AddressList& out) const {
  if (names_.empty()) return false;
  const size_t mask = names_.size() - 1;
  for (size_t at = hash & mask; names_[at].count != 0; at = (at + 1) & mask) {
    const Name& n = names_[at];
    if (n.hash != hash || entries_[n.first].name != name) continue;
    for (uint32_t i = n.first; i < n.first + n.count; ++i) out.add(entries_[i].ip);
    return true;
  }
  return false;
}

}  // namespace culvert::dns
