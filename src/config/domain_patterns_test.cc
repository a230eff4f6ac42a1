#include "config/domain_patterns.h"

#include "base/format.h"
#include "config/testing/load.h"

namespace culvert::config {
namespace {

using testing::loaded;
using testing::refusal;
using testing::warnings;

TEST(ConfigDomainPatterns, Forms) {
  for (const char* good : {"a.example", "*", "*.lan", "a.*.example", "+.example", ".example", "lan",
                           "time*.example", "*.*.example", "中国"}) {
    EXPECT_TRUE(is_domain_pattern(good)) << good;
  }
  for (const char* bad : {"", " ", ".", "a.", "a..b", "*.*.bad..example", "foo.", " a", "a ", "a\t",
                          "..a", "+.", "+..a"}) {
    EXPECT_FALSE(is_domain_pattern(bad)) << bad;
  }
}

// K09.
TEST(ConfigDomainPatterns, BadOnesAreNamedWithTheirPlace) {
  const std::string filter = "fake-ip-filter: ['+.lan', '*.*.bad..example', 'foo.', ' ']";
  const std::string form =
      "a pattern of names such as a.example, *.a.example, +.a.example or .a.example";
  const std::string refused =
      refusal("dns: {enable: true, enhanced-mode: fake-ip, " + filter + "}\n");
  EXPECT_NE(refused.find("c.yaml:1:71: error: dns.fake-ip-filter[1]: found '*.*.bad..example', "
                         "expected " +
                         form + "\n"),
            std::string::npos)
      << refused;
  EXPECT_NE(refused.find("dns.fake-ip-filter[2]: found 'foo.'"), std::string::npos);
  EXPECT_NE(refused.find("dns.fake-ip-filter[3]: found ' '"), std::string::npos);
  EXPECT_EQ(refused.find("dns.fake-ip-filter[0]"), std::string::npos);
  // Off, it is told, and does no harm.
  EXPECT_EQ(warnings("dns: {fake-ip-filter: [foo., 'rule-set:a.', 'geosite:cn']}\n"),
            "c.yaml:1:24: warning: dns.fake-ip-filter[0]: 'foo.' is not " + form + "\n");
  loaded("dns: {fake-ip-filter-mode: rule, fake-ip-filter: ['DOMAIN,a.example.,fake-ip']}\n");
  EXPECT_EQ(warnings("dns: {nameserver-policy: {'a.example,b.': x, 'rule-set:c.': y}}\n"),
            "c.yaml:1:27: warning: dns.nameserver-policy: 'b.' is not " + form + "\n");
  EXPECT_NE(refusal("hosts: {a..b: 192.0.2.1}\n").find("c.yaml:1:9: error: hosts: found 'a..b'"),
            std::string::npos);
}

}  // namespace
}  // namespace culvert::config
