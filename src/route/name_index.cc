#include "route/name_index.h"

#include <algorithm>
#include <utility>

namespace culvert::route {
namespace {

// A name is hashed from its end, so that the hashes of all its suffixes fall out on the way.
class SuffixHash {
 public:
  void add(char c) { state_ = (state_ ^ static_cast<unsigned char>(c)) * 0x9e3779b97f4a7c15u; }
  [[nodiscard]] uint64_t value(RuleType type) const {
    const uint64_t h = (state_ ^ (state_ >> 32) ^ static_cast<uint64_t>(type)) * kMix;
    return h ^ (h >> 29);
  }

 private:
  static constexpr uint64_t kMix = 0xd6e8feb86659fd93u;
  uint64_t state_ = 0x243f6a8885a308d3u;
};

uint64_t hash_of(RuleType type, std::string_view name) {
  SuffixHash hash;
  for (size_t i = name.size(); i > 0; --i) hash.add(name[i - 1]);
  return hash.value(type);
}

bool compares_names(RuleType type) {
  return type == RuleType::kDomain || type == RuleType::kDomainSuffix;
}

// Any size of table will do: the upper half of a hash, scaled.
size_t place(uint64_t hash, size_t slots) {
  return static_cast<size_t>((hash >> 32) * slots >> 32);
}

}  // namespace

NameIndex::NameIndex(const RuleList& rules, const Disabled* disabled, uint32_t end)
    : rules_(rules) {
  const auto applies = [&](uint32_t i) {
    return compares_names(rules.type(i)) && !is_disabled(disabled, i);
  };
  size_t names = 0;
  for (uint32_t i = 0; i < end; ++i) names += applies(i) ? 1 : 0;
  if (names == 0) return;
  // Two in three slots taken: 12 bytes a name, and two slots looked at for one that is not there.
  slots_.assign(names + names / 2 + 1, Slot{0, kFree});
  for (uint32_t i = 0; i < end; ++i) {
    if (!applies(i)) continue;
    const std::string_view name = rules.text(i);
    const uint64_t hash = hash_of(rules.type(i), name);
    if (look(hash, rules.type(i), name) != nullptr) continue;  // an earlier rule has the name
    size_t at = place(hash, slots_.size());
    while (slots_[at].rule != kFree) at = at + 1 == slots_.size() ? 0 : at + 1;
    slots_[at] = {static_cast<uint32_t>(hash), i};
  }
}

const NameIndex::Slot* NameIndex::look(uint64_t hash, RuleType type, std::string_view name) const {
  const auto tag = static_cast<uint32_t>(hash);
  for (size_t at = place(hash, slots_.size()); slots_[at].rule != kFree;) {
    const Slot& slot = slots_[at];
    if (slot.tag == tag && rules_.type(slot.rule) == type && rules_.text(slot.rule) == name) {
      return &slot;
    }
    at = at + 1 == slots_.size() ? 0 : at + 1;
  }
  return nullptr;
}

uint32_t NameIndex::find(std::string_view host, uint32_t limit) const {
  if (slots_.empty()) return limit;
  SuffixHash hash;
  const auto ask = [&](RuleType type, std::string_view name) {
    const Slot* slot = look(hash.value(type), type, name);
    if (slot != nullptr && slot->rule < limit) limit = slot->rule;
  };
  for (size_t i = host.size(); i > 0; --i) {
    if (host[i - 1] == '.') ask(RuleType::kDomainSuffix, host.substr(i));
    hash.add(host[i - 1]);
  }
  ask(RuleType::kDomainSuffix, host);
  ask(RuleType::kDomain, host);
  return limit;
}

KeywordIndex::KeywordIndex(const RuleList& rules, const Disabled* disabled, uint32_t end)
    : rules_(rules) {
  std::vector<uint32_t> long_ones;
  for (uint32_t i = 0; i < end; ++i) {
    if (rules.type(i) != RuleType::kDomainKeyword || is_disabled(disabled, i)) continue;
    (rules.text(i).size() < kLetters ? short_ : long_ones).push_back(i);
  }
  if (long_ones.empty()) return;
  // Eight buckets a keyword: most letters of a host then find an empty one.
  uint32_t bits = 6;
  while (bits < 20 && (size_t{1} << bits) < 8 * long_ones.size()) ++bits;
  shift_ = 32 - bits;
  // Filed under the three letters that the fewest have so far: keywords that begin alike would else
  // be compared one by one with every host that has their beginning.
  starts_.assign((size_t{1} << bits) + 1, 0);
  std::vector<uint32_t> offsets;
  offsets.reserve(long_ones.size());
  for (const uint32_t rule : long_ones) {
    const std::string_view text = rules.text(rule);
    uint32_t best = 0;
    for (uint32_t at = 1; at + kLetters <= text.size(); ++at) {
      if (starts_[bucket(text, at)] < starts_[bucket(text, best)]) best = at;
    }
    offsets.push_back(best);
    ++starts_[bucket(text, best)];
  }
  uint32_t sum = 0;
  for (uint32_t& start : starts_) sum += std::exchange(start, sum);
  filed_.resize(long_ones.size());
  std::vector<uint32_t> next(starts_);
  for (size_t i = 0; i < long_ones.size(); ++i) {
    filed_[next[bucket(rules.text(long_ones[i]), offsets[i])]++] = {long_ones[i], offsets[i]};
  }
}

uint32_t KeywordIndex::bucket(std::string_view text, size_t at) const {
  const uint32_t letters = uint32_t{static_cast<unsigned char>(text[at])} |
                           uint32_t{static_cast<unsigned char>(text[at + 1])} << 8 |
                           uint32_t{static_cast<unsigned char>(text[at + 2])} << 16;
  return letters * 0x9e3779b1u >> shift_;
}

uint32_t KeywordIndex::find(std::string_view host, uint32_t limit) const {
  for (const uint32_t rule : short_) {
    if (rule >= limit) break;
    if (host.find(rules_.text(rule)) != std::string_view::npos) limit = rule;
  }
  if (filed_.empty()) return limit;
  for (size_t at = 0; at + kLetters <= host.size(); ++at) {
    const uint32_t b = bucket(host, at);
    for (uint32_t i = starts_[b]; i < starts_[b + 1]; ++i) {
      const auto [rule, offset] = filed_[i];
      if (rule >= limit) break;
      if (at >= offset && host.substr(at - offset).starts_with(rules_.text(rule))) limit = rule;
    }
  }
  return limit;
}

}  // namespace culvert::route
