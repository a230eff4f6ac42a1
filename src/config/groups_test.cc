#include <algorithm>

#include "base/format.h"
#include "config/testing/load.h"

namespace culvert::config {
namespace {

using testing::loaded;
using testing::refusal;
using testing::warnings;

const std::string kNodes =
    "proxies:\n"
    "  - {name: HK 2, type: socks5, server: a.example, port: 1}\n"
    "  - {name: US 1, type: ss}\n"
    "  - {name: HK 1, type: direct}\n"
    "  - {name: jp 1, type: vmess}\n"
    "  - {name: 剩余流量, type: ss}\n";

const GroupSettings& group_of(const Settings& s, std::string_view name) {
  const auto at = std::ranges::find(s.groups, name, &GroupSettings::name);
  EXPECT_NE(at, s.groups.end()) << name;
  return *at;
}

// "HK 1, US 1"
std::string members(const Settings& s, std::string_view group) {
  std::string out;
  for (const uint32_t member : group_of(s, group).members) {
    out += (out.empty() ? "" : ", ") + s.targets.at(member);
  }
  return out;
}

// Of a group G with these keys, over kNodes.
std::string members_with(const std::string& keys) {
  return members(loaded(kNodes + "proxy-groups: [{name: G, type: select, " + keys + "}]\n"), "G");
}

TEST(ConfigGroups, Members) {
  EXPECT_EQ(members_with("proxies: [US 1, DIRECT, HK 1, US 1, REJECT-DROP, PASS, COMPATIBLE]"),
            "US 1, DIRECT, HK 1, REJECT-DROP, PASS, COMPATIBLE");
  EXPECT_EQ(members_with("include-all: true"), "HK 1, HK 2, US 1, jp 1, 剩余流量");
  EXPECT_EQ(members_with("include-all-proxies: true, proxies: [jp 1, DIRECT]"),
            "jp 1, DIRECT, HK 1, HK 2, US 1, 剩余流量");
  EXPECT_EQ(members_with("include-all: false, proxies: [HK 1]"), "HK 1");
}

TEST(ConfigGroups, Filters) {
  EXPECT_EQ(members_with("include-all: true, filter: HK"), "HK 1, HK 2");
  // By the filter's place in the list, each once; own proxies come first and are not filtered.
  EXPECT_EQ(members_with("include-all: true, filter: 'US`(?i)JP`1$`HK'"), "US 1, jp 1, HK 1, HK 2");
  EXPECT_EQ(members_with("include-all: true, proxies: [jp 1, HK 2], filter: US"),
            "jp 1, HK 2, US 1");
  EXPECT_EQ(members_with("include-all: true, filter: '^(?!.*(?:HK|流量)).*$'"), "US 1, jp 1");
  EXPECT_EQ(members_with("include-all: true, filter: '(?<=K )2'"), "HK 2");
  EXPECT_EQ(members_with("include-all: true, filter: '^.{4}$'"),
            "HK 1, HK 2, US 1, jp 1, 剩余流量");
  EXPECT_EQ(members_with("include-all: true, exclude-filter: '流量`(?i)hk'"), "US 1, jp 1");
  EXPECT_EQ(members_with("proxies: [HK 1, US 1, DIRECT], exclude-filter: 'HK|D'"), "US 1");
  EXPECT_EQ(members_with("include-all: true, exclude-type: 'shadowsocks|VMESS'"), "HK 1, HK 2");
  EXPECT_EQ(members_with("proxies: [DIRECT, REJECT, HK 2], exclude-type: 'Socks5|direct'"),
            "REJECT");
  EXPECT_EQ(members_with("include-all: true, filter: '', exclude-filter: '', exclude-type: ''"),
            "HK 1, HK 2, US 1, jp 1, 剩余流量");
}

TEST(ConfigGroups, EmptyOnesFallBack) {
  EXPECT_EQ(members_with("proxies: []"), "COMPATIBLE");
  EXPECT_EQ(members_with("include-all: true, filter: XX"), "COMPATIBLE");
  EXPECT_EQ(members_with("include-all: true, filter: XX, empty-fallback: REJECT"), "REJECT");
  EXPECT_EQ(members_with("include-all: true, filter: XX, empty-fallback: US 1"), "US 1");
  EXPECT_EQ(members_with("proxies: [HK 1], empty-fallback: US 1"), "HK 1");
  for (const std::string bad : {"G", "nobody", "GLOBAL"}) {
    EXPECT_EQ(refusal("proxy-groups: [{name: G, type: select, proxies: [], empty-fallback: " + bad +
                      "}]\n"),
              format("c.yaml:1:69: error: proxy-groups['G'].empty-fallback: found '{}', expected "
                     "the name of a proxy\n",
                     bad));
  }
}

TEST(ConfigGroups, BadPatternsAreNamed) {
  EXPECT_EQ(
      refusal("proxy-groups:\n  - {name: G, type: select, include-all: true,\n"
              "     filter: 'a`(b'}\n"),
      "c.yaml:3:14: error: proxy-groups['G'].filter: found 'a`(b', expected a pattern: '(b' is "
      "not one, missing closing parenthesis (byte 2)\n");
  EXPECT_EQ(refusal("proxy-groups:\n  - {name: G, type: select, proxies: [DIRECT],\n"
                    "     exclude-filter: '*'}\n"),
            "c.yaml:3:22: error: proxy-groups['G'].exclude-filter: found '*', expected a pattern: "
            "'*' is not one, quantifier does not follow a repeatable item (byte 0)\n");
  // A pattern that would take for ever does not.
  const std::string evil = "proxies: [{name: " + std::string(40, 'a') + "!, type: direct}]\n";
  EXPECT_EQ(refusal(evil + "proxy-groups: [{name: G, type: select, include-all: true,\n"
                           " filter: '^(a|aa)+$'}]\n"),
            "c.yaml:3:10: error: proxy-groups['G'].filter: found '^(a|aa)+$', expected a pattern "
            "that takes fewer steps to compare\n");
  EXPECT_EQ(refusal(evil + "proxy-groups: [{name: G, type: select, include-all: true,\n"
                           " exclude-filter: '^(a|aa)+$'}]\n"),
            "c.yaml:3:18: error: proxy-groups['G'].exclude-filter: found '^(a|aa)+$', expected a "
            "pattern that takes fewer steps to compare\n");
}

TEST(ConfigGroups, AllKeys) {
  const Settings s = loaded(kNodes + R"(
proxy-groups:
  - {name: S, type: select, proxies: [HK 1, US 1], default-selected: US 1, url: 'http://a.example',
     expected-status: 200-299/304, icon: i, hidden: true, disable-udp: true, timeout: 1500}
  - {name: T, type: url-test, proxies: [S], interval: '60', tolerance: 80, lazy: false,
     max-failed-times: 3, timeout: 0}
  - {name: F, type: fallback, proxies: [S]}
  - {name: L, type: load-balance, proxies: [S], strategy: round-robin}
)");
  const GroupSettings& select = group_of(s, "S");
  EXPECT_EQ(select.type, "select");
  EXPECT_EQ(select.unsupported, "");
  EXPECT_EQ(select.default_selected, "US 1");
  EXPECT_EQ(select.url, "http://a.example");
  EXPECT_EQ(select.expected_status, "200-299/304");
  EXPECT_EQ(select.icon, "i");
  EXPECT_TRUE(select.hidden);
  EXPECT_TRUE(select.disable_udp);
  EXPECT_EQ(select.timeout, std::chrono::milliseconds(1500));
  EXPECT_EQ(select.interval, Duration::zero());
  EXPECT_EQ(select.line, 9u);
  const GroupSettings& test = group_of(s, "T");
  EXPECT_EQ(test.unsupported, "c.yaml:11:5: group type url-test is not supported in this version");
  EXPECT_EQ(test.interval, std::chrono::seconds(60));
  EXPECT_EQ(test.timeout, std::chrono::seconds(5));
  EXPECT_EQ(test.tolerance, 80u);
  EXPECT_FALSE(test.lazy);
  EXPECT_EQ(group_of(s, "F").interval, std::chrono::seconds(300));
  EXPECT_TRUE(group_of(s, "F").lazy);
  EXPECT_EQ(group_of(s, "L").strategy, "round-robin");
}

TEST(ConfigGroups, WhatIsWrong) {
  EXPECT_EQ(
      refusal("proxy-groups:\n  - {name: a, type: selct, proxies: [DIRECT]}\n"
              "  - {name: b, type: relay, proxies: [DIRECT]}\n"
              "  - {name: c, type: select}\n"
              "  - {name: d, type: select, proxies: [nobody, GLOBAL, {}]}\n"
              "  - {name: REJECT, type: select, proxies: [DIRECT]}\n"
              "  - {name: e, type: select, proxies: [DIRECT], expected-status: ok}\n"
              "  - {name: e, type: select, proxies: [DIRECT]}\n"
              "  - {name: f, type: select, use: [p]}\n"),
      "c.yaml:2:21: error: proxy-groups['a'].type: found 'selct', expected select, url-test, "
      "fallback or load-balance; did you mean select?\n"
      "c.yaml:3:21: error: proxy-groups['b'].type: relay groups are no more; give the nodes a "
      "dialer-proxy instead\n"
      "c.yaml:6:12: error: proxy-groups['REJECT'].name: found 'REJECT', expected another name "
      "than a built-in target has\n"
      "c.yaml:8:12: error: proxy-groups['e'].name: found 'e', expected another name than the "
      "group at 7:12 has\n"
      "c.yaml:4:5: error: proxy-groups['c']: neither proxies nor include-all\n"
      "c.yaml:5:39: error: proxy-groups['d'].proxies[0]: found 'nobody', expected the name of "
      "a proxy or a group\n"
      "c.yaml:5:47: error: proxy-groups['d'].proxies[1]: found 'GLOBAL', expected the name of "
      "a proxy or a group\n"
      "c.yaml:5:55: error: proxy-groups['d'].proxies[2]: found a mapping, expected text\n"
      "c.yaml:7:65: error: proxy-groups['e'].expected-status: found 'ok', expected *, or "
      "numbers and ranges such as 200-299/304\n"
      "c.yaml:9:29: error: proxy-groups['f'].use: not supported in this version; leave it "
      "out\n");
  EXPECT_NE(refusal("proxy-providers: {g: {type: http}}\n"
                    "proxy-groups: [{name: g, type: select, proxies: [DIRECT]}]\n")
                .find("c.yaml:2:23: error: proxy-groups[0]: found 'g', expected another name than "
                      "the provider at 1:19 has"),
            std::string::npos);
  EXPECT_EQ(warnings("proxy-groups: [{name: g, type: select, proxies: [DIRECT], default-selected: "
                     "REJECT, interface-name: eth0}]\n"),
            "c.yaml:1:77: warning: proxy-groups['g'].default-selected: not a member; the first one "
            "counts\n"
            "c.yaml:1:85: warning: proxy-groups['g'].interface-name: not supported yet, ignored "
            "(set it in the nodes)\n");
}

// What an anchor brings into many groups is told once.
TEST(ConfigGroups, MergedKeysAreToldOnce) {
  std::string text = "x-base: &b {interval: 300, url: 'http://a.example'}\nproxy-groups:\n";
  for (int i = 0; i < 50; ++i) {
    text += format("  - {{name: g{}, type: select, proxies: [DIRECT], <<: *b}}\n", i);
  }
  EXPECT_EQ(
      warnings(text),
      "c.yaml:1:13: warning: proxy-groups['g0'].interval: not supported yet, ignored (a select "
      "group does not choose by itself)\n");
}

// K07, the loops that are there from the start.
TEST(ConfigGroups, LoopsAreListedOnce) {
  EXPECT_EQ(refusal("proxy-groups:\n  - {name: A, type: select, proxies: [B]}\n"
                    "  - {name: B, type: select, proxies: [DIRECT, A]}\n"
                    "  - {name: C, type: select, proxies: [A]}\n"),
            "c.yaml:2:5: error: proxy-groups: a loop of groups: A -> B -> A\n");
  EXPECT_EQ(refusal("proxy-groups: [{name: A, type: select, proxies: [A]}]\n"),
            "c.yaml:1:16: error: proxy-groups: a loop of groups: A -> A\n");
}

TEST(ConfigGroups, MembersComeFirst) {
  std::string text = "proxy-groups:\n";
  for (int i = 0; i < 3000; ++i) {
    text += format("  - {{name: g{}, type: select, proxies: [{}]}}\n", i,
                   i == 2999 ? "DIRECT" : format("g{}", i + 1));
  }
  const Settings s = loaded(text);
  ASSERT_EQ(s.groups.size(), 3001u);
  std::vector<bool> seen(s.targets.size());
  for (const GroupSettings& group : s.groups) {
    for (const uint32_t member : group.members) {
      EXPECT_TRUE(member < 6 || seen[member]);
    }
    seen[group.target] = true;
  }
}

TEST(ConfigGroups, Global) {
  const std::string groups =
      "proxy-groups:\n  - {name: A, type: select, proxies: [B]}\n"
      "  - {name: B, type: select, proxies: [DIRECT]}\n";
  const Settings s = loaded(kNodes + groups + "rules: ['MATCH,GLOBAL']\n");
  EXPECT_EQ(members(s, "GLOBAL"), "DIRECT, REJECT, HK 2, US 1, HK 1, jp 1, 剩余流量, A, B");
  EXPECT_EQ(s.groups.back().name, "GLOBAL");
  EXPECT_EQ(s.rules->outbound(0), s.groups.back().target);
  EXPECT_EQ(members(loaded("{}"), "GLOBAL"), "DIRECT, REJECT");
  const Settings own = loaded(groups +
                              "  - {name: GLOBAL, type: select, proxies: [A]}\n"
                              "  - {name: C, type: select, proxies: [GLOBAL]}\n");
  EXPECT_EQ(members(own, "GLOBAL"), "A");
  EXPECT_EQ(members(own, "C"), "GLOBAL");
  EXPECT_EQ(own.groups.size(), 4u);
}

// K01.
TEST(ConfigGroups, MergeKeysAndAnchors) {
  const std::string text = R"(
auto: &auto {type: url-test, interval: 300, tolerance: 50}
hk: &hk {filter: "HK", tolerance: 80}
0: &n {lazy: true}
proxies: [{name: HK-1, type: ss, server: 192.0.2.1, port: 8388, cipher: aes-128-gcm, password: p}]
proxy-groups:
  - {<<: [*auto, *hk, *n], name: G1, include-all: true, interval: 60}
rules: ["MATCH,G1"]
)";
  const Settings s = loaded(text);
  const GroupSettings& g = group_of(s, "G1");
  EXPECT_EQ(g.type, "url-test");
  EXPECT_EQ(g.interval, std::chrono::seconds(60));
  EXPECT_EQ(g.tolerance, 50u);
  EXPECT_TRUE(g.lazy);
  EXPECT_EQ(members(s, "G1"), "HK-1");
  const Settings deep = loaded(
      "a: &a {type: select}\nb: &b {<<: *a, hidden: true}\nc: &c {<<: *b, icon: i}\n"
      "proxy-groups: [{<<: *c, name: G, proxies: [DIRECT]}]\n");
  EXPECT_TRUE(group_of(deep, "G").hidden);
  EXPECT_EQ(group_of(deep, "G").icon, "i");
  EXPECT_NE(refusal("proxy-groups: [{<<: *nothing, name: G}]\n").find("c.yaml:1:"),
            std::string::npos);
}

TEST(ConfigGroups, StrictRefusesTypesThatAreNotThere) {
  EXPECT_EQ(refusal("proxy-groups: [{name: G, type: fallback, proxies: [DIRECT]}]\n", true),
            "c.yaml:1:16: error: proxy-groups['G']: group type fallback is not supported in this "
            "version\n");
}

}  // namespace
}  // namespace culvert::config
