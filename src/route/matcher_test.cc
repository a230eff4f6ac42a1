#include "route/matcher.h"

#include <gtest/gtest.h>

#include "base/format.h"
#include "base/rng.h"

namespace culvert::route {
namespace {

const std::vector<std::string> kTargets{"DIRECT", "REJECT", "P1", "P2", "P3"};

Tables compile(std::initializer_list<const char*> lines) {
  std::vector<Rule> rules;
  Diagnostics diagnostics;
  size_t i = 0;
  for (const char* line : lines) {
    Rule rule;
    EXPECT_TRUE(parse_rule({line, 1, 1}, "test", i++, kTargets, rule, diagnostics))
        << diagnostics.to_string();
    rules.push_back(rule);
  }
  return Tables(rules);
}

std::string error_of(const char* line) {
  Rule rule;
  Diagnostics diagnostics;
  if (parse_rule({line, 7, 5}, "config.yaml", 3, kTargets, rule, diagnostics)) return "";
  return diagnostics.entries().front().to_string();
}

flow::FlowMeta to_host(std::string_view host) {
  flow::FlowMeta meta;
  meta.destination.port = 443;
  meta.set_host(host);
  return meta;
}

flow::FlowMeta to_ip(const char* ip) {
  flow::FlowMeta meta;
  meta.destination = Endpoint(*IpAddress::parse(ip), 443);
  return meta;
}

std::string target(const Tables& t, const flow::FlowMeta& meta) {
  const Decision d = t.match(meta, {}, 0);
  switch (d.kind) {
    case Decision::Kind::kMatched:
      return kTargets[d.outbound];
    case Decision::Kind::kNeedIp:
      return "need ip";
    default:
      return "none";
  }
}

TEST(Matcher, DomainRules) {
  const Tables t =
      compile({"DOMAIN,a.example,P1", "DOMAIN-SUFFIX,b.example,P2", "DOMAIN-KEYWORD,Key,P3"});
  EXPECT_EQ(target(t, to_host("a.example")), "P1");
  EXPECT_EQ(target(t, to_host("x.a.example")), "none");
  EXPECT_EQ(target(t, to_host("b.example")), "P2");
  EXPECT_EQ(target(t, to_host("x.b.example")), "P2");
  EXPECT_EQ(target(t, to_host("xb.example")), "none");
  EXPECT_EQ(target(t, to_host("my-key.org")), "P3");
  EXPECT_EQ(target(t, to_ip("192.0.2.1")), "none") << "an address has no name";
}

// K10, first half: case and international spelling do not matter.
TEST(Matcher, NamesAreComparedInOneSpelling) {
  const Tables t = compile({"DOMAIN-SUFFIX,\xe4\xb8\xad\xe5\x9b\xbd,DIRECT",
                            "DOMAIN,B\xc3\xbc"
                            "cher.Example,P1"});
  EXPECT_EQ(target(t, to_host("a.xn--fiqs8s")), "DIRECT");
  EXPECT_EQ(target(t, to_host("xn--bcher-kva.example")), "P1");
}

TEST(Matcher, AddressRulesAskForAnAddressOnce) {
  const Tables t =
      compile({"DOMAIN,first.example,P1", "IP-CIDR,198.51.100.0/24,P2,no-resolve",
               "IP-CIDR,192.0.2.0/24,P3", "IP-CIDR6,2001:db8::/32,P1", "MATCH,REJECT"});
  EXPECT_EQ(target(t, to_host("first.example")), "P1") << "no lookup before it is needed";
  flow::FlowMeta meta = to_host("x.example");
  Decision d = t.match(meta, {}, 0);
  ASSERT_EQ(d.kind, Decision::Kind::kNeedIp);
  EXPECT_EQ(d.rule, 2u);
  meta.resolved = *IpAddress::parse("192.0.2.77");
  d = t.match(meta, {.ip_known = true}, d.rule);
  EXPECT_EQ(kTargets[d.outbound], "P3");
  meta.resolved = {};
  d = t.match(meta, {.ip_known = true}, 2);
  EXPECT_EQ(kTargets[d.outbound], "REJECT") << "no address: address rules do not apply";
  EXPECT_EQ(target(t, to_ip("198.51.100.3")), "P2");
  EXPECT_EQ(target(t, to_ip("2001:db8::5")), "P1");
  EXPECT_EQ(target(t, to_ip("203.0.113.1")), "REJECT");
}

// What the tables must agree with: each rule in turn, in the plainest words.
Decision judge(const std::vector<Rule>& rules, const flow::FlowMeta& meta, const Facts& facts,
               uint32_t from) {
  const std::string host(meta.host_name());
  const std::string dotted = "." + host;
  const IpAddress& address = meta.address();
  for (uint32_t i = from; i < rules.size(); ++i) {
    const Rule& r = rules[i];
    bool hit = r.type == RuleType::kMatch;
    if (r.type == RuleType::kIpCidr && address.valid()) hit = r.prefix.contains(address);
    if (r.type == RuleType::kIpCidr && !address.valid() && !host.empty() && !r.no_resolve &&
        !facts.ip_known) {
      return {Decision::Kind::kNeedIp, i, UINT32_MAX};
    }
    if (!host.empty()) {
      hit = hit || (r.type == RuleType::kDomain && host == r.payload);
      hit = hit || (r.type == RuleType::kDomainSuffix && dotted.ends_with("." + r.payload));
      hit =
          hit || (r.type == RuleType::kDomainKeyword && host.find(r.payload) != std::string::npos);
    }
    if (hit) return {Decision::Kind::kMatched, i, r.outbound};
  }
  return {};
}

class RandomRules {
 public:
  explicit RandomRules(uint64_t seed) : rng_(seed) {}

  std::string name(size_t most) {
    static constexpr const char* kLabels[] = {"a", "b", "ab", "example", "x-a", "com", "org"};
    std::string out;
    for (size_t n = 1 + rng_.below(most); n > 0; --n) {
      out += (out.empty() ? "" : ".") + std::string(kLabels[rng_.below(std::size(kLabels))]);
    }
    return out;
  }
  // Few different ones, so that prefixes are often in one another and addresses often in prefixes.
  IpAddress address() {
    IpAddress out = rng_.below(3) == 0 ? *IpAddress::parse("2001:db8::") : IpAddress::v4(0);
    static constexpr uint8_t kBytes[] = {0, 1, 127, 128, 255};
    for (size_t i = 0; i < out.size(); i += out.is_v4() ? 1 : 5) {
      out.bytes[i] = kBytes[rng_.below(std::size(kBytes))];
    }
    return out;
  }
  std::string line(bool resolving, bool match) {
    const char* target = kTargets[rng_.below(kTargets.size())].c_str();
    switch (rng_.below(match ? 12 : 11)) {
      case 0:
      case 1:
        return format("DOMAIN,{},{}", name(4), target);
      case 2:
      case 3:
        return format("DOMAIN-SUFFIX,{},{}", name(3), target);
      case 4: {
        const std::string text = name(2);
        const size_t from = rng_.below(text.size());
        return format("DOMAIN-KEYWORD,{},{}", text.substr(from, 1 + rng_.below(6)), target);
      }
      case 11:
        return format("MATCH,{}", target);
      default: {
        const IpAddress ip = address();
        const bool asks = resolving && rng_.below(8) == 0;
        return format("IP-CIDR,{}/{},{}{}", ip.to_string(), rng_.below(ip.size() * 8 + 1), target,
                      asks ? "" : ",no-resolve");
      }
    }
  }
  uint64_t below(uint64_t bound) { return rng_.below(bound); }

 private:
  SeededRng rng_;
};

// Whatever is looked up instead of walked gives what walking gives, and asks for an address exactly
// where walking asks.
TEST(Matcher, AgreesWithRulesInTurn) {
  size_t asked = 0, went_on = 0, matched = 0;
  for (uint64_t seed = 0; seed < 400; ++seed) {
    RandomRules random(seed);
    std::vector<Rule> rules(random.below(seed % 4 == 0 ? 12 : 120));
    Diagnostics diagnostics;
    for (Rule& rule : rules) {
      const std::string line = random.line(seed % 3 != 0, seed % 5 == 0);
      ASSERT_TRUE(parse_rule({line, 1, 1}, "test", 0, kTargets, rule, diagnostics))
          << diagnostics.to_string();
    }
    if (seed % 2 == 0) rules.emplace_back();
    const Tables tables(rules);
    for (int flow = 0; flow < 200; ++flow) {
      const std::string host = random.name(5);
      flow::FlowMeta meta;
      if (random.below(3) != 0) meta.set_host(host);
      if (meta.host_length == 0 || random.below(8) == 0) meta.destination.ip = random.address();
      Facts facts{.ip_known = random.below(6) == 0};
      if (facts.ip_known && random.below(2) == 0) meta.resolved = random.address();
      auto from = static_cast<uint32_t>(random.below(4) == 0 ? random.below(rules.size() + 2) : 0);
      while (true) {
        const Decision expected = judge(rules, meta, facts, from);
        const Decision found = tables.match(meta, facts, from);
        ASSERT_EQ(found.kind, expected.kind) << "seed " << seed << " flow " << flow;
        ASSERT_EQ(found.rule, expected.rule) << "seed " << seed << " flow " << flow;
        ASSERT_EQ(found.outbound, expected.outbound) << "seed " << seed << " flow " << flow;
        matched += found.kind == Decision::Kind::kMatched ? 1 : 0;
        if (found.kind != Decision::Kind::kNeedIp) break;
        ++asked;
        ASSERT_FALSE(facts.ip_known) << "asked twice";
        facts.ip_known = true;
        if (random.below(4) != 0) meta.resolved = random.address();
        from = random.below(8) == 0 ? 0 : found.rule;
        went_on += from != 0 ? 1 : 0;
      }
    }
  }
  EXPECT_GT(asked, 1000u);
  EXPECT_GT(went_on, 500u);
  EXPECT_GT(matched, 10000u);
}

TEST(Matcher, PrefixesAtBothEndsOfTheAddresses) {
  const char* const lines[] = {"IP-CIDR,255.255.255.255/32,P1", "IP-CIDR,255.0.0.0/8,P2",
                               "IP-CIDR,0.0.0.0/32,P3",         "IP-CIDR,0.0.0.0/9,REJECT",
                               "IP-CIDR,128.0.0.0/1,DIRECT",    "IP-CIDR,10.1.0.0/16,P1",
                               "IP-CIDR,10.0.0.0/8,P2",         "IP-CIDR,10.1.2.0/24,P3",
                               "IP-CIDR6,ffff::/16,P1",         "IP-CIDR6,::/0,P2"};
  std::vector<Rule> rules;
  Diagnostics diagnostics;
  for (const char* line : lines) {
    ASSERT_TRUE(parse_rule({line, 1, 1}, "test", 0, kTargets, rules.emplace_back(), diagnostics));
  }
  const Tables t(rules);
  EXPECT_EQ(target(t, to_ip("255.255.255.255")), "P1");
  EXPECT_EQ(target(t, to_ip("255.255.255.254")), "P2");
  EXPECT_EQ(target(t, to_ip("254.255.255.255")), "DIRECT");
  EXPECT_EQ(target(t, to_ip("0.0.0.0")), "P3");
  EXPECT_EQ(target(t, to_ip("0.0.0.1")), "REJECT");
  EXPECT_EQ(target(t, to_ip("0.128.0.0")), "none");
  EXPECT_EQ(target(t, to_ip("10.1.2.3")), "P1") << "the first that matches, not the narrowest";
  EXPECT_EQ(target(t, to_ip("10.2.0.0")), "P2");
  EXPECT_EQ(target(t, to_ip("11.0.0.0")), "none");
  EXPECT_EQ(target(t, to_ip("ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff")), "P1");
  EXPECT_EQ(target(t, to_ip("fffe::")), "P2");
}

TEST(Rule, ToleratesSpacesCaseAndATrailingComma) {
  EXPECT_EQ(error_of("IP-CIDR,192.0.2.0/24,DIRECT,no-resolve,"), "");
  EXPECT_EQ(error_of(" match , DIRECT "), "");
  EXPECT_EQ(error_of("domain,a.example,P1"), "");
  EXPECT_EQ(error_of("Domain-Suffix\t, a.example ,\tP1 , , ,\r"), "");
}

// K08 and everything else that is not a rule.
TEST(Rule, SaysWhatIsWrongAndWhere) {
  EXPECT_EQ(
      error_of("IP-CIDR,192.0.2.0/24,no-resolve"),
      "config.yaml:7:5: error: rules[3]: found 'IP-CIDR,192.0.2.0/24,no-resolve', expected an "
      "existing target instead of 'no-resolve'");
  EXPECT_NE(error_of("DOMAIN,a.example,NOPE").find("instead of 'NOPE'"), std::string::npos);
  EXPECT_NE(error_of("DOMAIN,a.example").find("TYPE,payload,target"), std::string::npos);
  EXPECT_NE(error_of("MATCH").find("MATCH,target"), std::string::npos);
  EXPECT_NE(error_of("FOO,a,DIRECT").find("a rule type such as"), std::string::npos);
  EXPECT_NE(error_of("GEOIP,CN,DIRECT").find("this version supports (not GEOIP)"),
            std::string::npos);
  EXPECT_NE(error_of("IP-CIDR,192.0.2.0,DIRECT").find("a prefix such as"), std::string::npos);
  EXPECT_NE(error_of("IP-CIDR,a.example/8,DIRECT").find("a prefix such as"), std::string::npos);
  const std::string label(63, 'l');
  EXPECT_EQ(error_of(("DOMAIN," + label + "." + label + ".example.,DIRECT").c_str()), "");
  EXPECT_NE(error_of(("DOMAIN,l" + label + ".example,DIRECT").c_str()).find("a domain name"),
            std::string::npos);
  EXPECT_NE(
      error_of(("DOMAIN," + label + "." + label + "." + label + "." + label + ",DIRECT").c_str())
          .find("a domain name"),
      std::string::npos);
  EXPECT_NE(error_of("DOMAIN,.example,DIRECT").find("a domain name"), std::string::npos);
  EXPECT_NE(error_of("DOMAIN,,DIRECT").find("a domain name"), std::string::npos);
  EXPECT_NE(error_of("geoIP,CN,DIRECT").find("(not GEOIP)"), std::string::npos);
  EXPECT_NE(error_of("DOMAIN,,").find("TYPE,payload,target"), std::string::npos);
  EXPECT_NE(error_of("DOMAIN,a..example,DIRECT").find("a domain name"), std::string::npos);
  EXPECT_NE(error_of("DOMAIN,a.example,DIRECT,extra").find("no parameter 'extra'"),
            std::string::npos);
  EXPECT_NE(error_of("DOMAIN,a.example,DIRECT,no-resolve").find("no parameter"), std::string::npos);
  EXPECT_NE(error_of("").find("a rule type"), std::string::npos);
}

}  // namespace
}  // namespace culvert::route
