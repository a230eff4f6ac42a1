// HostsTable: the entries of a hosts file, by name. Immutable once it is made.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/keyed_hash.h"
#include "flow/resolver.h"
#include "wire/resolv_conf.h"

namespace culvert::dns {

class HostsTable {
 public:
  HostsTable() = default;
  // Keeps what can be asked for: entries under a name in the spelling of wire/host.h that is no
  // address, and IPv6 addresses where `ipv6`.
  HostsTable(std::vector<wire::HostsEntry> entries, const KeyedHash& hash, bool ipv6);

  // Adds the name's addresses to `out`, in the file's order; false when there is none. `hash` is
  // that of `name` by the constructor's.
  bool find(uint64_t hash, std::string_view name, flow::AddressList& out) const;

 private:
  struct Name {
    uint64_t hash;
    uint32_t first;  // its entries
    uint32_t count;
  };
  std::vector<wire::HostsEntry> entries_;  // by name
  std::vector<Name> names_;                // in open addressing, half of it empty; count 0: empty
};

}  // namespace culvert::dns
