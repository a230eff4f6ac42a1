// RuleList: the rules of a profile as they are kept: 8 bytes a rule and the names in blocks, an
// IPv4 prefix in the 8 bytes alone. What a rule says is made again from it for who shows it.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "base/ip.h"
#include "route/rule.h"

namespace culvert::route {

class RuleList {
 public:
  // Kept of a payload. Host names have at most 253 bytes, so that a longer keyword matches none,
  // whole or not.
  static constexpr size_t kMaxText = 255;
  // Targets a list can tell apart.
  static constexpr uint32_t kMaxTargets = 1u << 22;

  // At the end; `rule` as parse_rule() leaves it, its target below kMaxTargets.
  void add(const Rule& rule);
  // Gives back the room that was taken for more rules.
  void shrink_to_fit() { rules_.shrink_to_fit(); }
  [[nodiscard]] uint32_t size() const { return static_cast<uint32_t>(rules_.size()); }
  [[nodiscard]] RuleType type(uint32_t i) const { return static_cast<RuleType>(rules_[i].type); }
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
  // As written, names in the spelling they are compared in; empty for kMatch. In `buffer`, which
  // the list may be gone before.
  using Text = std::array<char, kMaxText>;
  std::string_view payload(uint32_t i, Text& buffer) const;

 private:
  struct Packed {
    uint32_t value;  // the IPv4 address; or a place in texts_, for other prefixes in wide_
    uint32_t type : 3;
    uint32_t no_resolve : 1;
    uint32_t length : 6;  // of an IPv4 prefix; kWide for one in wide_
    uint32_t outbound : 22;
  };
  static_assert(sizeof(Packed) == 8);
  static constexpr uint32_t kBlock = 1u << 15;
  static constexpr uint32_t kWide = 63;
  static constexpr uint32_t kNoText = UINT32_MAX;
  struct Wide {
    std::array<uint8_t, 16> bytes;
    uint32_t text;  // where it was written in another form than to_string() has
    uint8_t length;
  };

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
};

}  // namespace culvert::route
