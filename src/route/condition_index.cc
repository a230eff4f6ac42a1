#include "route/condition_index.h"

#include <algorithm>
#include <array>
#include <bit>

namespace culvert::route {
namespace {

// Up to so many are judged without a look at their signatures, which is faster.
constexpr size_t kJudged = 4;

}  // namespace

void ConditionIndex::Rows::set(size_t member, uint64_t classes) {
  const uint64_t bit = uint64_t{1} << (member % 64);
  const auto put = [&](size_t row) { bits_[row * words_ + member / 64] |= bit; };
  if (classes == 0) put(kClasses);
  for (size_t row = 0; row < kClasses; ++row) {
    if (classes == 0 || (classes >> row & 1) != 0) put(row);
  }
}

ConditionIndex::ConditionIndex(const RuleList& rules, const Disabled* disabled, uint32_t end)
    : rules_(rules) {
  for (uint32_t i = 0; i < end && rules.has_conditions(); ++i) {
    if (is_condition(rules.type(i)) && !is_disabled(disabled, i)) members_.push_back({i, 0});
  }
  members_.shrink_to_fit();
  if (members_.size() <= kJudged) return;
  for (Rows* rows : {&names_, &ports_, &sources_, &networks_, &inbounds_}) {
    rows->resize(members_.size());
  }
  for (size_t i = 0; i < members_.size(); ++i) {
    const Signature signature = rules.signature(members_[i].rule);
    members_[i].letters = signature.letters;
    wants_names_ = wants_names_ || signature.names != 0;
    wants_letters_ = wants_letters_ || signature.letters != 0;
    names_.set(i, signature.names);
    ports_.set(i, signature.ports);
    sources_.set(i, signature.sources);
    // One that can hold for none is in none of the rows; 0 would stand for all.
    if (signature.networks != 0) networks_.set(i, signature.networks);
    if (signature.inbounds != 0) inbounds_.set(i, signature.inbounds);
  }
}

ConditionIndex::Found ConditionIndex::search(const flow::FlowMeta& meta, const Facts& facts,
                                             const HostClasses& classes, uint32_t from,
                                             uint32_t limit) const {
  using Verdict = Conditions::Verdict;
  size_t first = 0;
  if (from != 0) {
    first = static_cast<size_t>(std::ranges::lower_bound(members_, from, {}, &Member::rule) -
                                members_.begin());
  }
  if (members_.size() <= kJudged) {
    for (size_t i = first; i < members_.size() && members_[i].rule < limit; ++i) {
      const Verdict verdict = rules_.judge(members_[i].rule, meta, facts);
      if (verdict != Verdict::kNo) return {members_[i].rule, verdict};
    }
    return {limit, Verdict::kNo};
  }
  const uint64_t letters = classes.letters;
  std::array<const uint64_t*, kClasses> names;
  size_t domains = 0;
  for (uint64_t left = classes.names; left != 0; left &= left - 1) {
    names[domains++] = names_.of(static_cast<size_t>(std::countr_zero(left)));
  }
  const auto row = [](const Rows& rows, uint64_t class_of_flow) {
    return rows.of(static_cast<size_t>(std::countr_zero(class_of_flow)));
  };
  const IpAddress& source = meta.source.ip;
  const uint64_t* const sources =
      source.valid() ? row(sources_, source_class(source.is_v6() ? source.unmapped() : source))
                     : sources_.of_none();
  const uint64_t* const ports = row(ports_, port_class(meta.destination.port));
  const uint64_t* const networks = networks_.of(static_cast<size_t>(meta.network));
  const uint64_t* const inbounds = inbounds_.of(static_cast<size_t>(meta.inbound_type));
  const uint64_t* const any_name = names_.of_none();
  for (size_t word = first / 64; word < names_.words(); ++word) {
    if (members_[word * 64].rule >= limit) break;
    uint64_t left = any_name[word];
    for (size_t i = 0; i < domains; ++i) left |= names[i][word];
    left &= sources[word] & ports[word] & networks[word] & inbounds[word];
    if (word == first / 64) left &= ~uint64_t{0} << (first % 64);
    for (; left != 0; left &= left - 1) {
      const Member& member = members_[word * 64 + static_cast<size_t>(std::countr_zero(left))];
      if (member.rule >= limit) break;
      if ((letters & member.letters) != member.letters) continue;
      const Verdict verdict = rules_.judge(member.rule, meta, facts);
      if (verdict != Verdict::kNo) return {member.rule, verdict};
    }
  }
  return {limit, Verdict::kNo};
}

}  // namespace culvert::route
