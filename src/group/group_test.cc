#include "group/group.h"

#include <gtest/gtest.h>

namespace culvert::group {
namespace {

TEST(Group, TheFirstMemberUntilAnotherIsChosen) {
  Group group("G", "Selector", {7, 3, 5});
  EXPECT_EQ(group.pick(), 7u);
  group.choose(2);
  EXPECT_EQ(group.pick(), 5u);
  EXPECT_EQ(group.chosen(), 2u);
}

}  // namespace
}  // namespace culvert::group
