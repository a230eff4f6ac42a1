#include "route/matcher.h"

#include <gtest/gtest.h>

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
  return Tables(std::move(rules));
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

TEST(Rule, ToleratesSpacesCaseAndATrailingComma) {
  EXPECT_EQ(error_of("IP-CIDR,192.0.2.0/24,DIRECT,no-resolve,"), "");
  EXPECT_EQ(error_of(" match , DIRECT "), "");
  EXPECT_EQ(error_of("domain,a.example,P1"), "");
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
  EXPECT_NE(error_of("DOMAIN,a..example,DIRECT").find("a domain name"), std::string::npos);
  EXPECT_NE(error_of("DOMAIN,a.example,DIRECT,extra").find("no parameter 'extra'"),
            std::string::npos);
  EXPECT_NE(error_of("DOMAIN,a.example,DIRECT,no-resolve").find("no parameter"), std::string::npos);
  EXPECT_NE(error_of("").find("a rule type"), std::string::npos);
}

}  // namespace
}  // namespace culvert::route
