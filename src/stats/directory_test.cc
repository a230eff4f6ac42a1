#include "stats/directory.h"

#include <gtest/gtest.h>

namespace culvert::stats {
namespace {

TEST(Directory, ANameKeepsItsNumber) {
  Directory directory;
  const uint32_t a = directory.number(Dimension::kUser, "a");
  const uint32_t b = directory.number(Dimension::kUser, "b");
  EXPECT_NE(a, b);
  for (int i = 0; i < 1000; ++i) {
    EXPECT_EQ(directory.number(Dimension::kUser, "a"), a);
    EXPECT_EQ(directory.number(Dimension::kUser, "b"), b);
  }
  EXPECT_EQ(directory.size(Dimension::kUser), 2u);
  EXPECT_EQ(directory.name(Dimension::kUser, b), "b");
}

TEST(Directory, DimensionsAreApart) {
  Directory directory;
  EXPECT_EQ(directory.number(Dimension::kUser, "x"), 0u);
  EXPECT_EQ(directory.number(Dimension::kOutbound, "x"), 0u);
  EXPECT_EQ(directory.name(Dimension::kInbound, 0), "");
  EXPECT_EQ(directory.name(Dimension::kUser, 7), "");
}

}  // namespace
}  // namespace culvert::stats
