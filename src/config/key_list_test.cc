#include "config/key_list.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

namespace culvert::config {
namespace {

TEST(ConfigKeyList, TheDocumentationIsWhatIsPrinted) {
  std::ifstream file(CULVERT_DOCS "/config.md", std::ios::binary);
  ASSERT_TRUE(file.is_open());
  const std::string written((std::istreambuf_iterator<char>(file)),
                            std::istreambuf_iterator<char>());
  EXPECT_TRUE(written == keys_markdown()) << "docs/config.md is old: make docs";
}

}  // namespace
}  // namespace culvert::config
