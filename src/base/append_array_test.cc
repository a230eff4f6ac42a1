#include "base/append_array.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>

namespace culvert {
namespace {

TEST(AppendArray, ElementsKeepTheirPlaces) {
  AppendArray<std::string> array;
  const std::string* first = &array.add([](std::string& s) { s = "0"; });
  for (int i = 1; i < 1000; ++i) array.add([&](std::string& s) { s = std::to_string(i); });
  EXPECT_EQ(array.size(), 1000u);
  EXPECT_EQ(&array[0], first);
  for (size_t i = 0; i < 1000; ++i) ASSERT_EQ(array[i], std::to_string(i));
  array.grow_to(1024);
  EXPECT_EQ(array.size(), 1024u);
  EXPECT_EQ(array[1023], "");
}

TEST(AppendArray, WhatItsSizeCoversCanBeRead) {
  constexpr size_t kCount = 100'000;
  AppendArray<size_t> array;
  std::thread reader([&] {
    for (size_t seen = 0; seen < kCount;) {
      const size_t size = array.size();
      for (; seen < size; ++seen) ASSERT_EQ(array[seen], seen + 1);
    }
  });
  for (size_t i = 0; i < kCount; ++i) array.add([&](size_t& v) { v = i + 1; });
  reader.join();
}

}  // namespace
}  // namespace culvert
