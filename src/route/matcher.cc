#include "route/matcher.h"

namespace culvert::route {
namespace {

bool ends_with_domain(std::string_view host, std::string_view suffix) {
  if (!host.ends_with(suffix)) return false;
  const size_t at = host.size() - suffix.size();
  return at == 0 || host[at - 1] == '.';
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
}

uint32_t Tables::find(const flow::FlowMeta& meta, const Facts& facts, uint32_t from_rule) const {
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
