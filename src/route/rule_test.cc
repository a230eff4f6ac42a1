#include "route/rule.h"

#include <gtest/gtest.h>

#include <iostream>

#include "route/condition_compiler.h"

namespace culvert::route {
namespace {

std::string error_of(std::string_view line) {
  TargetTable table;
  EXPECT_EQ(table.define("P1"), kBuiltInTargets);
  Rule rule;
  Diagnostics diagnostics;
  const bool good = parse_rule({line, 7, 5}, "config.yaml", 3, table, rule, diagnostics);
  EXPECT_NE(good, diagnostics.has_errors());
  table.report_undefined("config.yaml", diagnostics);
  return diagnostics.has_errors() ? diagnostics.entries().front().to_string() : "";
}

bool refused(std::string_view line, std::string_view reason) {
  const std::string error = error_of(line);
  return error.find(reason) != std::string::npos || !(std::cerr << error << "\n");
}

TEST(Rule, ToleratesSpacesCaseAndATrailingComma) {
  EXPECT_EQ(error_of("IP-CIDR,192.0.2.0/24,DIRECT,no-resolve,"), "");
  EXPECT_EQ(error_of(" match , DIRECT "), "");
  EXPECT_EQ(error_of("domain,a.example,P1"), "");
  EXPECT_EQ(error_of("Domain-Suffix\t, a.example ,\tP1 , , ,\r"), "");
}

// K08 and everything else that is not a rule.
TEST(Rule, SaysWhatIsWrongAndWhere) {
  EXPECT_EQ(error_of("IP-CIDR,192.0.2.0/24,no-resolve"),
            "config.yaml:7:5: error: rules[3]: found 'IP-CIDR,192.0.2.0/24,no-resolve', expected a "
            "target before 'no-resolve': the target is missing");
  EXPECT_NE(error_of("DOMAIN,a.example,NOPE").find("instead of 'NOPE'"), std::string::npos);
  EXPECT_NE(error_of("DOMAIN,a.example").find("TYPE,payload,target"), std::string::npos);
  EXPECT_NE(error_of("MATCH").find("MATCH,target"), std::string::npos);
  EXPECT_NE(error_of("FOO,a,DIRECT").find("a rule type such as"), std::string::npos);
  EXPECT_NE(error_of("GEOIP,CN,DIRECT").find("this version supports (not GEOIP)"),
            std::string::npos);
  EXPECT_NE(error_of("IP-CIDR,192.0.2.0,DIRECT").find("a prefix such as"), std::string::npos);
  EXPECT_NE(error_of("IP-CIDR,a.example/8,DIRECT").find("a prefix such as"), std::string::npos);
  const std::string label(63, 'l');
  EXPECT_EQ(error_of("DOMAIN," + label + "." + label + ".example.,DIRECT"), "");
  EXPECT_NE(error_of("DOMAIN,l" + label + ".example,DIRECT").find("a domain name"),
            std::string::npos);
  EXPECT_NE(error_of("DOMAIN," + label + "." + label + "." + label + "." + label + ",DIRECT")
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

TEST(Rule, TakesParametersWhereTheyMeanSomething) {
  for (const char* line :
       {"IP-CIDR,192.0.2.0/24,P1,src", "IP-CIDR,192.0.2.0/24,P1,src,no-resolve",
        "IP-CIDR6,2001:db8::/32,P1,no-resolve,src", "SRC-IP-CIDR,192.0.2.0/24,P1,no-resolve",
        "SRC-IP-CIDR,192.0.2.0/24,P1,src", "DOMAIN,a.example,PASS",
        "NOT,((IP-CIDR,192.0.2.0/24,no-resolve,src,)),P1,,", "DST-PORT,0-65535,GLOBAL",
        "AND,((DST-PORT,80,443),(NETWORK,tcp)),COMPATIBLE"}) {
    EXPECT_EQ(error_of(line), "") << line;
  }
  EXPECT_TRUE(refused("DST-PORT,80,P1,src", "no parameter 'src'"));
  EXPECT_TRUE(refused("NETWORK,tcp,P1,no-resolve", "no parameter 'no-resolve'"));
  EXPECT_TRUE(refused("IP-CIDR,192.0.2.0/24,P1,sRc", "no parameter 'sRc'"));
  EXPECT_TRUE(refused("AND,((DOMAIN,a.example,no-resolve)),P1", "no parameter 'no-resolve' for"));
  EXPECT_TRUE(refused("SRC-IP-CIDR,192.0.2.0/24,src", "the target is missing"));
}

TEST(Rule, RefusesWhatNoFlowCanBe) {
  for (const char* type : {"SRC-PORT", "DST-PORT", "IN-PORT"}) {
    for (const char* ports : {"65536", "-1", "1-", "-", "90-80", "80/", "/80", "80//81",
                              "4294967376", "0x50", "80 81", "a", "", "1-2-3", "+1"}) {
      EXPECT_TRUE(refused(std::string(type) + "," + ports + ",P1", "ports from 0 to 65535"))
          << ports;
    }
  }
  EXPECT_TRUE(refused("IN-TYPE,HTTP/SOCKS6,P1", "instead of 'SOCKS6'"));
  EXPECT_TRUE(refused("IN-TYPE,,P1", "types of listeners"));
  EXPECT_TRUE(refused("NETWORK,sctp,P1", "tcp or udp"));
  EXPECT_TRUE(refused("IN-NAME,a//b,P1", "names with '/'"));
  EXPECT_TRUE(refused("IN-USER,,P1", "names with '/'"));
  EXPECT_TRUE(refused("SRC-IP-CIDR,192.0.2.1,P1", "a prefix such as"));
  for (const char* word :
       {"http",   "Https",       "socks",      "SOCKS4",    "socks5", "ShadowSocks",
        "Snell",  "Vmess",       "Vless",      "Redir",     "TProxy", "Trojan",
        "Tunnel", "Tun",         "Tuic",       "Hysteria2", "AnyTLS", "Mieru",
        "Sudoku", "TrustTunnel", "ShadowQuic", "Inner"}) {
    EXPECT_EQ(error_of("IN-TYPE," + std::string(word) + ",P1"), "");
  }
}

// K12, the syntax of logic.
TEST(Rule, LogicIsWellFormed) {
  EXPECT_TRUE(refused("AND,((DOMAIN,a.example),P1", "a ')' for each '('"));
  EXPECT_TRUE(refused("AND,(DOMAIN,a.example)),P1", "but ')'"));
  EXPECT_TRUE(refused("AND,((DOMAIN,a.example)", "AND,((TYPE,payload),...),target"));
  EXPECT_TRUE(refused("NOT,((NETWORK,UDP))", "NOT,((TYPE,payload),...),target"));
  EXPECT_TRUE(refused("NOT", "NOT,((TYPE,payload),...),target"));
  EXPECT_TRUE(refused("AND,P1", "AND,((TYPE,payload),...),target"));
  EXPECT_TRUE(refused("AND,,P1", "AND,((TYPE,payload)),target"));
  EXPECT_TRUE(refused("AND,(),P1", "operands in brackets"));
  EXPECT_TRUE(refused("AND,(()),P1", "a rule type such as"));
  EXPECT_TRUE(refused("OR,(DOMAIN,a.example),P1", "operands in brackets"));
  EXPECT_TRUE(refused("OR,((DOMAIN,a.example)(DOMAIN,b.example)),P1", "a comma between"));
  EXPECT_TRUE(refused("OR,((DOMAIN,a.example),),P1", "operands in brackets"));
  EXPECT_TRUE(refused("OR,((DOMAIN)),P1", "(TYPE,payload) instead of '(DOMAIN)'"));
  EXPECT_TRUE(
      refused("OR,((DOMAIN,a.example)),(DOMAIN,b.example),P1", "but ',(DOMAIN,b.example)'"));
  EXPECT_TRUE(refused("NOT,((DOMAIN,a.example),(DOMAIN,b.example)),P1", "one operand for NOT"));
  EXPECT_TRUE(refused("AND,((MATCH)),P1", "no MATCH within"));
  EXPECT_TRUE(refused("AND,((SUB-RULE,(NETWORK,tcp),x)),P1", "no SUB-RULE within"));
  EXPECT_TRUE(refused("AND,((RULE-SET,x)),P1", "(not RULE-SET)"));
  EXPECT_TRUE(refused("AND,((DOMAIN,a..b)),P1", "a domain name instead of 'a..b'"));
  EXPECT_TRUE(refused("AND,((DST-PORT,70000)),P1", "ports from 0 to 65535"));
  EXPECT_TRUE(refused("AND,((NETWORK,tcp)),NOPE", "an existing target instead of 'NOPE'"));
}

std::string nested(size_t depth) {
  std::string line;
  for (size_t i = 0; i < depth; ++i) line += i == 0 ? "NOT,(" : "(NOT,(";
  line += "(NETWORK,tcp)";
  for (size_t i = 1; i < depth; ++i) line += "))";
  return line + "),P1";
}

TEST(Rule, LogicHasABoundedDepth) {
  EXPECT_EQ(error_of(nested(64)), "");
  EXPECT_EQ(error_of(nested(kMaxLogicDepth)), "");
  EXPECT_TRUE(refused(nested(kMaxLogicDepth + 1), "at most 128 deep"));
  EXPECT_TRUE(refused(nested(100'000), "at most 128 deep"));
  EXPECT_TRUE(refused("AND," + std::string(1'000'000, '(') + ",P1", "at most 128 deep"));
}

TEST(Rule, LogicHasABoundedLength) {
  const auto wide = [](size_t operands) {
    std::string line = "OR,((NETWORK,tcp)";
    for (size_t i = 1; i < operands; ++i) line += ",(NETWORK,tcp)";
    return line + "),P1";
  };
  EXPECT_EQ(error_of(wide(Conditions::kMaxTests)), "");
  EXPECT_TRUE(refused(wide(Conditions::kMaxTests + 1), "at most 16384 conditions"));
}

}  // namespace
}  // namespace culvert::route
