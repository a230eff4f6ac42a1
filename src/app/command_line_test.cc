#include "app/command_line.h"

#include <gtest/gtest.h>

#include <map>

namespace culvert::app {
namespace {

using Variables = std::map<std::string, std::string>;

Result<CommandLine> parse(const std::vector<std::string>& args, std::string& message,
                          const Variables& variables = {}) {
  const auto environment = [&](const char* name) -> std::optional<std::string> {
    const auto at = variables.find(name);
    if (at == variables.end()) return std::nullopt;
    return at->second;
  };
  return parse_command_line(args, environment, message);
}

TEST(CommandLine, TakesMihomosForms) {
  std::string message;
  auto r = parse({"-d", "/h", "--f=a.yaml", "-t", "-ext-ctl", "127.0.0.1:1", "-secret="}, message);
  ASSERT_TRUE(r.ok()) << message;
  EXPECT_EQ(r->home, "/h");
  EXPECT_EQ(r->config, "a.yaml");
  EXPECT_TRUE(r->test);
  EXPECT_FALSE(r->version);
  EXPECT_FALSE(r->strict);
  EXPECT_EQ(r->controller, "127.0.0.1:1");
  EXPECT_EQ(r->secret, "");
  EXPECT_EQ(parse({"-f", "-"}, message)->config, "-");
  EXPECT_FALSE(parse({"-t=false"}, message)->test);
}

TEST(CommandLine, TakesAllThatThisVersionCanDo) {
  std::string message;
  auto r = parse({"--strict", "-config", "bW9kZTogcnVsZQo", "-ext-ctl-unix", "c.sock", "-ext-ui",
                  "ui", "-post-up", "a b", "-post-down=c"},
                 message);
  ASSERT_TRUE(r.ok()) << message;
  EXPECT_TRUE(r->strict);
  EXPECT_EQ(r->config_text, "mode: rule\n");
  EXPECT_EQ(r->controller_unix, "c.sock");
  EXPECT_EQ(r->external_ui, "ui");
  EXPECT_EQ(r->post_up, "a b");
  EXPECT_EQ(r->post_down, "c");
  EXPECT_TRUE(r->notes.empty());
  EXPECT_EQ(parse({"-ext-ctl-pipe", "x"}, message)->notes.size(), 1u);
}

TEST(CommandLine, WhatItCannotDoItSays) {
  std::string message;
  for (const std::vector<std::string>& args :
       std::vector<std::vector<std::string>>{{"-age-secret-key", "x"},
                                             {"-ext-ctl-tls", ":1"},
                                             {"-m"},
                                             {"-ext-ctl-routing-mark", "1"}}) {
    const auto r = parse(args, message);
    ASSERT_FALSE(r.ok()) << args[0];
    EXPECT_EQ(r.error().code, Errc::kUnsupported);
    EXPECT_TRUE(message.starts_with(args[0] + ": ")) << message;
    EXPECT_TRUE(message.ends_with("not supported in this version")) << message;
  }
  EXPECT_TRUE(parse({"-m=false", "-ext-ctl-routing-mark=0", "-ext-ctl-tls="}, message).ok());
  EXPECT_FALSE(parse({}, message, {{"CLASH_AGE_SECRET_KEY", "x"}}).ok());
  EXPECT_EQ(message,
            "CLASH_AGE_SECRET_KEY: profiles encrypted with age: not supported in this version");
}

TEST(CommandLine, AFlagWinsOverTheEnvironment) {
  std::string message;
  const Variables variables = {{"CLASH_HOME_DIR", "/e"},
                               {"CLASH_CONFIG_FILE", "e.yaml"},
                               {"CLASH_OVERRIDE_EXTERNAL_CONTROLLER", ":1"},
                               {"CLASH_OVERRIDE_EXTERNAL_CONTROLLER_UNIX", "e.sock"},
                               {"CLASH_OVERRIDE_EXTERNAL_UI_DIR", "e"},
                               {"CLASH_OVERRIDE_SECRET", "es"},
                               {"CLASH_POST_UP", "up"},
                               {"CLASH_POST_DOWN", "down"}};
  auto r = parse({}, message, variables);
  ASSERT_TRUE(r.ok()) << message;
  EXPECT_EQ(r->home, "/e");
  EXPECT_EQ(r->config, "e.yaml");
  EXPECT_EQ(r->controller, ":1");
  EXPECT_EQ(r->controller_unix, "e.sock");
  EXPECT_EQ(r->external_ui, "e");
  EXPECT_EQ(r->secret, "es");
  EXPECT_EQ(r->post_up, "up");
  EXPECT_EQ(r->post_down, "down");
  r = parse({"-d", "/f", "-secret", "fs", "-f", "f.yaml"}, message, variables);
  EXPECT_EQ(r->home, "/f");
  EXPECT_EQ(r->secret, "fs");
  EXPECT_EQ(r->config, "f.yaml");
  const Variables text = {{"CLASH_CONFIG_STRING", "bW9kZTogcnVsZQo="}};
  EXPECT_EQ(parse({}, message, text)->config_text, "mode: rule\n");
  EXPECT_FALSE(parse({"-f", "f.yaml"}, message, text)->config_text);
  EXPECT_FALSE(parse({}, message, {{"CLASH_CONFIG_STRING", "%"}}).ok());
  EXPECT_EQ(message, "CLASH_CONFIG_STRING: option -config takes a profile in base64");
}

TEST(CommandLine, Subcommands) {
  std::string message;
  EXPECT_EQ(parse({"keys"}, message)->subcommand, Subcommand::kKeys);
  auto r =
      parse({"explain", "-f", "a.yaml", "--url", "https://a.example/", "--host=b.example", "--port",
             "443", "--network=udp", "--source", "192.0.2.1", "--inbound", "in", "--user", "ann"},
            message);
  ASSERT_TRUE(r.ok()) << message;
  EXPECT_EQ(r->subcommand, Subcommand::kExplain);
  EXPECT_EQ(r->config, "a.yaml");
  EXPECT_EQ(r->explain.url, "https://a.example/");
  EXPECT_EQ(r->explain.host, "b.example");
  EXPECT_EQ(r->explain.port, 443);
  EXPECT_EQ(r->explain.network, "udp");
  EXPECT_EQ(r->explain.source, "192.0.2.1");
  EXPECT_EQ(r->explain.inbound, "in");
  EXPECT_EQ(r->explain.user, "ann");
  for (const std::vector<std::string>& bad :
       std::vector<std::vector<std::string>>{{"explain"},
                                             {"explain", "--host=a", "--port=x"},
                                             {"explain", "--host=a", "--network=icmp"},
                                             {"explain", "--host=a", "--source=b"},
                                             {"--host=a"},
                                             {"-t", "keys"}}) {
    EXPECT_FALSE(parse(bad, message).ok());
  }
}

TEST(CommandLine, SaysWhatIsWrong) {
  std::string message;
  EXPECT_FALSE(parse({"-nope"}, message).ok());
  EXPECT_EQ(message, "unknown option -nope");
  EXPECT_FALSE(parse({"-f"}, message).ok());
  EXPECT_EQ(message, "option -f needs a value");
  EXPECT_FALSE(parse({"x"}, message).ok());
  EXPECT_FALSE(parse({"-t=maybe"}, message).ok());
  EXPECT_FALSE(parse({"-config", "%"}, message).ok());
}

}  // namespace
}  // namespace culvert::app
