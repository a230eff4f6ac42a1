#include "api/path.h"

#include <gtest/gtest.h>

namespace culvert::api {
namespace {

using Segments = std::vector<std::string>;

Segments split(std::string_view path) {
  auto out = split_path(path);
  EXPECT_TRUE(out.ok()) << path;
  return out.ok() ? *std::move(out) : Segments{"error"};
}

// K30: a name may hold whatever separates names.
TEST(Path, IsSplitBeforeItIsDecoded) {
  EXPECT_EQ(split("/"), Segments{});
  EXPECT_EQ(split("/proxies"), Segments{"proxies"});
  EXPECT_EQ(split("/proxies/"), Segments{"proxies"});
  EXPECT_EQ(split("//"), Segments{""});
  EXPECT_EQ(split("/proxies//delay"), (Segments{"proxies", "", "delay"}));
  EXPECT_EQ(split("/proxies/a%2Fb"), (Segments{"proxies", "a/b"}));
  EXPECT_EQ(split("/proxies/50%2525"), (Segments{"proxies", "50%25"}));
  EXPECT_EQ(split("/proxies/a%252Fb"), (Segments{"proxies", "a%2Fb"}));
  EXPECT_EQ(split("/proxies/a+b%20c"), (Segments{"proxies", "a+b c"}));
  EXPECT_EQ(split("/proxies/.."), (Segments{"proxies", ".."}));
  EXPECT_EQ(split("/x%00y"), (Segments{std::string("x\0y", 3)}));
  EXPECT_EQ(split("/\xe6\x97\xa5"), (Segments{"\xe6\x97\xa5"}));
}

TEST(Path, ABadEscapeIsOne) {
  for (const std::string_view path : {"/%zz", "/a%", "/a%2", "/%%20", "/a/%g0", "", "a", "*"}) {
    EXPECT_EQ(split_path(path).code(), Errc::kInvalid) << path;
  }
}

TEST(Path, HasSoManySegments) {
  std::string path;
  for (size_t i = 0; i < kMaxSegments; ++i) path += "/a";
  EXPECT_EQ(split(path).size(), kMaxSegments);
  EXPECT_EQ(split_path(path + "/a").code(), Errc::kTooLarge);
}

}  // namespace
}  // namespace culvert::api
