#include "route/matcher.h"

#include <algorithm>

namespace culvert::route {
namespace {

// Up to so many rules before MATCH are looked at one by one, which is faster than to look them up.
constexpr uint32_t kWalked = 8;

// The first rule of [begin, end) that `wanted` is true of and that is not disabled, or UINT32_MAX.
template <class Wanted>
uint32_t first_rule(const Disabled* disabled, uint32_t begin, uint32_t end, const Wanted& wanted) {
  for (uint32_t i = begin; i < end; ++i) {
    if (wanted(i) && !is_disabled(disabled, i)) return i;
  }
  return UINT32_MAX;
}

std::shared_ptr<const RuleList> listed(const std::vector<Rule>& rules) {
  auto list = std::make_shared<RuleList>();
  for (const Rule& rule : rules) list->add(rule);
  return list;
}

}  // namespace

Tables::Tables(const std::vector<Rule>& rules) : Tables(listed(rules)) {}

Tables::Tables(std::shared_ptr<const RuleList> rules, std::shared_ptr<const Disabled> disabled)
    : rules_(std::move(rules)), disabled_(std::move(disabled)) {
  const uint32_t size = rules_->size();
  match_all_ = first_rule(disabled_.get(), 0, size,
                          [&](uint32_t i) { return rules_->type(i) == RuleType::kMatch; });
  const uint32_t end = std::min(match_all_, size);
  if (end > kWalked) index_ = std::make_unique<const Index>(*rules_, disabled_.get(), end);
}

Tables::Index::Index(const RuleList& rules, const Disabled* disabled, uint32_t end)
    : divided(first_rule(disabled, 0, end, [&](uint32_t i) { return rules.may_ask(i); })),
      asking(first_rule(
          disabled, divided, end,
          [&](uint32_t i) { return rules.type(i) == RuleType::kIpCidr && !rules.no_resolve(i); })),
      names(rules, disabled, end),
      keywords(rules, disabled, end),
      before_divided(rules, disabled, 0, std::min(divided, end)),
      from_divided(rules, disabled, std::min(divided, end), end),
      conditions(rules, disabled, end) {}

uint32_t Tables::find(const flow::FlowMeta& meta, const Facts& facts, uint32_t from_rule) const {
  if (index_ == nullptr) return walk(meta, facts, from_rule);
  const Index& index = *index_;
  const std::string_view host = meta.host_name();
  const IpAddress& address = meta.address();
  uint32_t found = match_all_;
  // What the conditions ask of the host falls out of the look-ups.
  HostClasses classes;
  if (!host.empty()) {
    found =
        index.names.find(host, found, index.conditions.wants_names() ? &classes.names : nullptr);
    found = index.keywords.find(host, found,
                                index.conditions.wants_letters() ? &classes.letters : nullptr);
  }
  bool asks = false;
  if (address.valid()) {
    // Flows begin at the first rule and go on at the one that asked: mostly the first that may.
    if (from_rule < index.divided) found = index.before_divided.find(address, found);
    found = index.from_divided.find(address, found);
  } else if (index.asking < found && !facts.ip_known && !host.empty()) {
    found = index.asking;
    asks = true;
  }
  // What is before `from_rule` says nothing about the rules behind it.
  if (found < from_rule) return walk(meta, facts, from_rule);
  const ConditionIndex::Found before =
      index.conditions.find(meta, facts, classes, from_rule, found);
  if (before.verdict != Conditions::Verdict::kNo) {
    return before.verdict == Conditions::Verdict::kYes ? before.rule : before.rule | kAsk;
  }
  return asks ? found | kAsk : found;
}

uint32_t Tables::walk(const flow::FlowMeta& meta, const Facts& facts, uint32_t from_rule) const {
  const std::string_view host = meta.host_name();
  const IpAddress& address = meta.address();
  const RuleList& rules = *rules_;
  for (uint32_t i = from_rule; i < rules.size(); ++i) {
    bool hit = false;
    switch (rules.type(i)) {
      case RuleType::kMatch:
        hit = true;
        break;
      case RuleType::kDomain:
        hit = !host.empty() && host == rules.text(i);
        break;
      case RuleType::kDomainSuffix:
        hit = ends_with_domain(host, rules.text(i));
        break;
      case RuleType::kDomainKeyword:
        hit = host.find(rules.text(i)) != std::string_view::npos;
        break;
      case RuleType::kIpCidr:
        if (!address.valid()) {
          if (rules.no_resolve(i) || facts.ip_known || host.empty() || is_disabled(i)) break;
          return i | kAsk;
        }
        hit = rules.contains(i, address);
        break;
      default:
        switch (rules.judge(i, meta, facts)) {
          case Conditions::Verdict::kNeedIp:
            if (is_disabled(i)) break;
            return i | kAsk;
          case Conditions::Verdict::kYes:
            hit = true;
            break;
          case Conditions::Verdict::kNo:
            break;
        }
    }
    if (hit && !is_disabled(i)) return i;
  }
  return kNone;
}

}  // namespace culvert::route
