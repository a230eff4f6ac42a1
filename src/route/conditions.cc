#include "route/conditions.h"

#include <algorithm>

namespace culvert::route {
namespace {

constexpr uint32_t pack(PortRange range) {
  return uint32_t{range.first} << 16 | range.last;
}

constexpr bool in(uint32_t packed, uint16_t port) {
  return port >= packed >> 16 && port <= (packed & 0xffff);
}

}  // namespace

Conditions::Verdict Conditions::judge(uint32_t first, const flow::FlowMeta& meta,
                                      const Facts& facts) const {
  const Test* const tests = tests_.data() + first;
  const std::string_view host = meta.host_name();
  Next at = 0;
  do {
    const Test& test = tests[at];
    bool holds = false;
    switch (test.type) {
      case RuleType::kDomain:
        holds = !host.empty() && host == text(test);
        break;
      case RuleType::kDomainSuffix:
        holds = ends_with_domain(host, text(test));
        break;
      case RuleType::kDomainKeyword:
        holds = host.find(text(test)) != std::string_view::npos;
        break;
      case RuleType::kIpCidr: {
        const IpAddress& address = meta.address();
        if (address.valid()) {
          holds = contains(test, address);
        } else if (!test.no_resolve && !facts.ip_known && !host.empty()) {
          return Verdict::kNeedIp;
        }
        break;
      }
      case RuleType::kSrcIpCidr:
        holds = has_source(test, meta.source.ip);
        break;
      case RuleType::kSrcPort:
        holds = has_port(test, meta.source.port);
        break;
      case RuleType::kDstPort:
        holds = has_port(test, meta.destination.port);
        break;
      case RuleType::kInPort:
        holds = has_port(test, meta.inbound_port);
        break;
      case RuleType::kInType:
        holds = (test.value >> static_cast<uint32_t>(meta.inbound_type) & 1) != 0;
        break;
      case RuleType::kNetwork:
        holds = (test.value >> static_cast<uint32_t>(meta.network) & 1) != 0;
        break;
      case RuleType::kInName:
        holds = has_alternative(test, facts.inbound_name);
        break;
      case RuleType::kInUser:
        holds = has_alternative(test, facts.user_name);
        break;
      case RuleType::kMatch:
      case RuleType::kAnd:
      case RuleType::kOr:
      case RuleType::kNot:
        break;  // none is ever a test
    }
    at = holds ? test.on_yes : test.on_no;
  } while (at < kNo);
  return at == kYes ? Verdict::kYes : Verdict::kNo;
}

bool Conditions::may_ask(uint32_t first, uint32_t tests) const {
  return std::any_of(tests_.begin() + first, tests_.begin() + first + tests, [](const Test& test) {
    return test.type == RuleType::kIpCidr && !test.no_resolve;
  });
}

bool Conditions::contains(const Test& test, const IpAddress& address) const {
  if (test.apart) return prefixes_[test.value].contains(address);
  // Shifted in 64 bits, where a length of 0 shifts everything out.
  return address.is_v4() && (uint64_t{test.value ^ address.v4_value()} >> (32 - test.count)) == 0;
}

bool Conditions::has_source(const Test& test, const IpAddress& source) const {
  // A listener for both families sees an IPv4 client under its mapped address.
  return contains(test, source.is_v6() ? source.unmapped() : source);
}

bool Conditions::has_port(const Test& test, uint16_t port) const {
  if (!test.apart) return in(test.value, port);
  const auto begin = ranges_.begin() + test.value;
  return std::any_of(begin, begin + test.count, [&](const PortRange& range) {
    return port >= range.first && port <= range.last;
  });
}

bool Conditions::has_alternative(const Test& test, std::string_view name) const {
  if (name.empty()) return false;
  std::string_view rest = text(test);
  while (true) {
    const size_t slash = rest.find('/');
    if (rest.substr(0, slash) == name) return true;
    if (slash == std::string_view::npos) return false;
    rest.remove_prefix(slash + 1);
  }
}

void Conditions::clear() {
  tests_.clear();
  texts_.clear();
  prefixes_.clear();
  ranges_.clear();
}

void Conditions::append(const Conditions& other) {
  const auto texts = static_cast<uint32_t>(texts_.size());
  const auto prefixes = static_cast<uint32_t>(prefixes_.size());
  const auto ranges = static_cast<uint32_t>(ranges_.size());
  for (Test test : other.tests_) {
    switch (test.type) {
      case RuleType::kDomain:
      case RuleType::kDomainSuffix:
      case RuleType::kDomainKeyword:
      case RuleType::kInName:
      case RuleType::kInUser:
        test.value += texts;
        break;
      case RuleType::kIpCidr:
      case RuleType::kSrcIpCidr:
        if (test.apart) test.value += prefixes;
        break;
      case RuleType::kSrcPort:
      case RuleType::kDstPort:
      case RuleType::kInPort:
        if (test.apart) test.value += ranges;
        break;
      case RuleType::kInType:
      case RuleType::kNetwork:
      case RuleType::kMatch:
      case RuleType::kAnd:
      case RuleType::kOr:
      case RuleType::kNot:
        break;
    }
    tests_.push_back(test);
  }
  texts_ += other.texts_;
  prefixes_.insert(prefixes_.end(), other.prefixes_.begin(), other.prefixes_.end());
  ranges_.insert(ranges_.end(), other.ranges_.begin(), other.ranges_.end());
}

void Conditions::shrink_to_fit() {
  tests_.shrink_to_fit();
  texts_.shrink_to_fit();
  prefixes_.shrink_to_fit();
  ranges_.shrink_to_fit();
}

Conditions::Test& Conditions::add(RuleType type, Next on_yes, Next on_no) {
  Test& test = tests_.emplace_back();
  test.type = type;
  test.on_yes = on_yes;
  test.on_no = on_no;
  return test;
}

void Conditions::keep_text(Test& test, std::string_view text) {
  test.value = static_cast<uint32_t>(texts_.size());
  test.count = static_cast<uint32_t>(text.size());
  texts_ += text;
}

void Conditions::add_name(RuleType type, std::string_view name, Next on_yes, Next on_no) {
  keep_text(add(type, on_yes, on_no), name);
}

void Conditions::add_alternatives(RuleType type, std::string_view alternatives, Next on_yes,
                                  Next on_no) {
  keep_text(add(type, on_yes, on_no), alternatives);
}

void Conditions::add_prefix(RuleType type, const Prefix& prefix, bool no_resolve, Next on_yes,
                            Next on_no) {
  Test& test = add(type, on_yes, on_no);
  test.no_resolve = no_resolve;
  if (prefix.ip.is_v4()) {
    test.value = prefix.ip.v4_value();
    test.count = prefix.length;
    return;
  }
  test.apart = true;
  test.value = static_cast<uint32_t>(prefixes_.size());
  prefixes_.push_back(prefix);
}

void Conditions::add_ports(RuleType type, const std::vector<PortRange>& ranges, Next on_yes,
                           Next on_no) {
  Test& test = add(type, on_yes, on_no);
  test.count = static_cast<uint32_t>(ranges.size());
  if (ranges.size() == 1) {
    test.value = pack(ranges.front());
    return;
  }
  test.apart = true;
  test.value = static_cast<uint32_t>(ranges_.size());
  ranges_.insert(ranges_.end(), ranges.begin(), ranges.end());
}

void Conditions::add_mask(RuleType type, uint32_t mask, Next on_yes, Next on_no) {
  add(type, on_yes, on_no).value = mask;
}

void Conditions::set_jumps(uint32_t test, Jumps jumps) {
  tests_[test].on_yes = jumps.on_yes;
  tests_[test].on_no = jumps.on_no;
}

}  // namespace culvert::route
