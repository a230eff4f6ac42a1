#include "config/settings.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include "base/format.h"
#include "config/testing/load.h"

namespace culvert::config {
namespace {

using std::chrono::seconds;

using testing::loaded;
using testing::options;
using testing::refusal;
using testing::warnings;

TEST(ConfigSettings, Defaults) {
  const Settings s = loaded("{}");
  EXPECT_EQ(s.source_name, "c.yaml");
  EXPECT_TRUE(s.listeners.empty());
  EXPECT_TRUE(s.authentication.empty());
  EXPECT_TRUE(s.lan_allowed_ips.empty());
  EXPECT_EQ(s.mode, Mode::kRule);
  EXPECT_EQ(s.log_level, log::Level::kInfo);
  EXPECT_TRUE(s.ipv6);
  EXPECT_FALSE(s.tcp_concurrent);
  EXPECT_TRUE(s.keep_alive);
  EXPECT_EQ(s.keep_alive_idle, seconds(15));
  EXPECT_FALSE(s.external_controller);
  EXPECT_EQ(s.cors_allow_origins, std::vector<std::string>{"*"});
  EXPECT_TRUE(s.cors_allow_private_network);
  EXPECT_EQ(s.workers, 0u);
  EXPECT_EQ(s.buffer_budget, 0u);
  EXPECT_EQ(s.handshake_timeout, seconds(10));
}

TEST(ConfigSettings, EveryKey) {
  const Settings s = loaded(R"(
port: 7890
socks-port: "7891"
mixed-port: 7892
allow-lan: true
bind-address: "*"
authentication: ["ann:pa:ss", 'bob:', "eve:1"]
skip-auth-prefixes: [127.0.0.1/8, ::1/128]
lan-allowed-ips:
  - 192.0.2.0/24
lan-disallowed-ips: [192.0.2.9]
mode: Direct
log-level: WARNING
ipv6: false
tcp-concurrent: true
keep-alive-idle: 60
keep-alive-interval: 0
disable-keep-alive: true
external-controller: '[::1]:9090'
secret: 0123
external-controller-cors: {allow-origins: ["https://ui.example"], allow-private-network: false}
rules:
  - DOMAIN-SUFFIX,example.org,DIRECT
  - "MATCH,REJECT"
culvert: {workers: 2, buffer-budget: 32 MiB, handshake-timeout: 5}
)");
  ASSERT_EQ(s.listeners.size(), 3u);
  EXPECT_EQ(s.listeners[0].name, "DEFAULT-HTTP");
  EXPECT_EQ(s.listeners[0].type, "http");
  EXPECT_EQ(s.listeners[0].listen.to_string(), "[::]:7890");
  EXPECT_EQ(s.listeners[0].line, 2u);
  EXPECT_EQ(s.listeners[0].column, 7u);
  EXPECT_EQ(s.listeners[1].type, "socks");
  EXPECT_EQ(s.listeners[1].listen.port, 7891);
  EXPECT_EQ(s.listeners[2].type, "mixed");
  EXPECT_EQ(s.listeners[2].name, "DEFAULT-MIXED");
  ASSERT_EQ(s.authentication.size(), 3u);
  EXPECT_EQ(s.authentication[0].user, "ann");
  EXPECT_EQ(s.authentication[0].password, "pa:ss");
  EXPECT_EQ(s.authentication[1].password, "");
  ASSERT_EQ(s.skip_auth_prefixes.size(), 2u);
  EXPECT_EQ(s.skip_auth_prefixes[0].to_string(), "127.0.0.1/8");
  EXPECT_EQ(s.lan_allowed_ips[0].to_string(), "192.0.2.0/24");
  EXPECT_EQ(s.lan_disallowed_ips[0].length, 32);
  EXPECT_EQ(s.mode, Mode::kDirect);
  EXPECT_EQ(s.log_level, log::Level::kWarning);
  EXPECT_FALSE(s.ipv6);
  EXPECT_TRUE(s.tcp_concurrent);
  EXPECT_FALSE(s.keep_alive);
  EXPECT_EQ(s.keep_alive_idle, seconds(60));
  EXPECT_EQ(s.keep_alive_interval, seconds(15));
  ASSERT_TRUE(s.external_controller);
  EXPECT_EQ(s.external_controller->to_string(), "[::1]:9090");
  EXPECT_EQ(s.secret, "0123");
  EXPECT_EQ(s.cors_allow_origins, std::vector<std::string>{"https://ui.example"});
  EXPECT_FALSE(s.cors_allow_private_network);
  ASSERT_EQ(s.rules->size(), 2u);
  EXPECT_EQ(s.rules->text(0), "example.org");
  EXPECT_EQ(s.rules->type(1), route::RuleType::kMatch);
  EXPECT_EQ(s.targets[s.rules->outbound(1)], "REJECT");
  EXPECT_EQ(s.workers, 2u);
  EXPECT_EQ(s.buffer_budget, 32u << 20);
  EXPECT_EQ(s.handshake_timeout, seconds(5));
}

TEST(ConfigSettings, ListenAddress) {
  const auto address = [](const std::string& keys) {
    return loaded("mixed-port: 1\n" + keys).listeners.at(0).listen.to_string();
  };
  EXPECT_EQ(address(""), "127.0.0.1:1");
  EXPECT_EQ(address("bind-address: '*'\n"), "127.0.0.1:1");
  EXPECT_EQ(address("allow-lan: false\nbind-address: 192.0.2.1\n"), "127.0.0.1:1");
  EXPECT_EQ(address("allow-lan: true\n"), "[::]:1");
  EXPECT_EQ(address("allow-lan: true\nbind-address: 192.0.2.1\n"), "192.0.2.1:1");
  EXPECT_EQ(address("allow-lan: true\nbind-address: '[2001:db8::1]'\n"), "[2001:db8::1]:1");
  EXPECT_EQ(address("allow-lan: true\nbind-address: 2001:db8::1\n"), "[2001:db8::1]:1");
  EXPECT_EQ(refusal("mixed-port: 1\nallow-lan: true\nbind-address: eth0\n"),
            "c.yaml:3:15: error: bind-address: found 'eth0', expected '*' or an IP address of this "
            "host\n");
}

// K05.
TEST(ConfigSettings, Ports) {
  EXPECT_EQ(loaded("port: \"34874\"\n").listeners.at(0).listen.port, 34874);
  EXPECT_TRUE(loaded("port: 0\nsocks-port: '0'\nmixed-port:\n").listeners.empty());
  for (const char* bad : {"70000", "-1", "443.0", "443 ", "65536", "x", ""}) {
    EXPECT_EQ(
        refusal(format("mode: rule\nport: \"{}\"\n", bad)),
        format("c.yaml:2:7: error: port: found '{}', expected a port from 1 to 65535, or 0 for "
               "off\n",
               bad));
  }
  EXPECT_EQ(
      refusal("mixed-port: 443.0\nsocks-port: [1]\n"),
      "c.yaml:2:13: error: socks-port: found a list, expected a port from 1 to 65535, or 0 for "
      "off\n"
      "c.yaml:1:13: error: mixed-port: found '443.0', expected a port from 1 to 65535, or 0 for "
      "off\n");
}

TEST(ConfigSettings, TwoOnOnePort) {
  EXPECT_EQ(refusal("mixed-port: 7890\nport: 7890\n"),
            "c.yaml:1:13: error: mixed-port: found '7890', expected another address or port than "
            "127.0.0.1:7890, which DEFAULT-HTTP has at 2:7\n");
  EXPECT_EQ(
      refusal("mixed-port: 9090\nexternal-controller: :9090\n"),
      "c.yaml:2:22: error: external-controller: found ':9090', expected another address or port "
      "than 127.0.0.1:9090, which DEFAULT-MIXED has at 1:13\n");
  loaded("mixed-port: 9090\nexternal-controller: '[::1]:9090'\n");
}

TEST(ConfigSettings, Controller) {
  const auto controller = [](const std::string& value) {
    return loaded("external-controller: " + value + "\n").external_controller;
  };
  EXPECT_EQ(controller(":9090")->to_string(), "[::]:9090");
  EXPECT_EQ(controller("127.0.0.1:9090")->to_string(), "127.0.0.1:9090");
  EXPECT_EQ(controller("localhost:9090")->to_string(), "127.0.0.1:9090");
  EXPECT_EQ(controller("0.0.0.0:9090")->to_string(), "0.0.0.0:9090");
  EXPECT_FALSE(controller("''"));
  for (const char* bad :
       {"9090", "ui.example:9090", "127.0.0.1", "127.0.0.1:99999", "::1:9090", ":", "*:9090"}) {
    EXPECT_EQ(
        refusal(format("external-controller: '{}'\n", bad)),
        format("c.yaml:1:22: error: external-controller: found '{}', expected host:port, such "
               "as 127.0.0.1:9090 or [::1]:9090, or :9090 for every address\n",
               bad));
  }
  Diagnostics out;
  EXPECT_EQ(parse_controller("[::1]:9", "-ext-ctl", out)->to_string(), "[::1]:9");
  EXPECT_FALSE(parse_controller("9090", "-ext-ctl", out));
  EXPECT_EQ(out.to_string(),
            "-ext-ctl: error: found '9090', expected host:port, such as 127.0.0.1:9090 or "
            "[::1]:9090, or :9090 for every address\n");
}

TEST(ConfigSettings, CredentialsAreNeverShown) {
  EXPECT_EQ(refusal("authentication: [hunter2, ':hunter2', a: hunter2, ~]\nsecret: [hunter2]\n"),
            "c.yaml:1:18: error: authentication[0]: found (not shown), expected user:password\n"
            "c.yaml:1:27: error: authentication[1]: found (not shown), expected user:password\n"
            "c.yaml:1:39: error: authentication[2]: found a mapping, expected text\n"
            "c.yaml:1:51: error: authentication[3]: found nothing, expected text\n"
            "c.yaml:2:9: error: secret: found a list, expected text\n");
  Diagnostics out;
  const auto settings =
      load_text("c.yaml", "authentication: ['a:hunter2', 'a:hunter3']\n", options(), out);
  ASSERT_TRUE(settings);
  ASSERT_EQ(settings->authentication.size(), 1u);
  EXPECT_EQ(settings->authentication[0].password, "hunter3");
  EXPECT_EQ(out.to_string(),
            "c.yaml:1:31: warning: authentication[1]: a user named before; the later password "
            "counts\n");
}

TEST(ConfigSettings, PrefixLists) {
  EXPECT_EQ(
      refusal("skip-auth-prefixes: [{}, 10.0.0.0/33]\nlan-allowed-ips: []\n"),
      "c.yaml:1:22: error: skip-auth-prefixes[0]: found a mapping, expected text\n"
      "c.yaml:1:26: error: skip-auth-prefixes[1]: found '10.0.0.0/33', expected a prefix such "
      "as 192.0.2.0/24 or 2001:db8::/32\n"
      "c.yaml:2:18: error: lan-allowed-ips: found a list, expected at least one prefix: an "
      "empty list admits nobody\n");
}

TEST(ConfigSettings, WordsAndNumbers) {
  EXPECT_EQ(loaded("mode: global\n").mode, Mode::kGlobal);
  EXPECT_EQ(
      refusal("mode: script\nlog-level: loud\nipv6: maybe\nkeep-alive-idle: 99999\n"
              "rules: MATCH,DIRECT\n"),
      "c.yaml:1:7: error: mode: found 'script', expected rule, global or direct\n"
      "c.yaml:3:7: error: ipv6: found 'maybe', expected true or false\n"
      "c.yaml:4:18: error: keep-alive-idle: found '99999', expected a time from 0s to 32767s\n"
      "c.yaml:2:12: error: log-level: found 'loud', expected silent, error, warning, info or "
      "debug\n"
      "c.yaml:5:8: error: rules: found 'MATCH,DIRECT', expected a list\n");
  EXPECT_EQ(
      refusal("culvert:\n  workers: 999\n  buffer-budget: 4KiB\n  handshake-timeout: 0\n"),
      "c.yaml:2:12: error: culvert.workers: found '999', expected a whole number from 0 to 256\n"
      "c.yaml:3:18: error: culvert.buffer-budget: found '4KiB', expected at least 1MiB, or 0 "
      "to go by the size of the memory\n"
      "c.yaml:4:22: error: culvert.handshake-timeout: found '0', expected a time from 1s to "
      "600s\n");
}

TEST(ConfigSettings, RulesThroughAliasesKeepTheirPlace) {
  const Settings s = loaded("x-rules: &r\n  - MATCH,DIRECT\nrules: *r\n");
  ASSERT_EQ(s.rules->size(), 1u);
  EXPECT_EQ(s.rules->type(0), route::RuleType::kMatch);
  EXPECT_EQ(
      refusal("x-rules: &r\n  - MATCH,NOWHERE\nrules: *r\n"),
      "c.yaml:2:5: error: rules[0]: found 'MATCH,NOWHERE', expected an existing target instead "
      "of 'NOWHERE'\n");
}

// Rules are compiled while the document is read; where they stand or how they got there makes no
// difference, and neither does what else is wrong.
TEST(ConfigSettings, RulesFromAnywhere) {
  for (const char* text :
       {"rules:\n  - DOMAIN,a.example,REJECT\n  - MATCH,DIRECT\n",
        "rules: [\"DOMAIN,a.example,REJECT\", 'MATCH,DIRECT']\nmode: rule\n",
        "rules: &r\n  - DOMAIN,a.example,REJECT\n  - MATCH,DIRECT\nx-more: *r\n",
        R"(x-r: &r ["MATCH,DIRECT"]
<<: {rules: *r}
rules: ["DOMAIN,a.example,REJECT", &m "MATCH,DIRECT"]
x-m: *m
)",
        "x-base: &b\n  rules: [\"DOMAIN,a.example,REJECT\", \"MATCH,DIRECT\"]\n<<: *b\n",
        "x-m: &m MATCH,DIRECT\nrules: [\"DOMAIN,a.example,REJECT\", *m]\n"}) {
    const Settings s = loaded(text);
    ASSERT_EQ(s.rules->size(), 2u) << text;
    EXPECT_EQ(s.rules->text(0), "a.example") << text;
    EXPECT_EQ(s.targets[s.rules->outbound(0)], "REJECT") << text;
    EXPECT_EQ(s.rules->type(1), route::RuleType::kMatch) << text;
  }
  EXPECT_EQ(loaded("rules: []\n").rules->size(), 0u);
  EXPECT_EQ(loaded("rules:\n").rules->size(), 0u);
  EXPECT_EQ(loaded("x-a: {rules: [\"MATCH,DIRECT\"]}\n").rules->size(), 0u);
  EXPECT_EQ(refusal("rules:\n  - MATCH,DIRECT\n  - [a, {b: c}]\n  - {d: e}\n  -\n  - MATCH,X\n"),
            "c.yaml:3:5: error: rules[1]: found a list, expected text\n"
            "c.yaml:4:5: error: rules[2]: found a mapping, expected text\n"
            "c.yaml:4:9: error: rules[3]: found nothing, expected text\n"
            "c.yaml:6:5: error: rules[4]: found 'MATCH,X', expected an existing target instead of "
            "'X'\n");
  EXPECT_NE(refusal("rules: [\"MATCH,DIRECT\"]\nrules: [\"MATCH,REJECT\"]\n").find("rules' again"),
            std::string::npos);
}

TEST(ConfigSettings, OutboundSocketsAndTheRest) {
  const Settings s = loaded(
      "interface-name: eth0\nrouting-mark: 0x1f\nunified-delay: true\ninbound-tfo: true\n"
      "inbound-mptcp: true\nprofile: {store-selected: false}\n");
  EXPECT_EQ(s.interface_name, "eth0");
  EXPECT_EQ(s.routing_mark, 31u);
  EXPECT_TRUE(s.unified_delay);
  EXPECT_TRUE(s.inbound_tfo);
  EXPECT_TRUE(s.inbound_mptcp);
  EXPECT_FALSE(s.store_selected);
  EXPECT_TRUE(loaded("{}").store_selected);
  EXPECT_EQ(refusal("interface-name: an-interface-of-this-name\nrouting-mark: -1\n"),
            "c.yaml:1:17: error: interface-name: found 'an-interface-of-this-name', expected the "
            "name of an interface: at most 15 bytes\n"
            "c.yaml:2:15: error: routing-mark: found '-1', expected a whole number from 0 to "
            "4294967295\n");
}

TEST(ConfigSettings, PathsStayInTheHomeDirectory) {
  const Settings s =
      loaded("external-controller-unix: run/c.sock\nexternal-ui: ./ui/\nexternal-ui-name: meta\n");
  EXPECT_EQ(s.external_controller_unix, "/home-of-tests/run/c.sock");
  EXPECT_EQ(s.external_ui, "/home-of-tests/ui/meta");
  EXPECT_EQ(loaded("external-ui: /home-of-tests/x/../ui\n").external_ui, "/home-of-tests/ui");
  const std::string inside = "a path in the home directory, or in one that SAFE_PATHS lists\n";
  for (const std::string bad : {"../ui", "/etc", "/home-of-tests/../etc", "/home-of-testsui"}) {
    EXPECT_EQ(refusal("external-ui: " + bad + "\n"),
              "c.yaml:1:14: error: external-ui: found '" + bad + "', expected " + inside);
    EXPECT_EQ(
        refusal("external-controller-unix: " + bad + "\n"),
        "c.yaml:1:27: error: external-controller-unix: found '" + bad + "', expected " + inside);
  }
  LoadOptions how = options();
  how.safe_paths = {"", "/run/culvert/"};
  Diagnostics out;
  const auto safe =
      load_text("c.yaml", "external-controller-unix: /run/culvert/c.sock\n", how, out);
  ASSERT_TRUE(safe) << out.to_string();
  EXPECT_EQ(safe->external_controller_unix, "/run/culvert/c.sock");
  for (const std::string bad : {"..", "/etc", "a/../.."}) {
    EXPECT_EQ(refusal("external-ui: ui\nexternal-ui-name: " + bad + "\n"),
              "c.yaml:2:19: error: external-ui-name: found '" + bad +
                  "', expected the name of a directory in external-ui\n");
  }
  EXPECT_EQ(refusal("external-ui: .\n"),
            "c.yaml:1:14: error: external-ui: found '.', expected a directory of its own\n");
  EXPECT_EQ(loaded("external-ui: .\nexternal-ui-name: ui\n").external_ui, "/home-of-tests/ui");
  EXPECT_EQ(warnings("external-ui-name: meta\n"),
            "c.yaml:1:19: warning: external-ui-name: without external-ui, ignored\n");
  EXPECT_NE(refusal("external-controller-unix: " + std::string(100, 'x') + "\n")
                .find("expected a path of at most 107 bytes: this one has 115\n"),
            std::string::npos);
}

TEST(ConfigSettings, ManyUsers) {
  std::string text = "authentication:\n";
  for (int i = 0; i < 10'000; ++i) text += format("  - u{}:p{}\n", i, i);
  const Settings s = loaded(text + "  - last:one\n");
  ASSERT_EQ(s.authentication.size(), 10'001u);
  EXPECT_EQ(s.authentication[9'999].user, "u9999");
}

// K08.
TEST(ConfigSettings, RulesThatNameNoTarget) {
  EXPECT_EQ(loaded("rules: ['IP-CIDR,192.0.2.0/24,DIRECT,no-resolve,', 'DOMAIN,a.example,PASS', "
                   "'MATCH, DIRECT ']\n")
                .rules->size(),
            3u);
  const std::string said =
      refusal("rules:\n  - IP-CIDR,192.0.2.0/24,no-resolve\n  - DOMAIN,a.example,NOPE\n");
  EXPECT_NE(said.find("c.yaml:2:5: error: rules[0]: found 'IP-CIDR,192.0.2.0/24,no-resolve'"),
            std::string::npos)
      << said;
  EXPECT_NE(said.find("c.yaml:3:5: error: rules[1]: found 'DOMAIN,a.example,NOPE', expected an "
                      "existing target instead of 'NOPE'"),
            std::string::npos)
      << said;
}

// K04.
TEST(ConfigUnknown, WarnsWithTheNearestKey) {
  EXPECT_EQ(
      warnings("mixed-prot: 1\nx-my-tool: {a: b}\ntpl: &t {a: b}\ndns: {enabled: true}\n"
               "culvert: {worker: 1}\nexternal-controller-cors: {allow-origin: ['*']}\n"
               "something: 1\nprofile: {dashboard: 1}\n"),
      "c.yaml:8:11: warning: profile.dashboard: unknown key, ignored\n"
      "c.yaml:5:11: warning: culvert.worker: unknown key, ignored; did you mean workers?\n"
      "c.yaml:6:28: warning: external-controller-cors.allow-origin: unknown key, ignored; did "
      "you mean allow-origins?\n"
      "c.yaml:4:7: warning: dns.enabled: unknown key, ignored; did you mean enable?\n"
      "c.yaml:1:1: warning: mixed-prot: unknown key, ignored; did you mean mixed-port?\n"
      "c.yaml:7:1: warning: something: unknown key, ignored\n");
}

TEST(ConfigUnsupported, OffIsFine) {
  loaded(R"(
redir-port: 0
tproxy-port:
ss-config: ""
interface-name: ''
routing-mark: 0
tls: {certificate: "", private-key: ""}
external-controller-tls: ""
external-doh-server: ""
hosts: {}
dns: {enable: false, nameserver: [192.0.2.1], enhanced-mode: fake-ip}
sniffer: {enable: no}
tun: {enable: false, stack: system}
ntp: {server: time.example}
iptables: {enable: false}
tuic-server: {enable: false, listen: x}
listeners: []
tunnels: []
proxies: []
proxy-groups: []
proxy-providers: {}
rule-providers: ~
sub-rules: {}
unified-delay: false
geo-update-interval: 0
)");
}

TEST(ConfigLoad, WholeDocuments) {
  EXPECT_EQ(refusal(""), "c.yaml: error: an empty profile\n");
  EXPECT_EQ(refusal("# nothing\n"), "c.yaml: error: an empty profile\n");
  EXPECT_EQ(refusal("- a\n"), "c.yaml:1:1: error: found a list, expected a mapping of settings\n");
  EXPECT_EQ(refusal("age-encryption.org/v1\n-> X25519 x\n"),
            "c.yaml: error: a profile encrypted with age: not supported in this version\n");
  EXPECT_EQ(refusal("a: [\n").substr(0, 27), "c.yaml:2:1: error: not vali");
  EXPECT_EQ(refusal("port: 1\nport: 2\n"),
            "c.yaml:2:1: error: key 'port' again; it is first written at 1:1\n");
}

TEST(ConfigLoad, ErrorsOfOtherSourcesDoNotCount) {
  Diagnostics out;
  out.add({Severity::kError, "other.yaml", 1, 1, {}, "wrong", {}});
  EXPECT_TRUE(load_text("c.yaml", "mode: rule\n", options(), out));
}

TEST(ConfigLoad, TruncatedAtEveryByte) {
  const std::string text =
      "mixed-port: 7890\nallow-lan: true\nbind-address: '*'\nauthentication: [\"a:b\"]\n"
      "external-controller: \"[::1]:9090\"\nculvert: {workers: 2, buffer-budget: 8MiB}\n"
      "rules:\n  - DOMAIN,a.example,DIRECT\n  - MATCH,REJECT\n";
  loaded(text);
  for (size_t n = 0; n < text.size(); ++n) {
    Diagnostics out;
    const auto settings = load_text("c.yaml", text.substr(0, n), options(), out);
    EXPECT_EQ(settings.has_value(), !out.has_errors()) << n;
  }
}

TEST(ConfigLoad, Files) {
  Diagnostics out;
  EXPECT_FALSE(load_file("/nonexistent/c.yaml", options(), out));
  EXPECT_EQ(out.to_string(),
            "/nonexistent/c.yaml: error: cannot be read: No such file or directory\n");
  Diagnostics folder;
  EXPECT_FALSE(load_file("/", options(), folder));
  EXPECT_EQ(folder.to_string(), "/: error: cannot be read: Is a directory\n");

  char path[] = "/tmp/culvert_config_XXXXXX";
  const int fd = ::mkstemp(path);
  ASSERT_GE(fd, 0);
  ::close(fd);
  std::ofstream(path) << "mixed-port: 7890\n#" << std::string(200'000, 'x') << "\nmode: direct\n";
  Diagnostics read;
  const auto settings = load_file(path, options(), read);
  ::unlink(path);
  ASSERT_TRUE(settings) << read.to_string();
  EXPECT_EQ(settings->source_name, path);
  EXPECT_EQ(settings->mode, Mode::kDirect);
}

TEST(ConfigLoad, DefaultProfile) {
  const Settings s = loaded(default_profile());
  ASSERT_EQ(s.listeners.size(), 1u);
  EXPECT_EQ(s.listeners[0].listen.to_string(), "127.0.0.1:7890");
  EXPECT_EQ(s.external_controller->to_string(), "127.0.0.1:9090");
  ASSERT_EQ(s.rules->size(), 1u);
  EXPECT_EQ(s.rules->type(0), route::RuleType::kMatch);
  EXPECT_EQ(s.targets[s.rules->outbound(0)], "DIRECT");
}

}  // namespace
}  // namespace culvert::config
