#include "app/registry.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "base/format.h"
#include "config/schema.h"
#include "config/settings.h"

namespace culvert::app {
namespace {

using config::State;

// What the table of keys says of a type agrees with what its reader does.
TEST(Registry, KeysOfNodesDoWhatTheTableSays) {
  const std::map<std::string_view, std::string_view> samples = {
      {"server", "a.example"}, {"port", "443"}, {"headers", "{X-A: b}"}, {"tls", "true"}};
  const flow::Registry registry = make_registry();
  config::LoadOptions options;
  options.registry = &registry;
  for (const std::string_view type : config::proxy_types()) {
    if (registry.outbound(type) == nullptr) continue;
    const auto keys = config::keys_of(format("proxies:{}", type));
    for (const config::Key& key : keys) {
      std::string text = format("proxies:\n- name: n\n  type: {}\n", type);
      for (const config::Key& other : keys) {
        const bool is_needed = other.name == "server" || other.name == "port";
        if (!is_needed && other.name != key.name) continue;
        text += format("  {}: {}\n", other.name,
                       samples.contains(other.name) ? samples.at(other.name) : "1");
      }
      Diagnostics out;
      const auto settings = config::load_text("p", text, options, out);
      ASSERT_TRUE(settings) << text << out.to_string();
      EXPECT_EQ(out.warnings(), key.state == State::kIgnored ? 1u : 0u) << text << out.to_string();
      EXPECT_EQ(settings->proxies.at(0).unsupported.empty(), key.state != State::kRefused) << text;
    }
  }
}

// A type that is there has keys that work.
TEST(Registry, TheTableKnowsTheTypesThatAreThere) {
  const flow::Registry registry = make_registry();
  const auto check = [](std::string_view list, std::string_view type) {
    const auto keys = config::keys_of(format("{}:{}", list, type));
    const auto works = [](const config::Key& key) { return key.state == State::kWorks; };
    EXPECT_TRUE(keys.empty() || std::ranges::any_of(keys, works)) << list << " " << type;
  };
  for (const std::string_view type : config::proxy_types()) {
    if (registry.outbound(type) != nullptr) check("proxies", type);
  }
  for (const std::string_view type : config::listener_types()) {
    if (registry.inbound(type) != nullptr) check("listeners", type);
  }
}

}  // namespace
}  // namespace culvert::app
