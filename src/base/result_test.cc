#include "base/result.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <memory>
#include <string>

namespace culvert {
namespace {

TEST(Result, CarriesValueOrError) {
  Result<std::string> good = std::string("x");
  ASSERT_TRUE(good);
  EXPECT_EQ(*good, "x");
  EXPECT_EQ(good.code(), Errc::kNone);
  Result<std::string> bad = Error(Errc::kReset, Side::kUpstream, true, ECONNRESET);
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error().side, Side::kUpstream);
  good = std::move(bad);
  EXPECT_EQ(good.code(), Errc::kReset);
}

TEST(Result, MovesOnlyTypes) {
  Result<std::unique_ptr<int>> r = std::make_unique<int>(7);
  Result<std::unique_ptr<int>> s = std::move(r);
  std::unique_ptr<int> p = *std::move(s);
  EXPECT_EQ(*p, 7);
}

TEST(Result, MapsErrno) {
  EXPECT_EQ(error_from_errno(EAGAIN).code, Errc::kWouldBlock);
  EXPECT_EQ(error_from_errno(ECONNREFUSED, Side::kUpstream),
            Error(Errc::kRefused, Side::kUpstream, true, ECONNREFUSED));
  EXPECT_EQ(error_from_errno(EMFILE).code, Errc::kExhausted);
  EXPECT_EQ(error_from_errno(EIO).os_errno, EIO);
}

}  // namespace
}  // namespace culvert
