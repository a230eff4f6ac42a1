#include "route/name_index.h"

#include <algorithm>
#include <utility>

#include "route/signature.h"

namespace culvert::route {
namespace {

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
  // Four in five slots taken and eight bits a name: 11 bytes a name, and one in nine names that are
  // not there are looked for in the slots.
  slots_.assign(names + names / 4 + 1, Slot{0, kFree});
  filter_.assign(names / 8 + 1, 0);
  filter_bits_ = filter_.size() * 64;
  for (uint32_t i = 0; i < end; ++i) {
    if (!applies(i)) continue;
    const RuleType type = rules.type(i);
    const std::string_view name = rules.text(i);
    const uint64_t hash = hash_of(name).value(type);
    Slot& slot = slots_[look(hash, type, name)];
    if (slot.rule != kFree) continue;  // an earlier rule has the name
    slot = {static_cast<uint32_t>(hash), i};
    const uint64_t bit = filter_place(hash);
    filter_[bit / 64] |= uint64_t{1} << (bit % 64);
  }
}

size_t NameIndex::look(uint64_t hash, RuleType type, std::string_view name) const {
  const auto tag = static_cast<uint32_t>(hash);
  size_t at = place(hash, slots_.size());
  while (slots_[at].rule != kFree) {
    const Slot& slot = slots_[at];
    if (slot.tag == tag && rules_.type(slot.rule) == type && rules_.text(slot.rule) == name) break;
    at = at + 1 == slots_.size() ? 0 : at + 1;
  }
  return at;
}

uint32_t NameIndex::find(std::string_view host, uint32_t limit, uint64_t* classes) const {
  if (slots_.empty()) {
    if (classes != nullptr) *classes = name_classes(host);
    return limit;
  }
  SuffixHash hash;
  uint64_t seen = 0;
  const auto ask = [&](RuleType type, size_t at) {
    const uint64_t value = hash.value(type);
    const uint64_t bit = filter_place(value);
    if ((filter_[bit / 64] >> (bit % 64) & 1) == 0) return;
    const Slot& slot = slots_[look(value, type, {host.data() + at, host.size() - at})];
    if (slot.rule < limit) limit = slot.rule;  // kFree is not
  };
  for (size_t i = host.size(); i > 0; --i) {
    if (host[i - 1] == '.') {
      seen |= hash.class_bit();
      ask(RuleType::kDomainSuffix, i);
    }
    hash.add(host[i - 1]);
  }
  seen |= hash.class_bit();
  ask(RuleType::kDomainSuffix, 0);
  ask(RuleType::kDomain, 0);
  if (classes != nullptr) *classes = seen;
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
  static_assert(RuleList::kMaxText < 1 << 8);
  // Filed under the three letters that the fewest have so far: keywords that begin alike would else
  // be compared one by one with every host that has their beginning.
  starts_.assign((size_t{1} << bits) + 1, 0);
  struct Place {
    uint32_t hash;
    uint32_t offset;
  };
  std::vector<Place> places;
  places.reserve(long_ones.size());
  for (const uint32_t rule : long_ones) {
    Place best{0, UINT32_MAX};
    each_letters(rules.text(rule), [&](uint32_t hash, size_t at) {
      if (best.offset == UINT32_MAX || starts_[hash >> shift_] < starts_[best.hash >> shift_]) {
        best = {hash, static_cast<uint32_t>(at)};
      }
    });
    places.push_back(best);
    ++starts_[best.hash >> shift_];
  }
  uint32_t sum = 0;
  for (uint32_t& start : starts_) sum += std::exchange(start, sum);
  filed_.resize(long_ones.size());
  std::vector<uint32_t> next(starts_);
  for (size_t i = 0; i < long_ones.size(); ++i) {
    const auto [hash, offset] = places[i];
    filed_[next[hash >> shift_]++] = {long_ones[i], hash | offset};
  }
}

uint32_t KeywordIndex::find(std::string_view host, uint32_t limit, uint64_t* classes) const {
  for (const uint32_t rule : short_) {
    if (rule >= limit) break;
    if (host.find(rules_.text(rule)) != std::string_view::npos) limit = rule;
  }
  if (filed_.empty()) {
    if (classes != nullptr) *classes = letter_classes(host);
    return limit;
  }
  uint64_t seen = 0;
  each_letters(host, [&](uint32_t hash, size_t at) {
    seen |= letters_class(hash);
    const uint32_t* const bucket = starts_.data() + (hash >> shift_);
    for (uint32_t i = bucket[0]; i < bucket[1]; ++i) {
      const auto [rule, hash_and_offset] = filed_[i];
      if (rule >= limit) break;
      const uint32_t offset = hash_and_offset - hash;
      if (offset > std::min(at, RuleList::kMaxText)) continue;  // also for other letters
      if (host.substr(at - offset).starts_with(rules_.text(rule))) limit = rule;
    }
  });
  if (classes != nullptr) *classes = seen;
  return limit;
}

}  // namespace culvert::route
