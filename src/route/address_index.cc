#include "route/address_index.h"

#include <algorithm>

namespace culvert::route {
namespace {

// First and last address of a prefix, in the two widths.
void bounds(const Prefix& prefix, uint32_t& first, uint32_t& last) {
  const auto rest = static_cast<uint32_t>(uint64_t{0xffffffff} >> prefix.length);
  first = prefix.ip.v4_value() & ~rest;
  last = first | rest;
}

void bounds(const Prefix& prefix, std::array<uint8_t, 16>& first, std::array<uint8_t, 16>& last) {
  for (size_t i = 0; i < 16; ++i) {
    const int bits = std::clamp(prefix.length - static_cast<int>(8 * i), 0, 8);
    const auto rest = static_cast<uint8_t>(0xff >> bits);
    first[i] = static_cast<uint8_t>(prefix.ip.bytes[i] & ~rest);
    last[i] = static_cast<uint8_t>(first[i] | rest);
  }
}

// The address behind `key`; false when it was the last.
bool step(uint32_t& key) {
  return ++key != 0;
}

bool step(std::array<uint8_t, 16>& key) {
  for (size_t i = key.size(); i > 0; --i) {
    if (++key[i - 1] != 0) return true;
  }
  return false;
}

}  // namespace

AddressIndex::AddressIndex(const RuleList& rules, const Disabled* disabled, uint32_t begin,
                           uint32_t end)
    : rules_(rules) {
  std::vector<uint32_t> v4, v6;
  const auto applies = [&](uint32_t i) {
    return rules.type(i) == RuleType::kIpCidr && !is_disabled(disabled, i);
  };
  size_t narrow = 0;
  for (uint32_t i = begin; i < end; ++i) {
    narrow += applies(i) && rules.prefix(i).ip.is_v4() ? 1 : 0;
  }
  v4.reserve(narrow);
  for (uint32_t i = begin; i < end; ++i) {
    if (applies(i)) (rules.prefix(i).ip.is_v4() ? v4 : v6).push_back(i);
  }
  build(rules, v4, v4_);
  build(rules, v6, v6_);
}

template <class Key>
void AddressIndex::build(const RuleList& rules, std::vector<uint32_t>& members, Ranges<Key>& out) {
  // Two prefixes are apart or one in the other. By first address, the wider before the narrower,
  // each comes behind all that it is in.
  const auto before = [&](uint32_t a, uint32_t b) {
    const Prefix p = rules.prefix(a), q = rules.prefix(b);
    Key p_first, q_first, last;
    bounds(p, p_first, last);
    bounds(q, q_first, last);
    if (p_first != q_first) return p_first < q_first;
    return p.length != q.length ? p.length < q.length : a < b;
  };
  // Lists are often in order already.
  if (!std::ranges::is_sorted(members, before)) std::ranges::sort(members, before);
  struct Open {
    Key last;
    uint32_t winner;
  };
  std::vector<Open> open;  // the prefixes around, the widest first; each wins over those before it
  const auto begin = [&](const Key& at, uint32_t winner) {
    if (!out.starts.empty() && out.starts.back() == at) {
      out.winners.back() = winner;
      return;
    }
    out.starts.push_back(at);
    out.winners.push_back(winner);
  };
  const auto close_until = [&](const Key* next) {
    while (!open.empty() && (next == nullptr || open.back().last < *next)) {
      Key after = open.back().last;
      open.pop_back();
      if (!open.empty() && step(after)) begin(after, open.back().winner);
    }
  };
  out.starts.reserve(members.size());
  out.winners.reserve(members.size());
  for (const uint32_t rule : members) {
    Key first, last;
    bounds(rules.prefix(rule), first, last);
    close_until(&first);
    // An earlier rule has all of it.
    if (!open.empty() && open.back().winner < rule) continue;
    begin(first, rule);
    open.push_back({last, rule});
  }
  close_until(nullptr);
  out.starts.shrink_to_fit();
  out.winners.shrink_to_fit();
}

template <class Key>
uint32_t AddressIndex::search(const Ranges<Key>& ranges, const Key& key, const IpAddress& address,
                              uint32_t limit) const {
  const auto next = std::ranges::upper_bound(ranges.starts, key);
  if (next == ranges.starts.begin()) return limit;
  const uint32_t rule = ranges.winners[static_cast<size_t>(next - ranges.starts.begin()) - 1];
  return rule < limit && rules_.contains(rule, address) ? rule : limit;
}

uint32_t AddressIndex::find(const IpAddress& address, uint32_t limit) const {
  return address.is_v4() ? search(v4_, address.v4_value(), address, limit)
                         : search(v6_, address.bytes, address, limit);
}

}  // namespace culvert::route
