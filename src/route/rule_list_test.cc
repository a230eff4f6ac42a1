#include "route/rule_list.h"

#include <gtest/gtest.h>

namespace culvert::route {
namespace {

const std::vector<std::string> kTargets{"DIRECT", "REJECT", "P1"};

RuleList listed(std::initializer_list<std::string> lines) {
  RuleList list;
  Rule rule;
  Diagnostics diagnostics;
  for (const std::string& line : lines) {
    EXPECT_TRUE(parse_rule({line, 1, 1}, "test", list.size(), kTargets, rule, diagnostics))
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
  EXPECT_EQ(kTargets[list.outbound(1)], "P1");
  EXPECT_EQ(kTargets[list.outbound(4)], "REJECT");
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

}  // namespace
}  // namespace culvert::route
