#include "api/config_patch.h"

#include <gtest/gtest.h>

#include "api/classic_ports.h"
#include "api/config_view.h"
#include "api/json_value.h"

namespace culvert::api {
namespace {

config::Settings with_mixed(uint16_t port) {
  config::Settings s;
  set_port(s, ClassicPort::kMixed, port);
  return s;
}

std::string refused(std::string_view body) {
  std::string why;
  EXPECT_FALSE(parse_config_patch(body, why).has_value()) << body;
  return why;
}

ConfigPatch patch_of(std::string_view body) {
  std::string why;
  auto patch = parse_config_patch(body, why);
  EXPECT_TRUE(patch.has_value()) << body << why;
  return patch.value_or(ConfigPatch{});
}

// K33: a bad value is told, an unknown key is not.
TEST(ConfigPatch, SaysWhatIsWrong) {
  EXPECT_EQ(refused(""), "Body invalid");
  EXPECT_EQ(refused("[]"), "Body invalid");
  EXPECT_EQ(refused(R"({"mode":"direct"}x)"), "Body invalid");
  EXPECT_EQ(refused(R"({"ipv6":1})"), "Body invalid");
  EXPECT_EQ(refused(R"({"log-level":"loud"})"),
            "log-level is silent, error, warning, info or debug");
  EXPECT_EQ(refused(R"({"mixed-port":65536})"), "mixed-port is no port");
  EXPECT_EQ(refused(R"({"mixed-port":1e3})"), "Body invalid");
  EXPECT_EQ(refused(R"({"interface-name":"a\u0000b"})"),
            "interface-name is not what an interface can be called");
  EXPECT_EQ(refused(R"({"tun":{"mtu":1400}})"), "tun is not supported by this version of Culvert");
  EXPECT_EQ(refused(R"({"tun":{"enable":"no"}})"),
            "tun is not supported by this version of Culvert");
  patch_of(R"({"unknown":1,"mode":null,"tun":{"enable":false,"mtu":1400},"redir-port":0})");
}

TEST(ConfigPatch, ChangesWhatItNames) {
  Diagnostics out;
  const config::Settings before = with_mixed(7890);
  const auto after = apply_config_patch(
      before, patch_of(R"({"mode":"Global","log-level":"DEBUG","lan-allowed-ips":["10.0.0.0/8"]})"),
      out);
  ASSERT_TRUE(after.has_value());
  EXPECT_EQ(after->mode, config::Mode::kGlobal);
  EXPECT_EQ(after->log_level, log::Level::kDebug);
  EXPECT_EQ(after->lan_allowed_ips.size(), 1u);
  EXPECT_EQ(after->ipv6, before.ipv6);
  EXPECT_EQ(after->rules, before.rules) << "the very same list";
  EXPECT_EQ(port_of(*after, ClassicPort::kMixed), 7890);
}

TEST(ConfigPatch, MovesListeners) {
  Diagnostics out;
  config::Settings s = with_mixed(7890);
  config::ListenerSettings& other = s.listeners.emplace_back();
  other.name = "other";
  other.type = "mixed";
  other.listen = {IpAddress::v4(0x7f000001), 1080};
  auto after =
      apply_config_patch(s, patch_of(R"({"mixed-port":0,"port":81,"socks-port":82})"), out);
  ASSERT_TRUE(after.has_value());
  ASSERT_EQ(after->listeners.size(), 3u);
  EXPECT_EQ(after->listeners[0].name, "DEFAULT-HTTP");
  EXPECT_EQ(after->listeners[0].type, "http");
  EXPECT_EQ(after->listeners[0].listen.to_string(), "127.0.0.1:81");
  EXPECT_EQ(after->listeners[1].name, "DEFAULT-SOCKS");
  EXPECT_EQ(after->listeners[2].name, "other");
  after = apply_config_patch(*after, patch_of(R"({"allow-lan":true})"), out);
  ASSERT_TRUE(after.has_value());
  EXPECT_EQ(after->listeners[0].listen.to_string(), "[::]:81");
  EXPECT_EQ(after->listeners[2].listen.to_string(), "127.0.0.1:1080");
  after = apply_config_patch(*after, patch_of(R"({"bind-address":"[::1]"})"), out);
  ASSERT_TRUE(after.has_value());
  EXPECT_EQ(after->listeners[1].listen.to_string(), "[::1]:82");
  EXPECT_FALSE(out.has_errors());
  EXPECT_FALSE(apply_config_patch(*after, patch_of(R"({"port":82})"), out).has_value());
  EXPECT_TRUE(out.has_errors());
}

TEST(ConfigView, IsJson) {
  config::Settings s = with_mixed(7890);
  s.skip_auth_prefixes.push_back(*Prefix::parse("10.0.0.0/8"));
  const auto object = parse_json_object(config_json(s));
  ASSERT_TRUE(object.has_value());
  int64_t port = 0;
  EXPECT_EQ(read_member(*object, "mixed-port", port), Member::kFound);
  EXPECT_EQ(port, 7890);
  EXPECT_EQ(object->at("skip-auth-prefixes").as_array().size(), 1u);
  EXPECT_TRUE(object->at("authentication").is_null());
}

TEST(JsonValue, HasBounds) {
  const auto nested = [](size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
  };
  EXPECT_TRUE(parse_json(nested(kMaxJsonDepth)).has_value());
  EXPECT_FALSE(parse_json(nested(kMaxJsonDepth + 1)).has_value());
  for (const std::string_view text : {"", " ", "{", "1 2", "{}{}", "nul", "\"\xff\"", "[1,]"}) {
    EXPECT_FALSE(parse_json(text).has_value()) << text;
  }
}

}  // namespace
}  // namespace culvert::api
