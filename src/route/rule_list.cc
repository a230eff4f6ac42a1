#include "route/rule_list.h"

#include <algorithm>
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

void RuleList::add(const Rule& rule, uint32_t line) {
  CULVERT_CHECK(rule.outbound < TargetTable::kMaxTargets);
  const uint32_t type = is_condition(rule.type) ? kOther : static_cast<uint32_t>(rule.type);
  Packed packed{0, type, rule.no_resolve ? 1u : 0u, 0, rule.outbound};
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
    default: {
      CULVERT_CHECK(rule.condition != nullptr);
      packed.value = static_cast<uint32_t>(others_.size());
      Other other{conditions_.size(), 0, rule.type, rule.payload.size() > kMaxText};
      conditions_.append(*rule.condition);
      if (other.long_text) {
        other.text = static_cast<uint32_t>(long_texts_.size());
        long_texts_.push_back(rule.payload);
      } else {
        other.text = store(rule.payload);
      }
      others_.push_back(other);
      break;
    }
  }
  const bool in_a_row =
      !runs_.empty() &&
      line == (runs_.back().line == 0 ? 0 : runs_.back().line + (size() - runs_.back().rule));
  if (!in_a_row) runs_.push_back({size(), line});
  rules_.push_back(packed);
}

void RuleList::shrink_to_fit() {
  rules_.shrink_to_fit();
  wide_.shrink_to_fit();
  others_.shrink_to_fit();
  long_texts_.shrink_to_fit();
  conditions_.shrink_to_fit();
  runs_.shrink_to_fit();
}

bool RuleList::may_ask(uint32_t i) const {
  const Packed& rule = rules_[i];
  if (rule.type != kOther) return type(i) == RuleType::kIpCidr && !no_resolve(i);
  return conditions_.may_ask(others_[rule.value].first, tests(rule.value));
}

uint32_t RuleList::line(uint32_t i) const {
  const auto next = std::ranges::upper_bound(runs_, i, {}, &Run::rule);
  const Run& run = *(next - 1);
  return run.line == 0 ? 0 : run.line + (i - run.rule);
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
      return {};
    default: {
      const Other& other = others_[rule.value];
      return put(other.long_text ? std::string_view(long_texts_[other.text]) : text_at(other.text));
    }
  }
}

std::string RuleList::payload(uint32_t i) const {
  if (const Packed& rule = rules_[i]; rule.type == kOther && others_[rule.value].long_text) {
    return long_texts_[others_[rule.value].text];
  }
  Text buffer;
  return std::string(payload(i, buffer));
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
