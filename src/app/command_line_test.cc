#include "app/command_line.h"

#include <gtest/gtest.h>

namespace culvert::app {
namespace {

TEST(CommandLine, TakesMihomosForms) {
  std::string message;
  auto r = parse_command_line(
      {"-d", "/h", "--f=a.yaml", "-t", "-ext-ctl", "127.0.0.1:1", "-secret="}, message);
  ASSERT_TRUE(r.ok()) << message;
  EXPECT_EQ(r->home, "/h");
  EXPECT_EQ(r->config, "a.yaml");
  EXPECT_TRUE(r->test);
  EXPECT_FALSE(r->version);
  EXPECT_EQ(r->controller, "127.0.0.1:1");
  EXPECT_EQ(r->secret, "");
  EXPECT_EQ(parse_command_line({"-f", "-"}, message)->config, "-");
  EXPECT_FALSE(parse_command_line({"-t=false"}, message)->test);
}

TEST(CommandLine, SaysWhatIsWrong) {
  std::string message;
  EXPECT_FALSE(parse_command_line({"-nope"}, message).ok());
  EXPECT_EQ(message, "unknown option -nope");
  EXPECT_FALSE(parse_command_line({"-f"}, message).ok());
  EXPECT_EQ(message, "option -f needs a value");
  EXPECT_FALSE(parse_command_line({"x"}, message).ok());
  EXPECT_FALSE(parse_command_line({"-t=maybe"}, message).ok());
}

}  // namespace
}  // namespace culvert::app
