#include <algorithm>

#include "base/format.h"
#include "config/sockets.h"
#include "config/testing/load.h"
#include "flow/tunnel_options.h"

namespace culvert::config {
namespace {

using testing::loaded;
using testing::refusal;
using testing::warnings;

TEST(ConfigListeners, AllKeys) {
  const Settings s = loaded(R"(
sub-rules: {r: ['MATCH,REJECT']}
proxies: [{name: p, type: direct}]
authentication: ['a:b']
listeners:
  - {name: one, type: http, port: 1000}
  - {name: two, type: socks, port: "200-202,400", listen: 127.0.0.1, rule: r, routing-mark: 7}
  - {name: three, type: mixed, port: '3000', listen: '[::1]', users: [], proxy: p}
  - {name: four, type: mixed, port: 4000, listen: '::', users: [{username: x, password: y}]}
)");
  ASSERT_EQ(s.listeners.size(), 7u);
  EXPECT_EQ(s.listeners[0].name, "one");
  EXPECT_EQ(s.listeners[0].type, "http");
  EXPECT_EQ(s.listeners[0].listen.to_string(), "0.0.0.0:1000");
  EXPECT_FALSE(s.listeners[0].classic);
  EXPECT_EQ(s.listeners[0].users, nullptr);
  EXPECT_EQ(s.listeners[0].line, 6u);
  for (size_t i = 1; i < 5; ++i) {
    EXPECT_EQ(s.listeners[i].name, "two");
    EXPECT_EQ(s.listeners[i].rule, "r");
    EXPECT_EQ(s.listeners[i].routing_mark, 7u);
  }
  EXPECT_EQ(s.listeners[3].listen.to_string(), "127.0.0.1:202");
  EXPECT_EQ(s.listeners[4].listen.to_string(), "127.0.0.1:400");
  EXPECT_EQ(s.listeners[5].listen.to_string(), "[::1]:3000");
  ASSERT_NE(s.listeners[5].users, nullptr);
  EXPECT_TRUE(s.listeners[5].users->empty());
  EXPECT_EQ(s.listeners[5].proxy, s.proxies.at(0).target);
  EXPECT_EQ(s.listeners[6].users->at(0).user, "x");
  EXPECT_EQ(s.listeners[6].users->at(0).password, "y");
  ASSERT_EQ(s.sub_rules.size(), 1u);
  EXPECT_EQ(s.sub_rules[0].name, "r");
  EXPECT_EQ(s.sub_rules[0].rules->size(), 1u);
}

TEST(ConfigListeners, WhatIsWrong) {
  EXPECT_EQ(
      refusal("listeners:\n"
              "  - {name: a, type: htp, port: 1}\n"
              "  - {name: b, type: vmess, port: 1}\n"
              "  - {type: http, port: 1}\n"
              "  - {name: d, type: http}\n"
              "  - {name: e, type: http, port: 5-4}\n"
              "  - {name: f, type: http, port: [1]}\n"
              "  - {name: g, type: http, port: 7, listen: eth0}\n"
              "  - {name: h, type: http, port: 8, rule: none}\n"
              "  - {name: i, type: http, port: 9, proxy: none}\n"
              "  - {name: i, type: http, port: 10}\n"
              "  - {name: DEFAULT-HTTP, type: http, port: 11}\n"
              "  - {name: k, type: http, port: 12, certificate: x}\n"),
      "c.yaml:2:21: error: listeners['a'].type: found 'htp', expected a type of listener; did "
      "you mean http?\n"
      "c.yaml:3:21: error: listeners['b'].type: listener type vmess is not supported in this "
      "version\n"
      "c.yaml:4:5: error: listeners[2]: no name\n"
      "c.yaml:5:5: error: listeners['d']: no port\n"
      "c.yaml:6:33: error: listeners['e'].port: found '5-4', expected a port from 1 to 65535, "
      "or several: 200-302,400\n"
      "c.yaml:7:33: error: listeners['f'].port: found a list, expected text\n"
      "c.yaml:8:44: error: listeners['g'].listen: found 'eth0', expected an IP address of this "
      "host\n"
      "c.yaml:9:42: error: listeners['h'].rule: found 'none', expected the name of a list of "
      "sub-rules\n"
      "c.yaml:10:43: error: listeners['i'].proxy: found 'none', expected the name of a proxy "
      "or a group\n"
      "c.yaml:11:12: error: listeners['i'].name: found 'i', expected another name than the "
      "listener at 10:12 has\n"
      "c.yaml:12:12: error: listeners['DEFAULT-HTTP'].name: found 'DEFAULT-HTTP', expected "
      "another name: this one is for port keys and tunnels\n"
      "c.yaml:13:37: error: listeners['k'].certificate: not supported in this version; leave "
      "it out\n");
  EXPECT_EQ(warnings("listeners: [{name: a, type: socks, port: 1, udp: true}]\n"),
            "c.yaml:1:45: warning: listeners['a'].udp: not supported yet, ignored (there is no UDP "
            "yet)\n");
}

TEST(ConfigListeners, UsersAreNeverShown) {
  EXPECT_EQ(refusal("listeners: [{name: a, type: http, port: 1, users: [{username: '', password: "
                    "hunter2}]}]\n"),
            "c.yaml:1:52: error: listeners['a'].users[0]: found a mapping, expected username and "
            "password\n");
}

TEST(ConfigListeners, NoTwoAtOneAddress) {
  EXPECT_EQ(
      refusal("mixed-port: 1000\nallow-lan: true\n"
              "listeners:\n  - {name: a, type: http, port: 999-1001}\n"),
      "c.yaml:4:33: error: listeners['a'].port: found '999-1001', expected another address or "
      "port than [::]:1000, which DEFAULT-MIXED has at 1:13\n");
  EXPECT_EQ(
      refusal("listeners:\n  - {name: a, type: http, port: 1, listen: 127.0.0.1}\n"
              "  - {name: b, type: http, port: 1}\n"
              "external-controller: 127.0.0.1:1\n"),
      "c.yaml:3:33: error: listeners['b'].port: found '1', expected another address or port "
      "than 127.0.0.1:1, which a has at 2:5\n"
      "c.yaml:4:22: error: external-controller: found '127.0.0.1:1', expected another address "
      "or port than 127.0.0.1:1, which a has at 2:5\n");
  loaded(
      "listeners:\n  - {name: a, type: http, port: 1, listen: 127.0.0.1}\n"
      "  - {name: b, type: http, port: 1, listen: 127.0.0.2}\n"
      "  - {name: c, type: http, port: 1, listen: '::1'}\n");
}

TEST(ConfigListeners, AtMostSoManySockets) {
  EXPECT_EQ(loaded("listeners: [{name: a, type: http, port: 1-1024}]\n").listeners.size(), 1024u);
  EXPECT_EQ(
      refusal("mixed-port: 9000\nlisteners:\n  - {name: a, type: http, port: 1-1024}\n"),
      "c.yaml:3:33: error: listeners['a'].port: found '1-1024', expected at most 1024 sockets "
      "in all listeners\n");
  EXPECT_FALSE(parse_port_list(""));
  EXPECT_FALSE(parse_port_list("1,"));
  EXPECT_FALSE(parse_port_list("0"));
  EXPECT_FALSE(parse_port_list("1-"));
  EXPECT_FALSE(parse_port_list("65536"));
  EXPECT_FALSE(parse_port_list("1.0"));
  EXPECT_EQ(parse_port_list("1/2-3,4")->size(), 3u);
}

const flow::TunnelTarget& target_of(const ListenerSettings& listener) {
  return dynamic_cast<const flow::TunnelTarget&>(*listener.options);
}

TEST(ConfigTunnels, BothForms) {
  const Settings s = loaded(R"(
proxies: [{name: 'a, b', type: direct}]
tunnels:
  - tcp,127.0.0.1:6553,A.example:53,a, b
  - 'tcp, [::1]:6554, 192.0.2.1:80'
  - {network: [tcp], address: ':6555', target: '[2001:db8::1]:443', proxy: DIRECT}
  - {network: tcp, address: localhost:6556, target: a.example:1}
listeners: [{name: t, type: tunnel, port: 6557-6558, listen: 127.0.0.1, target: b.example:2}]
)");
  ASSERT_EQ(s.listeners.size(), 6u);
  EXPECT_EQ(s.listeners[0].name, "t");
  EXPECT_EQ(target_of(s.listeners[1]).host, "b.example");
  EXPECT_EQ(s.listeners[2].name, "DEFAULT-TUNNEL");
  EXPECT_EQ(s.listeners[2].type, "tunnel");
  EXPECT_EQ(s.listeners[2].listen.to_string(), "127.0.0.1:6553");
  EXPECT_EQ(target_of(s.listeners[2]).host, "a.example");
  EXPECT_FALSE(target_of(s.listeners[2]).ip.valid());
  EXPECT_EQ(target_of(s.listeners[2]).port, 53);
  EXPECT_EQ(s.listeners[2].proxy, s.proxies.at(0).target);
  EXPECT_EQ(s.listeners[3].listen.to_string(), "[::1]:6554");
  EXPECT_EQ(target_of(s.listeners[3]).ip.to_string(), "192.0.2.1");
  EXPECT_EQ(target_of(s.listeners[3]).host, "");
  EXPECT_FALSE(s.listeners[3].proxy);
  EXPECT_EQ(s.listeners[4].listen.to_string(), "[::]:6555");
  EXPECT_EQ(target_of(s.listeners[4]).ip.to_string(), "2001:db8::1");
  EXPECT_EQ(s.listeners[4].proxy, 0u);
  EXPECT_EQ(s.listeners[5].listen.to_string(), "127.0.0.1:6556");
}

TEST(ConfigTunnels, WhatIsWrong) {
  const std::string target = "a target host:port, such as a.example:443 or [2001:db8::1]:53";
  EXPECT_EQ(
      refusal("tunnels:\n"
              "  - tcp/udp,127.0.0.1:1,a.example:1,DIRECT\n"
              "  - tcp,127.0.0.1:2\n"
              "  - tcp,127.0.0.1:3,a.example,DIRECT\n"
              "  - tcp,nowhere:4,a.example:1,DIRECT\n"
              "  - tcp,127.0.0.1:5,a.example:1,nobody\n"
              "  - {network: [tcp, sctp], address: 127.0.0.1:6, target: 2001:db8::1:1}\n"
              "  - {network: [tcp], target: a.example:1}\n"
              "  - []\n"
              "  - {network: [], address: 127.0.0.1:9, target: a.example:1, proxi: DIRECT}\n"),
      "c.yaml:2:5: error: tunnels[0]: udp is not supported in this version; leave it out\n"
      "c.yaml:3:5: error: tunnels[1]: found 'tcp,127.0.0.1:2', expected "
      "network,address,target,proxy\n"
      "c.yaml:4:5: error: tunnels[2]: found 'tcp,127.0.0.1:3,a.example,DIRECT', expected " +
          target +
          "\n"
          "c.yaml:5:5: error: tunnels[3]: found 'tcp,nowhere:4,a.example:1,DIRECT', expected "
          "host:port, such as 127.0.0.1:6553 or [::1]:6553\n"
          "c.yaml:6:5: error: tunnels[4]: found 'tcp,127.0.0.1:5,a.example:1,nobody', expected "
          "the name of a proxy or a group\n"
          "c.yaml:7:21: error: tunnels[5].network[1]: found 'sctp', expected tcp\n"
          "c.yaml:7:58: error: tunnels[5].target: found '2001:db8::1:1', expected " +
          target +
          "\n"
          "c.yaml:8:5: error: tunnels[6]: no address\n"
          "c.yaml:9:5: error: tunnels[7]: found a list, expected a mapping\n"
          "c.yaml:10:15: error: tunnels[8].network: found a list, expected tcp\n"
          "c.yaml:10:62: warning: tunnels[8].proxi: unknown key, ignored; did you mean proxy?\n");
}

TEST(ConfigSubRules, AreCompiledLikeRules) {
  EXPECT_EQ(
      refusal("sub-rules:\n  a: ['DOMAIN,a.example,NOPE', 'MATCH,DIRECT', [x]]\n  b: x\n"),
      "c.yaml:2:7: error: sub-rules.a[0]: found 'DOMAIN,a.example,NOPE', expected an existing "
      "target instead of 'NOPE'\n"
      "c.yaml:2:48: error: sub-rules.a[2]: found a list, expected text\n"
      "c.yaml:3:6: error: sub-rules.b: found 'x', expected a list of rules\n");
  EXPECT_TRUE(refusal("sub-rules: {'c d': ['FOO,a,DIRECT']}\n")
                  .starts_with("c.yaml:1:21: error: sub-rules['c d'][0]: found 'FOO,a,DIRECT'"));
}

}  // namespace
}  // namespace culvert::config
