#include "route/rule_list.h"

#include <gtest/gtest.h>

namespace culvert::route {
namespace {

RuleList listed(std::initializer_list<std::string> lines) {
  RuleList list;
  Rule rule;
  TargetTable targets;
  EXPECT_EQ(targets.define("P1"), kBuiltInTargets);
  Diagnostics diagnostics;
  for (const std::string& line : lines) {
    EXPECT_TRUE(parse_rule({line, 1, 1}, "test", list.size(), targets, rule, diagnostics))
        << diagnostics.to_string();
    list.add(rule);
  }
  return list;
}

std::string payload(const RuleList& list, uint32_t i) {
  RuleList::Text buffer;
  return std::string(list.payload(i, buffer));
}

TEST(RuleList, ShowsPayloadsAsTheyWereWritten) {
  const std::string longest(RuleList::kMaxText, 'k');
  const RuleList list =
      listed({"DOMAIN,A.Example,REJECT", "DOMAIN-SUFFIX,b.example,P1", "DOMAIN-KEYWORD,Key,DIRECT",
              "IP-CIDR,192.0.2.7/24,P1,no-resolve", "IP-CIDR,0.0.0.0/0,REJECT",
              "IP-CIDR,255.255.255.255/32,DIRECT", "IP-CIDR6,2001:db8::/32,P1,no-resolve",
              "IP-CIDR6,2001:DB8:0:0::1/128,REJECT", "IP-CIDR,::ffff:192.0.2.1/120,P1",
              "DOMAIN-KEYWORD," + longest + "more,P1", "MATCH,REJECT"});
  const char* expected[] = {"a.example",
                            "b.example",
                            "key",
                            "192.0.2.7/24",
                            "0.0.0.0/0",
                            "255.255.255.255/32",
                            "2001:db8::/32",
                            "2001:DB8:0:0::1/128",
                            "::ffff:192.0.2.1/120",
                            longest.c_str(),
                            ""};
  ASSERT_EQ(list.size(), std::size(expected));
  for (uint32_t i = 0; i < list.size(); ++i) EXPECT_EQ(payload(list, i), expected[i]) << i;
  EXPECT_EQ(list.outbound(1), kBuiltInTargets);
  EXPECT_EQ(list.outbound(4), kReject);
  EXPECT_TRUE(list.no_resolve(3));
  EXPECT_FALSE(list.no_resolve(4)) << "a rule parsed into the memory of another";
  EXPECT_TRUE(list.no_resolve(6));
  EXPECT_EQ(list.prefix(3), Prefix::parse("192.0.2.7/24"));
  EXPECT_EQ(list.prefix(7), Prefix::parse("2001:db8::1/128"));
}

TEST(RuleList, ContainsAsThePrefixDoes) {
  const RuleList list =
      listed({"IP-CIDR,192.0.2.7/24,P1", "IP-CIDR,0.0.0.0/0,P1", "IP-CIDR,198.51.100.1/32,P1",
              "IP-CIDR6,2001:db8::/33,P1", "IP-CIDR6,::/0,P1"});
  for (const char* text : {"192.0.2.255", "192.0.3.0", "198.51.100.1", "198.51.100.0", "0.0.0.0",
                           "255.255.255.255", "2001:db8::1", "2001:db8:8000::", "::", "::1"}) {
    const IpAddress address = *IpAddress::parse(text);
    for (uint32_t i = 0; i < list.size(); ++i) {
      EXPECT_EQ(list.contains(i, address), list.prefix(i).contains(address)) << text << " " << i;
    }
  }
  EXPECT_FALSE(list.contains(1, IpAddress())) << "no address is in no prefix";
}

// Rules of every kind one behind the other keep their own tests and texts.
TEST(RuleList, ShowsConditions) {
  const std::string names(RuleList::kMaxText, 'n');
  const RuleList list = listed(
      {"SRC-IP-CIDR,192.0.2.0/24,P1", "ip-cidr,2001:DB8::/32,REJECT,src",
       "DST-PORT, 80/443/8000-9000 ,P1", "SRC-PORT,0,P1", "IN-PORT,65535,P1",
       "IN-TYPE,http/Socks/tun,P1", "IN-NAME,Mixed-in/b,P1", "IN-USER,Joe,P1", "NETWORK,UDP,P1",
       "NOT,((NETWORK,TCP)),P1",
       "AND,((OR,((DOMAIN,A.example),(DOMAIN-SUFFIX,b.example))),(NOT,((DST-PORT,22/80-90)))),P1",
       "or , ( ( domain-keyword , Key ) , (IP-CIDR,192.0.2.0/24,no-resolve) ) , REJECT",
       "OR,((IN-NAME," + names + ")),P1", "AND,((IP-CIDR,10.0.0.0/8,src),(DST-PORT,1,2)),P1"});
  const std::pair<const char*, std::string> expected[] = {
      {"SrcIPCIDR", "192.0.2.0/24"},
      {"SrcIPCIDR", "2001:DB8::/32"},
      {"DstPort", "80/443/8000-9000"},
      {"SrcPort", "0"},
      {"InPort", "65535"},
      {"InType", "HTTP/SOCKS/TUN"},
      {"InName", "Mixed-in/b"},
      {"InUser", "Joe"},
      {"Network", "udp"},
      {"NOT", "(!(Network,tcp))"},
      {"AND",
       "((OR,((Domain,a.example) || (DomainSuffix,b.example))) && (NOT,(!(DstPort,22/80-90))))"},
      {"OR", "((DomainKeyword,key) || (IPCIDR,192.0.2.0/24))"},
      {"OR", "((InName," + names + "))"},
      {"AND", "((SrcIPCIDR,10.0.0.0/8) && (DstPort,1,2))"},
  };
  ASSERT_EQ(list.size(), std::size(expected));
  for (uint32_t i = 0; i < list.size(); ++i) {
    EXPECT_EQ(api_name(list.type(i)), expected[i].first) << i;
    EXPECT_EQ(list.payload(i), expected[i].second) << i;
    EXPECT_EQ(payload(list, i), expected[i].second.substr(0, RuleList::kMaxText)) << i;
  }
  EXPECT_EQ(list.outbound(1), kReject);
  EXPECT_FALSE(list.may_ask(0));
  EXPECT_FALSE(list.may_ask(11)) << "no-resolve";
  EXPECT_FALSE(list.may_ask(13)) << "src";
}

TEST(RuleList, KnowsTheLines) {
  RuleList list;
  Rule rule;
  EXPECT_EQ(rule.line, 0u);
  for (const uint32_t line : {7u, 8u, 9u, 11u, 10u, 11u, 0u, 0u, 0u, 1u, 2u}) list.add(rule, line);
  rule.line = 3;
  list.add(rule);
  list.shrink_to_fit();
  std::vector<uint32_t> lines;
  for (uint32_t i = 0; i < list.size(); ++i) lines.push_back(list.line(i));
  EXPECT_EQ(lines, (std::vector<uint32_t>{7, 8, 9, 11, 10, 11, 0, 0, 0, 1, 2, 3}));
}

}  // namespace
}  // namespace culvert::route
