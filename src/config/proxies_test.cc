#include <algorithm>

#include "base/format.h"
#include "config/schema.h"
#include "config/testing/load.h"

namespace culvert::config {
namespace {

using testing::loaded;
using testing::NodeOptions;
using testing::options;
using testing::refusal;
using testing::warnings;

const NodeOptions& node_options(const ProxySettings& proxy) {
  return dynamic_cast<const NodeOptions&>(*proxy.options);
}

TEST(ConfigProxies, CommonAndOwnOptions) {
  const Settings s = loaded(R"(
proxies:
  - {name: a, type: socks5, server: A.Example, port: '1080', username: u, password: 0123,
     tfo: true, mptcp: true, interface-name: eth0, routing-mark: 0x10, ip-version: ipv4-prefer}
  - {name: b, type: Direct, dialer-proxy: a}
  - {name: c, type: reject, ip-version: '', smux: {enabled: false, padding: true}}
rules: ['DOMAIN,a.example,a', 'MATCH,b']
)");
  ASSERT_EQ(s.proxies.size(), 3u);
  const ProxySettings& a = s.proxies[0];
  EXPECT_EQ(a.name, "a");
  EXPECT_EQ(a.type, "socks5");
  EXPECT_EQ(s.targets[a.target], "a");
  EXPECT_EQ(a.unsupported, "");
  EXPECT_TRUE(a.common.tfo);
  EXPECT_TRUE(a.common.mptcp);
  EXPECT_EQ(a.common.interface_name, "eth0");
  EXPECT_EQ(a.common.routing_mark, 16u);
  EXPECT_EQ(a.common.ip_version, flow::IpVersion::kV4Prefer);
  EXPECT_EQ(a.line, 3u);
  EXPECT_EQ(a.column, 5u);
  EXPECT_EQ(node_options(a).server.host, "a.example");
  EXPECT_EQ(node_options(a).server.port, 1080);
  EXPECT_EQ(node_options(a).password, "0123");
  EXPECT_EQ(s.proxies[1].type, "direct");
  EXPECT_EQ(s.proxies[1].common.dialer_proxy, "a");
  EXPECT_EQ(s.targets[s.rules->outbound(0)], "a");
  EXPECT_EQ(s.targets[s.rules->outbound(1)], "b");
}

TEST(ConfigProxies, RulesMayComeFirst) {
  const Settings s = loaded(
      "rules: ['DOMAIN,a.example,b', 'MATCH,g']\nproxy-groups: [{name: g, type: select, proxies: "
      "[b]}]\nproxies: [{name: b, type: direct}]\n");
  EXPECT_EQ(s.rules->outbound(0), s.proxies.at(0).target);
  EXPECT_EQ(s.rules->outbound(1), s.groups.at(0).target);
}

TEST(ConfigProxies, WhatCannotBeDoneIsANodeThatRejects) {
  const std::string text =
      "proxies:\n  - {name: a, type: vless, server: a.example, port: 443}\n"
      "  - {name: b, type: socks5, server: a.example, port: 1, tls: true}\n"
      "  - {name: c, type: socks5, server: a.example, port: 1, smux: {enabled: true}}\n"
      "  - {name: d, type: direct, smux: {enabled: true}}\n";
  const Settings s = loaded(text);
  ASSERT_EQ(s.proxies.size(), 4u);
  EXPECT_EQ(unsupported_report(s),
            "unsupported node 'a': c.yaml:2:5: type vless is not supported in this version\n"
            "unsupported node 'b': c.yaml:3:5: tls: not supported in this version\n"
            "unsupported node 'c': c.yaml:4:5: smux: not supported in this version\n"
            "unsupported node 'd': c.yaml:5:5: smux: not supported in this version\n");
  EXPECT_EQ(refusal(text, true),
            "c.yaml:2:5: error: proxies['a']: type vless is not supported in this version\n"
            "c.yaml:3:5: error: proxies['b']: tls: not supported in this version\n"
            "c.yaml:4:5: error: proxies['c']: smux: not supported in this version\n"
            "c.yaml:5:5: error: proxies['d']: smux: not supported in this version\n");
}

// Once, however many nodes have it; and what counts with TLS only is nothing without it.
TEST(ConfigProxies, IgnoredKeysAreToldAtTheFirstNode) {
  std::string text = "proxies:\n";
  for (int i = 0; i < 10; ++i) {
    text += format(
        "  - {{name: n{}, type: socks5, server: a.example, port: 1, udp: true, tls: false, "
        "skip-cert-verify: true}}\n",
        i);
  }
  Diagnostics out;
  const auto s = load_text("c.yaml", text, options(), out);
  ASSERT_TRUE(s);
  EXPECT_EQ(out.to_string(),
            "c.yaml:2:58: warning: proxies['n0'].udp: not supported yet, ignored (there is no UDP "
            "yet)\n");
  EXPECT_EQ(unsupported_report(*s), "");
}

TEST(ConfigProxies, ProtocolsThatWereLeftOutAreTold) {
  flow::Registry registry;
  registry.add_missing("socks5");
  LoadOptions how;
  how.registry = &registry;
  Diagnostics out;
  const auto s = load_text("c.yaml", "proxies: [{name: a, type: socks5}]\n", how, out);
  ASSERT_TRUE(s);
  EXPECT_EQ(s->proxies.at(0).unsupported,
            "c.yaml:1:11: this program was built without type socks5");
}

TEST(ConfigProxies, TypesAndNamesThatAreMissingOrWrong) {
  EXPECT_EQ(
      refusal("proxies:\n  - {name: a}\n  - {type: ss}\n  - {name: b, type: vles}\n  - x\n"
              "  - {name: '', type: ss}\n  - {name: DIRECT, type: ss}\n"
              "  - {name: GLOBAL, type: ss}\n"),
      "c.yaml:2:5: error: proxies['a']: no type\n"
      "c.yaml:3:5: error: proxies[1]: no name\n"
      "c.yaml:4:21: error: proxies['b'].type: found 'vles', expected a type of proxy; did you "
      "mean vless?\n"
      "c.yaml:5:5: error: proxies[3]: found 'x', expected a mapping\n"
      "c.yaml:6:12: error: proxies[''].name: found '', expected a name\n"
      "c.yaml:7:12: error: proxies['DIRECT'].name: found 'DIRECT', expected another name than "
      "a built-in target has\n"
      "c.yaml:8:12: error: proxies['GLOBAL'].name: found 'GLOBAL', expected another name than "
      "a built-in target has\n");
  EXPECT_EQ(warnings("proxies: [{name: a, type: direct, ip-version: 4}]\n"),
            "c.yaml:1:47: warning: proxies['a'].ip-version: neither ipv4, ipv6, ipv4-prefer nor "
            "ipv6-prefer: dual\n");
}

// K03.
TEST(ConfigProxies, NamesStayByteForByte) {
  const char* const names[] = {"🇭🇰 香港 01", "a: b", "it's \"x\"", "ServerA", "Vmess-ServerA"};
  std::string proxies = "proxies:\n", members, rules;
  for (const std::string name : names) {
    std::string quoted;
    for (const char c : name) quoted += c == '\'' ? "''" : std::string(1, c);
    proxies += format("  - {{name: '{}', type: direct}}\n", quoted);
    members += format("'{}',", quoted);
    rules += format("  - 'DOMAIN,a.example,{}'\n", quoted);
  }
  const Settings s = loaded(proxies + "proxy-groups: [{name: g, type: select, proxies: [" +
                            members + members + "]}]\nrules:\n" + rules);
  ASSERT_EQ(s.proxies.size(), std::size(names));
  ASSERT_EQ(s.groups.at(0).members.size(), std::size(names));
  for (size_t i = 0; i < std::size(names); ++i) {
    EXPECT_EQ(s.proxies[i].name, names[i]);
    EXPECT_EQ(s.targets[s.proxies[i].target], names[i]);
    EXPECT_EQ(s.groups[0].members[i], s.proxies[i].target);
    EXPECT_EQ(s.rules->outbound(static_cast<uint32_t>(i)), s.proxies[i].target);
  }
  EXPECT_EQ(
      refusal("proxies:\n  - {name: a, type: direct}\n  - {name: a, type: direct}\n"
              "proxy-groups: [{name: a, type: select, proxies: [DIRECT]}]\n"),
      "c.yaml:3:12: error: proxies['a'].name: found 'a', expected another name than the proxy "
      "at 2:12 has\n"
      "c.yaml:4:23: error: proxy-groups['a'].name: found 'a', expected another name than the "
      "proxy at 2:12 has\n");
  // A comma ends a target: what is behind it is not cut off in silence.
  EXPECT_NE(refusal("proxies: [{name: 'A,B', type: direct}]\nrules: ['DOMAIN,a.example,A,B']\n")
                .find("rules[0]"),
            std::string::npos);
}

// K05.
TEST(ConfigProxies, PortsNameTheNodeAndTheValue) {
  const auto node = [](const std::string& port) {
    return format("proxies:\n  - {{name: n 1, type: socks5, server: a.example, port: {}}}\n", port);
  };
  EXPECT_EQ(node_options(loaded(node("\"34874\"")).proxies.at(0)).server.port, 34874);
  for (const std::string bad : {"0", "70000", "-1", "443.0", "443 ", "65979"}) {
    EXPECT_EQ(
        refusal(node("\"" + bad + "\"")),
        format("c.yaml:2:56: error: proxies['n 1'].port: found '{}', expected a port from 1 to "
               "65535\n",
               bad));
  }
}

// K02: the text of a short-id is what is written, quoted or not.
TEST(ConfigProxies, TextsThatLookLikeNumbers) {
  const auto identity = [](const std::string& id) {
    const Settings s = loaded(
        format("proxies: [{{name: n, type: vless, server: a.example, port: 443, reality-opts: "
               "{{public-key: k, short-id: {}}}}}]\n",
               id));
    return s.proxies.at(0).identity;
  };
  std::vector<std::string> all;
  for (const std::string id : {"2351e1", "0983e134", "09561058", "1234", "00000000", "38e92059"}) {
    EXPECT_EQ(identity(id), identity("'" + id + "'")) << id;
    all.push_back(identity(id));
  }
  std::ranges::sort(all);
  EXPECT_EQ(std::ranges::adjacent_find(all), all.end());
}

TEST(ConfigProxies, Identity) {
  const auto identity = [](const std::string& node, const std::string& rest = "") {
    const Settings s = loaded(rest + "proxies: [" + node + "]\n");
    return s.proxies.at(0).identity;
  };
  const std::string base = "{name: a, type: socks5, server: a.example, port: 1}";
  const std::string same = "{port: '1', server: a.example, <<: {type: socks5}, name: a}";
  EXPECT_EQ(identity(base).size(), 40u);
  EXPECT_EQ(identity(base), identity(same));
  EXPECT_EQ(identity(base), identity(base, "mode: direct\nlog-level: debug\n"));
  for (const std::string other :
       {"{name: b, type: socks5, server: a.example, port: 1}",
        "{name: a, type: socks5, server: a.example, port: 2}",
        "{name: a, type: socks5, server: a.example, port: 1, tfo: false}",
        "{name: a, type: socks5, server: a.example, port: 1, username: ''}"}) {
    EXPECT_NE(identity(base), identity(other)) << other;
  }
  const std::string long_text(3000, 'x');
  EXPECT_EQ(identity("{name: a, type: ss, password: " + long_text + "}"),
            identity("{name: a, password: " + long_text + ", type: ss}"));
  EXPECT_NE(identity("{name: a, type: ss, password: " + long_text + "}"),
            identity("{name: a, type: ss, password: " + long_text + "y}"));
}

TEST(ConfigProxies, DialerProxies) {
  EXPECT_EQ(
      refusal("proxies: [{name: a, type: direct, dialer-proxy: no}]\n"),
      "c.yaml:1:49: error: proxies['a'].dialer-proxy: found 'no', expected the name of a proxy "
      "or a group\n");
  EXPECT_EQ(refusal("proxies:\n  - {name: a, type: direct, dialer-proxy: b}\n"
                    "  - {name: b, type: direct, dialer-proxy: c}\n"
                    "  - {name: c, type: direct, dialer-proxy: b}\n"),
            "c.yaml:2:5: error: proxies: dialer-proxy leads into a loop: b -> c -> b\n");
  EXPECT_EQ(refusal("proxies: [{name: a, type: direct, dialer-proxy: a}]\n"),
            "c.yaml:1:11: error: proxies: dialer-proxy leads into a loop: a -> a\n");
  EXPECT_EQ(refusal("proxies: [{name: a, type: direct, dialer-proxy: g}]\n"
                    "proxy-groups: [{name: g, type: select, proxies: [h]},\n"
                    "               {name: h, type: select, proxies: [a]}]\n"),
            "c.yaml:1:11: error: proxies: dialer-proxy leads into a loop: a -> g -> h -> a\n");
  // K07: what is selected decides.
  loaded(
      "proxies: [{name: a, type: direct, dialer-proxy: g}]\n"
      "proxy-groups: [{name: g, type: select, proxies: [a, DIRECT]}]\n");
  loaded("proxies: [{name: a, type: direct, dialer-proxy: GLOBAL}]\n");
}

TEST(ConfigProxies, ALongChainIsNoTrouble) {
  std::string text = "proxies:\n";
  for (int i = 0; i < 5000; ++i) {
    text += format("  - {{name: n{}, type: direct, dialer-proxy: {}}}\n", i,
                   i == 4999 ? "DIRECT" : format("n{}", i + 1));
  }
  EXPECT_EQ(loaded(text).proxies.size(), 5000u);
}

}  // namespace
}  // namespace culvert::config
