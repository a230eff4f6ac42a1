// A profile as people publish them: thousands of lines, every type of node with all its options,
// anchors and merge keys, groups of all types with filters, listeners, rules.
#include <algorithm>
#include <set>

#include "base/format.h"
#include "config/schema.h"
#include "config/testing/load.h"

namespace culvert::config {
namespace {

using testing::options;

constexpr int kNodes = 130;  // five of each type
constexpr int kRules = 4'200;
const char* const kPlaces[] = {"🇭🇰 香港", "🇯🇵 日本", "🇺🇸 United States", "🇸🇬 新加坡",
                               "🇩🇪 Frankfurt"};

// Values for keys that do not take text.
std::string value_of(const Key& key) {
  if (key.name == "ip-version") return "dual";
  if (key.name == "port") return "'443'";
  if (key.name == "server") return "node.example";
  if (key.name == "udp" || key.name == "tls" || key.name == "tfo" || key.name == "mptcp") {
    return "true";
  }
  if (key.name == "alpn") return "[h2, http/1.1]";
  if (key.name == "short-id") return "2351e1";
  return "0";
}

// The keys of a section, one a line, with what is inside them.
void append_keys(std::string& out, std::string_view section, int indent,
                 std::set<std::string_view> open) {
  // A section inside itself ends there.
  if (!open.insert(section).second) return;
  for (const Key& key : keys_of(section)) {
    if (key.name == "name" || key.name == "type" || key.name == "dialer-proxy") continue;
    out += format("{:{}}{}:", "", indent, key.name);
    if (key.nesting == Nesting::kNone) {
      out += " " + value_of(key) + "\n";
    } else if (indent > 8 || open.contains(key.section)) {
      out += " {}\n";
    } else {
      out += "\n";
      append_keys(out, key.section, indent + 2, open);
    }
  }
}

std::string profile() {
  std::string out = R"(# published
mixed-port: 7890
allow-lan: true
bind-address: '*'
mode: rule
log-level: info
ipv6: true
unified-delay: true
tcp-concurrent: true
external-controller: 127.0.0.1:9090
external-ui: ui
profile: {store-selected: true}
dns: {enable: false, enhanced-mode: fake-ip, fake-ip-filter: ['+.lan', '*.local']}
x-test: &test {type: url-test, url: 'https://www.gstatic.com/generate_204', interval: 300, tolerance: 50}
x-select: &select {type: select, include-all: true}
fast: &fast {<<: *test, lazy: true}
listeners:
  - {name: http-in, type: http, port: 8080, listen: 127.0.0.1}
  - {name: many, type: mixed, port: 20000-20007, users: [{username: u, password: p}]}
  - {name: office, type: socks, port: 1081, rule: office, users: []}
tunnels: ['tcp,127.0.0.1:6553,a.example:53,DIRECT']
sub-rules:
  office:
    - DOMAIN-SUFFIX,office.example,DIRECT
    - MATCH,🚀 选择
proxies:
)";
  const auto types = proxy_types();
  for (int i = 0; i < kNodes; ++i) {
    const std::string_view type = types[static_cast<size_t>(i) % types.size()];
    // The common ones may be in every type's own list.
    std::string keys;
    append_keys(keys, format("proxies:{}", type), 4, {});
    out += format("  - name: {} {:02}\n    type: {}\n{}", kPlaces[i % 5], i, type,
                  type == "socks5" ? "    server: node.example\n    port: 1080\n" : keys);
  }
  out += R"(proxy-groups:
  - {name: 🚀 选择, <<: *select, proxies: [♻️ 自动, DIRECT]}
  - {name: ♻️ 自动, <<: *fast, include-all: true, exclude-filter: '(?i)frankfurt'}
  - {name: 🇭🇰, <<: *select, filter: 香港}
  - {name: 🇯🇵, <<: *fast, include-all-proxies: true, filter: '日本`(?i)japan'}
  - {name: 故障, type: fallback, proxies: [🇭🇰, 🇯🇵, 🚀 选择]}
  - {name: 均衡, type: load-balance, include-all: true, exclude-type: Vmess|vless, strategy: round-robin}
  - {name: 空, <<: *select, filter: nothing at all}
rules:
)";
  const char* const targets[] = {"🚀 选择", "♻️ 自动", "DIRECT", "REJECT", "🇭🇰", "故障"};
  for (int i = 0; i < kRules; ++i) {
    const char* target = targets[i % std::size(targets)];
    switch (i % 7) {
      case 0:
        out += format("  - DOMAIN,host{}.example,{}\n", i, target);
        break;
      case 1:
        out += format("  - IP-CIDR,10.{}.{}.0/24,{},no-resolve\n", i / 256, i % 256, target);
        break;
      case 2:
        out += format("  - DOMAIN-KEYWORD,word{},{}\n", i, target);
        break;
      case 3:
        out += format("  - 'AND,((DOMAIN-SUFFIX,and{}.example),(NETWORK,tcp)),{}'\n", i, target);
        break;
      case 4:
        out += format("  - IN-NAME,many,{}\n", target);
        break;
      default:
        out += format("  - DOMAIN-SUFFIX,suffix{}.example,{}\n", i, target);
        break;
    }
  }
  return out + "  - MATCH,🚀 选择\n";
}

TEST(ConfigPublicStyle, LoadsWithItsReport) {
  const std::string text = profile();
  const auto lines = std::ranges::count(text, '\n');
  EXPECT_GT(lines, 5'000);
  Diagnostics out;
  const auto loaded = load_text("public.yaml", text, options(), out);
  ASSERT_TRUE(loaded) << out.to_string();
  EXPECT_EQ(out.to_string(), "");
  const Settings& s = *loaded;
  EXPECT_EQ(s.listeners.size(), 1u + 1u + 8u + 1u + 1u);
  EXPECT_EQ(s.proxies.size(), static_cast<size_t>(kNodes));
  EXPECT_EQ(s.groups.size(), 7u + 1u);
  EXPECT_EQ(s.rules->size(), static_cast<uint32_t>(kRules) + 1);
  EXPECT_EQ(s.sub_rules.size(), 1u);

  // direct, reject and socks5 are there; five nodes of each of the other types are listed, once.
  const std::string report = unsupported_report(s);
  size_t listed = 0;
  std::set<std::string> identities;
  for (const ProxySettings& proxy : s.proxies) {
    const std::string line = format(
        "unsupported node '{}': public.yaml:{}:{}: type {} is not "
        "supported in this version\n",
        proxy.name, proxy.line, proxy.column, proxy.type);
    const size_t at = report.find(line);
    const bool is_there = testing::registry().outbound(proxy.type) != nullptr;
    EXPECT_EQ(at == std::string::npos, is_there) << line;
    if (is_there) continue;
    ++listed;
    EXPECT_EQ(report.find(format("node '{}'", proxy.name), at + line.size()), std::string::npos);
    EXPECT_TRUE(identities.insert(proxy.identity).second) << proxy.name;
  }
  EXPECT_EQ(listed, static_cast<size_t>(kNodes) / 26 * 23);
  EXPECT_EQ(static_cast<size_t>(std::ranges::count(report, '\n')), listed + 4);

  const auto group = [&](std::string_view name) {
    return std::ranges::find(s.groups, name, &GroupSettings::name);
  };
  EXPECT_EQ(group("🚀 选择")->members.size(), static_cast<size_t>(kNodes) + 2);
  EXPECT_EQ(group("♻️ 自动")->members.size(), static_cast<size_t>(kNodes) / 5 * 4);
  EXPECT_EQ(group("🇭🇰")->members.size(), static_cast<size_t>(kNodes) / 5);
  EXPECT_EQ(group("均衡")->members.size(), static_cast<size_t>(kNodes) - 10);
  EXPECT_EQ(group("空")->members, std::vector<uint32_t>{4});
  EXPECT_EQ(group("GLOBAL")->members.size(), static_cast<size_t>(kNodes) + 2 + 7);

  Diagnostics refused;
  LoadOptions strict = options();
  strict.strict = true;
  EXPECT_FALSE(load_text("public.yaml", text, strict, refused));
  EXPECT_EQ(refused.errors(), listed + 4);
}

}  // namespace
}  // namespace culvert::config
