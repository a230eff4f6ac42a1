#include "base/utf8.h"

#include <gtest/gtest.h>

namespace culvert {
namespace {

TEST(Utf8, TakesShortestFormsOnly) {
  for (const char* good : {"", "a", "\xc3\xa9", "\xe9\xa6\x99", "\xf0\x9f\x87\xad", "\xee\x80\x80",
                           "\xf4\x8f\xbf\xbf"}) {
    EXPECT_TRUE(is_utf8(good)) << good;
  }
  for (const char* bad : {"\x80", "\xc0\xaf", "\xc1\xbf", "\xe0\x9f\xbf", "\xed\xa0\x80",
                          "\xf0\x8f\xbf\xbf", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xff",
                          "\xc3", "\xe9\xa6", "\xf0\x9f\x87", "\xc3\x28"}) {
    EXPECT_FALSE(is_utf8(bad)) << bad;
  }
}

TEST(Utf8, DecodesCodePoints) {
  EXPECT_EQ(utf8_code_point("a", 1), U'a');
  EXPECT_EQ(utf8_code_point("\xc3\xa9", 2), U'\u00e9');
  EXPECT_EQ(utf8_code_point("\xe4\xb8\xad", 3), U'\u4e2d');
  EXPECT_EQ(utf8_code_point("\xf0\x9f\x87\xad", 4), U'\U0001f1ed');
}

}  // namespace
}  // namespace culvert
