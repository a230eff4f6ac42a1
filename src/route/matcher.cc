#include "route/matcher.h"

#include <algorithm>

namespace culvert::route {
namespace {

// Up to so many rules before MATCH are looked at one by one, which is faster than to look them up.
constexpr uint32_t kWalked = 8;

bool ends_with_domain(std::string_view host, std::string_view suffix) {
  if (!host.ends_with(suffix)) return false;
  const size_t at = host.size() - suffix.size();
  return at == 0 || host[at - 1] == '.';
}

// The first rule that wants a name resolved, or UINT32_MAX.
uint32_t first_asking(const RuleList& rules, uint32_t end) {
  for (uint32_t i = 0; i < end; ++i) {
    if (rules.type(i) == RuleType::kIpCidr && !rules.no_resolve(i)) return i;
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

Tables::Tables(std::shared_ptr<const RuleList> rules) : rules_(std::move(rules)) {
  uint32_t i = 0;
  while (i < rules_->size() && rules_->type(i) != RuleType::kMatch) ++i;
  if (i < rules_->size()) match_all_ = i;
  if (i > kWalked) index_ = std::make_unique<const Index>(*rules_, i);
}

Tables::Index::Index(const RuleList& rules, uint32_t end)
    : asking(first_asking(rules, end)),
      names(rules, end),
      keywords(rules, end),
      before_asking(rules, 0, std::min(asking, end)),
      from_asking(rules, std::min(asking, end), end) {}

uint32_t Tables::find(const flow::FlowMeta& meta, const Facts& facts, uint32_t from_rule) const {
  // Flows begin at the first rule and go on at the one that asked.
  if (index_ == nullptr || (from_rule != 0 && from_rule != index_->asking)) {
    return walk(meta, facts, from_rule);
  }
  const std::string_view host = meta.host_name();
  const IpAddress& address = meta.address();
  uint32_t found = match_all_;
  if (!host.empty()) {
    found = index_->names.find(host, found);
    found = index_->keywords.find(host, found);
  }
  if (address.valid()) {
    if (from_rule == 0) found = index_->before_asking.find(address, found);
    found = index_->from_asking.find(address, found);
  } else if (index_->asking < found && !facts.ip_known && !host.empty()) {
    return index_->asking | kAsk;
  }
  // A name that matches before `from_rule` says nothing about those behind it.
  return found >= from_rule ? found : walk(meta, facts, from_rule);
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
        hit = !host.empty() && ends_with_domain(host, rules.text(i));
        break;
      case RuleType::kDomainKeyword:
        hit = host.find(rules.text(i)) != std::string_view::npos;
        break;
      case RuleType::kIpCidr:
        if (!address.valid()) {
          if (rules.no_resolve(i) || facts.ip_known || host.empty()) break;
          return i | kAsk;
        }
        hit = rules.contains(i, address);
        break;
    }
    if (hit) return i;
  }
  return kNone;
}

}  // namespace culvert::route
