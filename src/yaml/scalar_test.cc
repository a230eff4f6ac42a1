#include "yaml/scalar.h"

#include <gtest/gtest.h>

#include <string>

#include "yaml/text.h"

namespace culvert::yaml {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

TEST(YamlScalar, Booleans) {
  for (const char* yes : {"true", "True", "TRUE", "y", "Y", "yes", "on", "1"}) {
    EXPECT_EQ(parse_boolean(yes), true) << yes;
  }
  for (const char* no : {"false", "False", "FALSE", "n", "N", "no", "off", "0"}) {
    EXPECT_EQ(parse_boolean(no), false) << no;
  }
  for (const char* text : {"", "tRue", "2", "enable", " true", "~"}) {
    EXPECT_FALSE(parse_boolean(text)) << text;
  }
}

TEST(YamlScalar, Integers) {
  EXPECT_EQ(parse_integer("0"), 0);
  EXPECT_EQ(parse_integer("34874"), 34874);
  EXPECT_EQ(parse_integer("-1"), -1);
  EXPECT_EQ(parse_integer("+7"), 7);
  EXPECT_EQ(parse_integer("0x1F"), 31);
  EXPECT_EQ(parse_integer("0o17"), 15);
  EXPECT_EQ(parse_integer("0b101"), 5);
  EXPECT_EQ(parse_integer("1_000"), 1000);
  EXPECT_EQ(parse_integer("9223372036854775807"), 9223372036854775807);
  for (const char* text : {"",
                           "-",
                           "+",
                           "443.0",
                           "443 ",
                           " 443",
                           "4e2",
                           "0443",
                           "0x",
                           "0o8",
                           "0b2",
                           "_1",
                           "1_",
                           "1__0",
                           "_",
                           "--1",
                           "9223372036854775808",
                           "99999999999999999999",
                           "1,000",
                           "0x-1",
                           "0xFFFFFFFFFFFFFFFF"}) {
    EXPECT_FALSE(parse_integer(text)) << text;
  }
}

TEST(YamlScalar, Durations) {
  EXPECT_EQ(parse_duration("10", seconds(1)), seconds(10));
  EXPECT_EQ(parse_duration("10", milliseconds(1)), milliseconds(10));
  EXPECT_EQ(parse_duration("500ms", seconds(1)), milliseconds(500));
  EXPECT_EQ(parse_duration("5s", milliseconds(1)), seconds(5));
  EXPECT_EQ(parse_duration("3m", seconds(1)), minutes(3));
  EXPECT_EQ(parse_duration("2h", seconds(1)), hours(2));
  EXPECT_EQ(parse_duration("1d", seconds(1)), hours(24));
  for (const char* text : {"", "s", "-1", "-1s", "1.5s", "1x", "1 0", "1s ", "9223372037",
                           "18446744073709551615d", "99999999999999999999s"}) {
    EXPECT_FALSE(parse_duration(text, seconds(1))) << text;
  }
}

TEST(YamlScalar, Sizes) {
  EXPECT_EQ(parse_size("0"), 0u);
  EXPECT_EQ(parse_size("4096"), 4096u);
  EXPECT_EQ(parse_size("64KiB"), 65536u);
  EXPECT_EQ(parse_size("64 MiB"), 64u << 20);
  EXPECT_EQ(parse_size("1G"), 1u << 30);
  for (const char* text : {"", "MiB", "-1", "1.5MiB", "1mib", "1TiB", "9999999999GiB", "64  MiB"}) {
    EXPECT_FALSE(parse_size(text)) << text;
  }
}

TEST(YamlText, QuotesWithoutControlCharacters) {
  EXPECT_EQ(quoted("a b"), "'a b'");
  EXPECT_EQ(quoted("a\x1b[31m\nb\x7f"), "'a?[31m?b?'");
  EXPECT_EQ(quoted("a\xC2\x9B z"), "'a? z'");
  EXPECT_EQ(quoted("香港"), "'香港'");
  const std::string cut = yaml::quoted(std::string(59, 'x') + "香港");
  EXPECT_EQ(cut, "'" + std::string(59, 'x') + "...'");
}

TEST(YamlText, NearestWord) {
  constexpr std::string_view kWords[] = {"enable", "reality-opts", "ws-opts", "mode", "port"};
  EXPECT_EQ(nearest("enabled", kWords), "enable");
  EXPECT_EQ(nearest("reality-ops", kWords), "reality-opts");
  EXPECT_EQ(nearest("relaity_opts", kWords), "reality-opts");
  EXPECT_EQ(nearest("prot", kWords), "port");
  EXPECT_FALSE(nearest("something-else", kWords));
  EXPECT_FALSE(nearest("", kWords));
  EXPECT_FALSE(nearest(std::string(100'000, 'a'), kWords));
}

}  // namespace
}  // namespace culvert::yaml
