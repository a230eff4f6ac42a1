#include "route/conditions.h"

#include <algorithm>
#include <vector>

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

Signature Conditions::signature(uint32_t first, uint32_t tests) const {
  const auto begin = tests_.begin() + first;
  // Whether the condition can hold or ask when `no` says which tests do not hold and `yes` which
  // do; any other may or may not. Tests lead on only to those behind them.
  std::vector<bool> reached(tests);
  const auto possible = [&](const auto& no, const auto& yes) {
    reached.assign(tests, false);
    reached[0] = true;
    for (uint32_t i = 0; i < tests; ++i) {
      if (!reached[i]) continue;
      const Test& test = begin[i];
      if (test.type == RuleType::kIpCidr && !test.no_resolve) return true;
      for (const Next next : {yes(test) ? kNo : test.on_no, no(test) ? kNo : test.on_yes}) {
        if (next == kYes) return true;
        if (next != kNo) reached[next] = true;
      }
    }
    return false;
  };
  const auto none = [](const Test&) { return false; };
  const auto needs = [&](const auto& of_a_kind) { return !possible(of_a_kind, none); };

  Signature out;
  const auto compares_domains = [](const Test& test) {
    return test.type == RuleType::kDomain || test.type == RuleType::kDomainSuffix;
  };
  const auto is_keyword = [](const Test& test) { return test.type == RuleType::kDomainKeyword; };
  const auto is_port = [](const Test& test) { return test.type == RuleType::kDstPort; };
  const auto is_source = [](const Test& test) { return test.type == RuleType::kSrcIpCidr; };
  const bool needs_domain = needs(compares_domains), needs_keyword = needs(is_keyword);
  const bool needs_port = needs(is_port), needs_source = needs(is_source);
  if (needs_keyword) out.letters = ~uint64_t{0};
  for (auto test = begin; test != begin + tests; ++test) {
    // One of them must hold: the classes of any will do, but only letters that are in all.
    if (needs_domain && compares_domains(*test)) out.names |= name_class(text(*test));
    if (needs_keyword && is_keyword(*test)) out.letters &= letter_classes(text(*test));
    if (needs_port && is_port(*test)) out.ports |= port_classes(*test);
    if (needs_source && is_source(*test)) out.sources |= source_classes(*test);
  }
  // Of these every value is tried.
  const auto possible_for = [&](RuleType type, uint32_t value) {
    return possible(
        [&](const Test& test) { return test.type == type && (test.value >> value & 1) == 0; },
        [&](const Test& test) { return test.type == type && (test.value >> value & 1) != 0; });
  };
  const auto values_of = [&](RuleType type) {
    uint32_t values = ~uint32_t{0};
    if (std::none_of(begin, begin + tests, [&](const Test& test) { return test.type == type; })) {
      return values;
    }
    for (uint32_t value = 0; value < 32; ++value) {
      if (!possible_for(type, value)) values &= ~(uint32_t{1} << value);
    }
    return values;
  };
  out.networks = values_of(RuleType::kNetwork);
  out.inbounds = values_of(RuleType::kInType);
  return out;
}

uint64_t Conditions::port_classes(const Test& test) const {
  uint64_t out = 0;
  const auto put = [&](uint32_t first, uint32_t last) {
    if (last - first >= 63) out = ~uint64_t{0};
    for (uint32_t port = first; port <= last && out != ~uint64_t{0}; ++port) {
      out |= port_class(static_cast<uint16_t>(port));
    }
  };
  if (!test.apart) put(test.value >> 16, test.value & 0xffff);
  for (uint32_t i = 0; test.apart && i < test.count; ++i) {
    put(ranges_[test.value + i].first, ranges_[test.value + i].last);
  }
  return out;
}

uint64_t Conditions::source_classes(const Test& test) const {
  constexpr uint32_t kV4Bits = 24, kV6Bits = 48;  // what source_class() looks at
  if (test.apart) {
    const Prefix& prefix = prefixes_[test.value];
    return prefix.length >= kV6Bits ? source_class(prefix.ip) : ~uint64_t{0};
  }
  if (test.count + 6 < kV4Bits) return ~uint64_t{0};
  const uint32_t rest = test.count >= kV4Bits ? 0 : (uint32_t{1} << (kV4Bits - test.count)) - 1;
  const uint32_t network = (test.value >> (32 - kV4Bits)) & ~rest;
  uint64_t out = 0;
  for (uint32_t i = 0; i <= rest; ++i) out |= source_class(IpAddress::v4((network + i) << 8));
  return out;
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
