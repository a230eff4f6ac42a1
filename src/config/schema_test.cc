#include "config/schema.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/format.h"
#include "config/testing/load.h"

namespace culvert::config {
namespace {

using testing::options;
using testing::refusal;

// Values for keys that do not take 1.
const std::map<std::string_view, std::string_view> kSamples = {
    {"authentication", "['a:b']"},
    {"skip-auth-prefixes", "[192.0.2.0/24]"},
    {"lan-allowed-ips", "[192.0.2.0/24]"},
    {"lan-disallowed-ips", "[192.0.2.0/24]"},
    {"bind-address", "192.0.2.1"},
    {"allow-lan", "true"},
    {"mode", "rule"},
    {"log-level", "info"},
    {"external-controller", "127.0.0.1:9090"},
    {"interface-name", "eth0"},
    {"listeners", "[{name: a, type: http, port: 1}]"},
    {"tunnels", "['tcp,127.0.0.1:1,a.example:1,DIRECT']"},
    {"proxies", "[{name: a, type: direct}]"},
    {"proxy-groups", "[{name: a, type: select, proxies: [DIRECT]}]"},
    {"rules", "['MATCH,DIRECT']"},
    {"sub-rules", "{a: ['MATCH,DIRECT']}"},
    {"external-controller-cors", "{}"},
    {"profile", "{}"},
    {"experimental", "{}"},
    {"culvert", "{}"},
    {"geox-url", "{mmdb: x}"},
    {"clash-for-android", "{append-system-dns: true}"},
    {"allow-origins", "[a]"},
    {"buffer-budget", "64MiB"},
    {"external-ui-name", "x"},
    {"hosts", "{a.example: 192.0.2.1}"},
    {"aster", "{secret: x}"},
    {"proxy-providers", "{p: {type: http}}"},
    {"rule-providers", "{p: {type: http}}"},
    {"tls", "{certificate: x}"},
};

// The sections that are switched on before a key in them counts.
std::string sample_of(const Key& key) {
  if (const auto at = kSamples.find(key.name); at != kSamples.end()) return std::string(at->second);
  const auto inner = keys_of(key.section);
  for (const std::string_view name : {"enable", "enabled"}) {
    if (std::ranges::find(inner, name, &Key::name) != inner.end()) {
      return format("{{{}: true}}", name);
    }
  }
  return key.nesting == Nesting::kNone ? "1" : "{x: 1}";
}

Diagnostics load(const std::string& text, bool strict = false) {
  Diagnostics out;
  LoadOptions how = options();
  how.strict = strict;
  load_text("c.yaml", text, how, out);
  return out;
}

// Whether a key does what its state says, in a profile that has nothing else to be told about.
void check(const Key& key, const std::string& text, bool strict = false) {
  const Diagnostics out = load(text, strict);
  const std::string said = out.to_string();
  switch (key.state) {
    case State::kWorks:
      EXPECT_EQ(said, "") << text;
      break;
    case State::kIgnored:
      EXPECT_EQ(out.errors(), 0u) << text << said;
      EXPECT_EQ(out.warnings(), 1u) << text << said;
      EXPECT_NE(said.find("ignored"), std::string::npos) << text << said;
      break;
    case State::kRefused:
      EXPECT_NE(out.errors(), 0u) << text << said;
      break;
  }
  if (key.nesting == Nesting::kNone) {
    EXPECT_EQ(said.find("unknown key"), std::string::npos) << text << said;
  }
}

TEST(ConfigSchema, EveryKeyOfTheProfile) {
  for (const Key& key : keys_of("")) {
    const std::string with = key.name == "external-ui-name" ? "external-ui: ui\n" : "";
    check(key, with + format("{}: {}\n", key.name, sample_of(key)));
  }
}

TEST(ConfigSchema, EveryKeyOfItsSections) {
  for (const std::string_view section :
       {"external-controller-cors", "profile", "experimental", "culvert"}) {
    for (const Key& key : keys_of(section)) {
      check(key, format("{}: {{{}: {}}}\n", section, key.name, sample_of(key)));
    }
  }
  for (const std::string_view section : {"dns", "sniffer", "tun", "ntp", "iptables"}) {
    for (const Key& key : keys_of(section)) {
      if (key.name == "enable") continue;
      check(key, format("{}: {{enable: true, {}: 1}}\n", section, key.name));
      EXPECT_EQ(load(format("{}: {{enable: false, {}: 1}}\n", section, key.name)).to_string(), "");
    }
  }
  for (const Key& key : keys_of("tls")) check(key, format("tls: {{{}: 1}}\n", key.name));
  for (const Key& key : keys_of("aster")) check(key, format("aster: {{{}: 1}}\n", key.name));
}

TEST(ConfigSchema, EveryKeyOfAGroup) {
  const std::map<std::string_view, std::string_view> samples = {{"name", "g"},
                                                                {"type", "select"},
                                                                {"proxies", "[DIRECT]"},
                                                                {"use", "[p]"},
                                                                {"empty-fallback", "DIRECT"},
                                                                {"default-selected", "DIRECT"},
                                                                {"expected-status", "204"},
                                                                {"exclude-type", "Http"},
                                                                {"exclude-filter", "x"}};
  for (const Key& key : keys_of("proxy-groups")) {
    std::map<std::string_view, std::string_view> entry = {
        {"name", "g"}, {"type", "select"}, {"proxies", "[DIRECT]"}};
    entry[key.name] = samples.contains(key.name) ? samples.at(key.name) : "1";
    std::string text = "proxy-groups:\n-";
    for (const auto& [name, value] : entry) text += format("  {}: {}\n ", name, value);
    check(key, text + "\n");
  }
}

TEST(ConfigSchema, EveryKeyOfListenersThatThereAre) {
  const std::map<std::string_view, std::string_view> samples = {
      {"name", "a"},        {"port", "1000"},         {"listen", "127.0.0.1"},
      {"rule", "sub"},      {"proxy", "DIRECT"},      {"users", "[{username: a, password: b}]"},
      {"network", "[tcp]"}, {"target", "a.example:1"}};
  for (const std::string_view type : {"http", "socks", "mixed", "tunnel"}) {
    std::vector<Key> keys(keys_of("listeners").begin(), keys_of("listeners").end());
    const auto own = keys_of(format("listeners:{}", type));
    keys.insert(keys.end(), own.begin(), own.end());
    for (const Key& key : keys) {
      if (key.name == "type") continue;
      std::map<std::string_view, std::string_view> entry = {{"name", "a"}, {"port", "1000"}};
      if (type == "tunnel") entry["target"] = "a.example:1";
      entry[key.name] = samples.contains(key.name) ? samples.at(key.name) : "1";
      if (key.nesting != Nesting::kNone && !samples.contains(key.name))
        entry[key.name] = "{dest: x}";
      std::string text =
          format("sub-rules: {{sub: ['MATCH,DIRECT']}}\nlisteners:\n- type: {}\n", type);
      for (const auto& [name, value] : entry) text += format("  {}: {}\n", name, value);
      check(key, text);
    }
  }
}

// A node whose type is not there loads, is told, and has no key that counts as unknown.
TEST(ConfigSchema, EveryKeyOfEveryTypeOfNode) {
  for (const std::string_view type : proxy_types()) {
    if (testing::registry().outbound(type) != nullptr) continue;
    std::vector<std::string_view> names{"name", "type"};
    std::string text = format("proxies:\n- name: n\n  type: {}\n", type);
    for (const std::string_view section : {std::string_view("proxies"), std::string_view()}) {
      const auto keys = section.empty() ? keys_of(format("proxies:{}", type)) : keys_of(section);
      for (const Key& key : keys) {
        if (std::ranges::find(names, key.name) != names.end()) continue;
        names.push_back(key.name);
        if (key.name == "dialer-proxy") continue;
        text += format("  {}: {}\n", key.name,
                       key.name == "ip-version"        ? "dual"
                       : key.nesting == Nesting::kNone ? "1"
                                                       : "{}");
      }
    }
    EXPECT_EQ(load(text).to_string(), "") << text;
    EXPECT_NE(refusal(text, true).find(format("type {} is not supported", type)),
              std::string::npos);
    const auto settings = load_text("c.yaml", text, options(), *std::make_unique<Diagnostics>());
    ASSERT_TRUE(settings);
    EXPECT_EQ(settings->proxies.at(0).unsupported,
              format("c.yaml:2:3: type {} is not supported in this version", type));
  }
}

TEST(ConfigSchema, NestedKeysOfNodesAreKnown) {
  std::set<std::string_view> seen;
  std::vector<std::string_view> open;
  for (const std::string_view type : proxy_types()) {
    for (const Key& key : keys_of(format("proxies:{}", type))) {
      if (key.nesting != Nesting::kNone) open.push_back(key.section);
    }
  }
  while (!open.empty()) {
    const std::string_view section = open.back();
    open.pop_back();
    if (!seen.insert(section).second) continue;
    EXPECT_FALSE(keys_of(section).empty()) << section;
    for (const Key& key : keys_of(section)) {
      if (key.nesting != Nesting::kNone) open.push_back(key.section);
    }
  }
  EXPECT_TRUE(seen.contains("xhttp-opts.download-settings"));
  EXPECT_TRUE(seen.contains("tlsmirror.next-step"));
}

// Every section that a key says is inside it is in the table, whatever has it.
TEST(ConfigSchema, SectionsExistAndKeysAreNamedOnce) {
  for (const auto rows : key_rows()) {
    for (const KeyRow& row : rows) {
      std::set<std::string_view> names;
      for (const Key& key : keys_of(row.section)) {
        EXPECT_TRUE(names.insert(key.name).second) << row.section << "." << key.name;
        if (key.nesting != Nesting::kNone) {
          EXPECT_FALSE(keys_of(key.section).empty()) << key.section;
        }
      }
    }
  }
  EXPECT_EQ(proxy_types().size(), 26u);
  EXPECT_EQ(listener_types().size(), 20u);
  EXPECT_EQ(rule_keywords().size(), 37u);
}

// K04.
TEST(ConfigSchema, MisspeltKeysAreNamedWithTheNearestOne) {
  Diagnostics out;
  const auto settings =
      load_text("c.yaml",
                "proxies:\n  - name: n\n    type: vless\n    reality-ops: {public-key: x}\n"
                "    ws-opts: {paht: /}\n    xhttp-opts: {download-settings: {sever: x}}\n",
                options(), out);
  ASSERT_TRUE(settings);
  EXPECT_EQ(out.to_string(),
            "c.yaml:5:15: warning: proxies['n'].ws-opts.paht: unknown key, ignored; did you mean "
            "path?\n"
            "c.yaml:6:38: warning: proxies['n'].xhttp-opts.download-settings.sever: unknown key, "
            "ignored; did you mean server?\n"
            "c.yaml:4:5: warning: proxies['n'].reality-ops: unknown key, ignored; did you mean "
            "reality-opts?\n");
}

TEST(ConfigSchema, EveryRuleType) {
  const std::map<std::string_view, std::string_view> samples = {
      {"IP-CIDR", "192.0.2.0/24"},
      {"IP-CIDR6", "2001:db8::/32"},
      {"SRC-IP-CIDR", "192.0.2.0/24"},
      {"SRC-PORT", "1-2"},
      {"DST-PORT", "443"},
      {"IN-PORT", "7890"},
      {"NETWORK", "tcp"},
      {"IN-TYPE", "HTTP/SOCKS"},
      {"IN-USER", "a"},
      {"IN-NAME", "a"},
      {"AND", "((DOMAIN,a.example),(NETWORK,tcp))"},
      {"OR", "((DOMAIN,a.example),(NETWORK,tcp))"},
      {"NOT", "((DOMAIN,a.example))"}};
  for (const KeywordRow& row : rule_keywords()) {
    const std::string_view payload =
        samples.contains(row.keyword) ? samples.at(row.keyword) : "a.example";
    const std::string rule =
        row.keyword == "MATCH" ? "MATCH,DIRECT" : format("{},{},DIRECT", row.keyword, payload);
    const Diagnostics out = load(format("rules: ['{}']\n", rule));
    EXPECT_EQ(out.errors() == 0, row.state == State::kWorks) << rule << out.to_string();
  }
}

}  // namespace
}  // namespace culvert::config
