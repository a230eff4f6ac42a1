// NameIndex: the first rule of a list, by order, that a host name falls under, for rules that
// compare names. What a look-up costs goes with the length of the name, not with the number of
// rules. Borrows the list.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "route/rule_list.h"

namespace culvert::route {

// DOMAIN and DOMAIN-SUFFIX: a hash table of their names, asked for each suffix of a host.
class NameIndex {
 public:
  // Of the rules before `end` that are not disabled; `disabled` may be null.
  NameIndex(const RuleList& rules, const Disabled* disabled, uint32_t end);
  // The first rule below `limit`, or `limit`. `host` is not empty; its name_classes() go to
  // `classes`, unless that is null.
  [[nodiscard]] uint32_t find(std::string_view host, uint32_t limit, uint64_t* classes) const;

 private:
  struct Slot {
    uint32_t tag;   // of the hash
    uint32_t rule;  // kFree: none
  };
  static constexpr uint32_t kFree = UINT32_MAX;
  // The slot of a name, or the free one that it would have.
  [[nodiscard]] size_t look(uint64_t hash, RuleType type, std::string_view name) const;
  [[nodiscard]] uint64_t filter_place(uint64_t hash) const {
    return (hash & UINT32_MAX) * filter_bits_ >> 32;
  }

  const RuleList& rules_;
  std::vector<Slot> slots_;
  // A bit for each place, set where a name's hash falls: most suffixes of hosts are in no list, and
  // need not be looked for.
  std::vector<uint64_t> filter_;
  uint64_t filter_bits_ = 0;
};

// DOMAIN-KEYWORD: each keyword is filed under three letters in a row of it; whatever three letters
// a host has are looked up.
class KeywordIndex {
 public:
  KeywordIndex(const RuleList& rules, const Disabled* disabled, uint32_t end);
  // As above, with letter_classes().
  [[nodiscard]] uint32_t find(std::string_view host, uint32_t limit, uint64_t* classes) const;

 private:
  struct Filed {
    uint32_t rule;
    // The hash of the three letters, which leaves a byte free for their offset in the keyword.
    uint32_t hash_and_offset;
  };

  const RuleList& rules_;
  uint32_t shift_ = 32;
  std::vector<uint32_t> starts_;  // of each bucket in filed_, and the end
  std::vector<Filed> filed_;
  std::vector<uint32_t> short_;  // keywords with fewer letters
};

}  // namespace culvert::route
