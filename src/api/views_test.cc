#include "api/views.h"

#include <gtest/gtest.h>

namespace culvert::api {
namespace {

using namespace std::chrono_literals;

// Seconds since 1970 as `date -u -d ... +%s` has them.
TEST(Views, TimesAreRfc3339) {
  EXPECT_EQ(rfc3339(WallTime(0s)), "1970-01-01T00:00:00.000000000Z");
  EXPECT_EQ(rfc3339(WallTime(1709210096s + 7ns)), "2024-02-29T12:34:56.000000007Z");
  EXPECT_EQ(rfc3339(WallTime(1767225599s + 999'999'999ns)), "2025-12-31T23:59:59.999999999Z");
  EXPECT_EQ(rfc3339(WallTime(951782400s)), "2000-02-29T00:00:00.000000000Z");
  EXPECT_EQ(rfc3339(WallTime(-1ns)), "1969-12-31T23:59:59.999999999Z");
  EXPECT_EQ(rfc3339(WallTime::max()), "2262-04-11T23:47:16.854775807Z");
}

}  // namespace
}  // namespace culvert::api
