// RuleList: the rules of a profile as they are kept: 8 bytes a rule and the names in blocks, an
// IPv4 prefix in the 8 bytes alone. What a rule says is made again from it for who shows it. Rules
// that are conditions have theirs beside the list. Filled by one thread, then immutable and read by
// any.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/ip.h"
#include "flow/meta.h"
#include "route/conditions.h"
#include "route/facts.h"
#include "route/rule.h"
#include "route/rule_type.h"
#include "route/targets.h"

namespace culvert::route {

// For each rule of a list whether it is left out. One that is too short says no of the rest.
using Disabled = std::vector<bool>;
inline bool is_disabled(const Disabled* disabled, uint32_t rule) {
  return disabled != nullptr && rule < disabled->size() && (*disabled)[rule];
}

class RuleList {
 public:
  // Kept of a name, and shown at most of any payload in a buffer. Host names have at most 253
  // bytes, so that a longer keyword matches none, whole or not.
  static constexpr size_t kMaxText = 255;

  // At the end; `rule` as parse_rule() leaves it, its target below TargetTable::kMaxTargets.
  void add(const Rule& rule) { add(rule, rule.line); }
  // The same; it stands at `line` of the profile, 0 for nowhere.
  void add(const Rule& rule, uint32_t line);
  // Gives back the room that was taken for more rules.
  void shrink_to_fit();
  [[nodiscard]] uint32_t size() const { return static_cast<uint32_t>(rules_.size()); }
  [[nodiscard]] RuleType type(uint32_t i) const {
    const Packed& rule = rules_[i];
    return rule.type == kOther ? others_[rule.value].type : static_cast<RuleType>(rule.type);
  }
  [[nodiscard]] bool no_resolve(uint32_t i) const { return rules_[i].no_resolve != 0; }
  [[nodiscard]] uint32_t outbound(uint32_t i) const { return rules_[i].outbound; }
  // Of the types that compare names; valid as long as the list does not change.
  [[nodiscard]] std::string_view text(uint32_t i) const { return text_at(rules_[i].value); }
  // Of kIpCidr.
  [[nodiscard]] Prefix prefix(uint32_t i) const;
  [[nodiscard]] bool contains(uint32_t i, const IpAddress& address) const {
    const Packed& rule = rules_[i];
    if (rule.length == kWide) return prefix(i).contains(address);
    // Shifted in 64 bits, where a length of 0 shifts everything out.
    return address.is_v4() &&
           (uint64_t{rule.value ^ address.v4_value()} >> (32 - rule.length)) == 0;
  }
  // Whether any rule is of a type that is_condition() names.
  [[nodiscard]] bool has_conditions() const { return !others_.empty(); }
  // Of the types that is_condition() names: whether it holds for a flow, or needs its address.
  [[nodiscard]] Conditions::Verdict judge(uint32_t i, const flow::FlowMeta& meta,
                                          const Facts& facts) const {
    return conditions_.judge(others_[rules_[i].value].first, meta, facts);
  }
  // What the flows are like that it can hold or ask for.
  [[nodiscard]] Signature signature(uint32_t i) const {
    const uint32_t other = rules_[i].value;
    return conditions_.signature(others_[other].first, tests(other));
  }
  // Whether the rule ever wants a name resolved.
  [[nodiscard]] bool may_ask(uint32_t i) const;
  // Where the rule stands in the profile, from 1; 0 when nowhere. Takes a binary search.
  [[nodiscard]] uint32_t line(uint32_t i) const;
  // As written, names in the spelling they are compared in, logic as Conditions are shown; empty
  // for kMatch. The first kMaxText bytes, in `buffer`, which the list may be gone before.
  using Text = std::array<char, kMaxText>;
  std::string_view payload(uint32_t i, Text& buffer) const;
  // The whole of it.
  [[nodiscard]] std::string payload(uint32_t i) const;

 private:
  struct Packed {
    uint32_t value;  // the IPv4 address; or a place in texts_, wide_ (other prefixes) or others_
    uint32_t type : 3;
    uint32_t no_resolve : 1;
    uint32_t length : 6;  // of an IPv4 prefix; kWide for one in wide_
    uint32_t outbound : 22;
  };
  static_assert(sizeof(Packed) == 8);
  // Packed for each type behind kMatch; the type itself is in others_.
  static constexpr uint32_t kOther = 5;
  static_assert(kOther == static_cast<uint32_t>(RuleType::kMatch) + 1);
  static constexpr uint32_t kBlock = 1u << 15;
  static constexpr uint32_t kWide = 63;
  static constexpr uint32_t kNoText = UINT32_MAX;
  struct Wide {
    std::array<uint8_t, 16> bytes;
    uint32_t text;  // where it was written in another form than to_string() has
    uint8_t length;
  };

  struct Other {
    uint32_t first;  // of its tests in conditions_
    uint32_t text;   // its payload in texts_, or in long_texts_
    RuleType type;
    bool long_text;
  };
  // Rules that stand on lines in a row, from `rule` on; on none when `line` is 0.
  struct Run {
    uint32_t rule;
    uint32_t line;
  };

  // How many tests the condition at `other` has.
  [[nodiscard]] uint32_t tests(uint32_t other) const {
    const uint32_t next = other + 1;
    return (next < others_.size() ? others_[next].first : conditions_.size()) -
           others_[other].first;
  }
  uint32_t store(std::string_view text);
  [[nodiscard]] std::string_view text_at(uint32_t at) const {
    const char* text = texts_[at / kBlock].get() + at % kBlock;
    return {text + 1, static_cast<uint8_t>(*text)};
  }

  std::vector<Packed> rules_;
  // Each behind a byte with its length, none across two blocks. Blocks, because one text that grows
  // is for a moment there twice.
  std::vector<std::unique_ptr<char[]>> texts_;
  uint32_t used_ = kBlock;  // of the last block
  std::vector<Wide> wide_;
  std::vector<Other> others_;
  std::vector<std::string> long_texts_;
  Conditions conditions_;
  std::vector<Run> runs_;
};

}  // namespace culvert::route
