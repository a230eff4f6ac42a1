#include "route/rule_list.h"

#include <charconv>

#include "base/result.h"

namespace culvert::route {
namespace {

// Without the heap: each flow that such a rule matches is labelled with it.
std::string_view write_v4(uint32_t address, uint32_t length, RuleList::Text& buffer) {
  char* at = buffer.data();
  char* const end = at + buffer.size();
  for (int shift = 24; shift >= 0; shift -= 8) {
    at = std::to_chars(at, end, address >> shift & 0xff).ptr;
    *at++ = shift == 0 ? '/' : '.';
  }
  at = std::to_chars(at, end, length).ptr;
  return {buffer.data(), static_cast<size_t>(at - buffer.data())};
}

}  // namespace

void RuleList::add(const Rule& rule) {
  CULVERT_CHECK(rule.outbound < kMaxTargets);
  Packed packed{0, static_cast<uint32_t>(rule.type), rule.no_resolve ? 1u : 0u, 0, rule.outbound};
  switch (rule.type) {
    case RuleType::kDomain:
    case RuleType::kDomainSuffix:
    case RuleType::kDomainKeyword:
      packed.value = store(rule.payload);
      break;
    case RuleType::kIpCidr:
      if (rule.prefix.ip.is_v4()) {
        // Such an address has one way to be written.
        packed.value = rule.prefix.ip.v4_value();
        packed.length = rule.prefix.length;
        break;
      }
      packed.value = static_cast<uint32_t>(wide_.size());
      packed.length = kWide;
      wide_.push_back({rule.prefix.ip.bytes,
                       rule.payload.empty() || rule.payload == rule.prefix.to_string()
                           ? kNoText
                           : store(rule.payload),
                       rule.prefix.length});
      break;
    case RuleType::kMatch:
      break;
  }
  rules_.push_back(packed);
}

Prefix RuleList::prefix(uint32_t i) const {
  const Packed& rule = rules_[i];
  if (rule.length != kWide) return {IpAddress::v4(rule.value), static_cast<uint8_t>(rule.length)};
  const Wide& wide = wide_[rule.value];
  return {IpAddress::v6(wide.bytes), wide.length};
}

std::string_view RuleList::payload(uint32_t i, Text& buffer) const {
  const Packed& rule = rules_[i];
  const auto put = [&](std::string_view text) {
    return std::string_view(buffer.data(), text.copy(buffer.data(), buffer.size()));
  };
  switch (type(i)) {
    case RuleType::kDomain:
    case RuleType::kDomainSuffix:
    case RuleType::kDomainKeyword:
      return put(text(i));
    case RuleType::kIpCidr:
      if (rule.length == kWide && wide_[rule.value].text != kNoText) {
        return put(text_at(wide_[rule.value].text));
      }
      if (rule.length != kWide) return write_v4(rule.value, rule.length, buffer);
      return put(prefix(i).to_string());
    case RuleType::kMatch:
      break;
  }
  return {};
}

uint32_t RuleList::store(std::string_view text) {
  text = text.substr(0, kMaxText);
  if (used_ + 1 + text.size() > kBlock) {
    texts_.push_back(std::make_unique_for_overwrite<char[]>(kBlock));
    used_ = 0;
  }
  char* to = texts_.back().get() + used_;
  *to = static_cast<char>(text.size());
  text.copy(to + 1, text.size());
  const auto at = static_cast<uint32_t>(texts_.size() - 1) * kBlock + used_;
  used_ += static_cast<uint32_t>(1 + text.size());
  return at;
}

}  // namespace culvert::route
