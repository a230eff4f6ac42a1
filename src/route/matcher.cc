#include "route/matcher.h"

#include <cstring>

namespace culvert::route {
namespace {

bool ends_with_domain(std::string_view host, const char* suffix, size_t n) {
  if (host.size() < n) return false;
  const size_t at = host.size() - n;
  if (at != 0 && host[at - 1] != '.') return false;
  return std::memcmp(host.data() + at, suffix, n) == 0;
}

}  // namespace

Tables::Tables(std::vector<Rule> rules) : rules_(std::move(rules)) {
  entries_.reserve(rules_.size());
  for (const Rule& r : rules_) {
    Entry e{r.payload.data(), r.outbound,   static_cast<uint16_t>(r.payload.size()),
            r.type,           r.no_resolve, 0};
    if (r.type == RuleType::kIpCidr) {
      e.prefix = static_cast<uint32_t>(prefixes_.size());
      prefixes_.push_back(r.prefix);
    }
    if (r.type == RuleType::kMatch && match_all_ == kNone) {
      match_all_ = static_cast<uint32_t>(entries_.size());
    }
    entries_.push_back(e);
  }
}

uint32_t Tables::find(const flow::FlowMeta& meta, const Facts& facts, uint32_t from_rule) const {
  const std::string_view host = meta.host_name();
  const IpAddress& address = meta.address();
  const auto count = static_cast<uint32_t>(entries_.size());
  for (uint32_t i = from_rule; i < count; ++i) {
    const Entry& e = entries_[i];
    bool hit = false;
    switch (e.type) {
      case RuleType::kMatch:
        hit = true;
        break;
      case RuleType::kDomain:
        hit = host.size() == e.length && !host.empty() &&
              std::memcmp(host.data(), e.text, e.length) == 0;
        break;
      case RuleType::kDomainSuffix:
        hit = !host.empty() && ends_with_domain(host, e.text, e.length);
        break;
      case RuleType::kDomainKeyword:
        hit = host.find(std::string_view(e.text, e.length)) != std::string_view::npos;
        break;
      case RuleType::kIpCidr:
        if (!address.valid()) {
          if (e.no_resolve || facts.ip_known || host.empty()) break;
          return i | kAsk;
        }
        hit = prefixes_[e.prefix].contains(address);
        break;
    }
    if (hit) return i;
  }
  return kNone;
}

}  // namespace culvert::route
