// AddressIndex: the first rule of a list, by order, whose prefix holds an address. The prefixes are
// cut into ranges that do not overlap, each with the rule that wins there: a look-up is a binary
// search. Borrows the list.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/ip.h"
#include "route/rule_list.h"

namespace culvert::route {

class AddressIndex {
 public:
  // Of the IP-CIDR rules of [begin, end) that are not disabled; `disabled` may be null.
  AddressIndex(const RuleList& rules, const Disabled* disabled, uint32_t begin, uint32_t end);
  // The first rule below `limit`, or `limit`. `address` is valid.
  [[nodiscard]] uint32_t find(const IpAddress& address, uint32_t limit) const;

 private:
  // A range goes on to where the next begins. Where no prefix holds the addresses none begins: the
  // rule of the range before is asked whether it holds them.
  template <class Key>
  struct Ranges {
    std::vector<Key> starts;
    std::vector<uint32_t> winners;
  };
  using Wide = std::array<uint8_t, 16>;
  template <class Key>
  static void build(const RuleList& rules, std::vector<uint32_t>& members, Ranges<Key>& out);
  template <class Key>
  [[nodiscard]] uint32_t search(const Ranges<Key>& ranges, const Key& key, const IpAddress& address,
                                uint32_t limit) const;

  const RuleList& rules_;
  Ranges<uint32_t> v4_;
  Ranges<Wide> v6_;
};

}  // namespace culvert::route
