#include "wire/url.h"

#include <gtest/gtest.h>

namespace culvert::wire {
namespace {

TEST(Url, DecodesPercentOnce) {
  // RFC 3986 section 2.1 and 2.4.
  EXPECT_EQ(decode_percent("%41%7e%7E", false), "A~~");
  EXPECT_EQ(decode_percent("%2541", false), "%41");
  EXPECT_EQ(decode_percent("%C3%A9", false), "\xc3\xa9");
  EXPECT_EQ(decode_percent("a%00b", false), std::string_view("a\0b", 3));
  EXPECT_EQ(decode_percent("", true), "");
}

TEST(Url, LeavesWhatIsNoEscape) {
  for (const std::string_view text : {"%", "%4", "%4g", "%g4", "a%", "100% sure", "%%", "%-1"}) {
    EXPECT_EQ(decode_percent(text, false), text);
  }
  EXPECT_EQ(decode_percent("%%41", false), "%A");
}

TEST(Url, PlusIsASpaceInQueriesOnly) {
  EXPECT_EQ(decode_percent("a+b%2Bc", true), "a b+c");
  EXPECT_EQ(decode_percent("a+b%2Bc", false), "a+b+c");
}

TEST(Url, QueryValues) {
  EXPECT_EQ(query_value("a=1&b=2", "b"), "2");
  EXPECT_EQ(query_value("a=1&a=2", "a"), "1");
  EXPECT_EQ(query_value("a=1&b=2", "c"), std::nullopt);
  EXPECT_EQ(query_value("", "a"), std::nullopt);
  EXPECT_EQ(query_value("a", "a"), "");
  EXPECT_EQ(query_value("a=", "a"), "");
  EXPECT_EQ(query_value("&&a=x=y&", "a"), "x=y");
  EXPECT_EQ(query_value("aa=1&ba=2", "a"), std::nullopt);
  EXPECT_EQ(query_value("t%6Fken=x", "token"), "x");
  // K32.
  EXPECT_EQ(query_value("x=1&token=p%2Bw%25%2F%C3%A9", "token"), "p+w%/\xc3\xa9");
}

TEST(Url, SplitsTargets) {
  const struct {
    std::string_view target, path, query;
  } rows[] = {
      {"/a?b=c#d", "/a", "b=c"}, {"/a#b?c", "/a", ""},    {"/a", "/a", ""}, {"/a?", "/a", ""},
      {"?x", "", "x"},           {"/a?b?c", "/a", "b?c"}, {"", "", ""}};
  for (const auto& row : rows) {
    const PathAndQuery got = split_target(row.target);
    EXPECT_EQ(got.path, row.path) << row.target;
    EXPECT_EQ(got.query, row.query) << row.target;
  }
}

}  // namespace
}  // namespace culvert::wire
