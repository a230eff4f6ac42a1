#include "base/keyed_hash.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace culvert {
namespace {

TEST(KeyedHash, EveryByteAndTheLengthCount) {
  SeededRng rng(1);
  const KeyedHash hash(rng);
  std::set<uint64_t> seen;
  size_t texts = 0;
  for (size_t n = 0; n <= 70; ++n) {
    const std::string text(n, 'x');
    seen.insert(hash(text));
    ++texts;
    for (size_t i = 0; i < n; ++i) {
      for (const char c : {'y', '\0', '\xff'}) {
        std::string other = text;
        other[i] = c;
        seen.insert(hash(other));
        ++texts;
      }
    }
  }
  EXPECT_EQ(seen.size(), texts);
}

TEST(KeyedHash, APairIsMoreThanItsBytes) {
  SeededRng rng(2);
  const KeyedHash hash(rng);
  std::set<uint64_t> seen;
  const std::string text(40, 'x');
  size_t pairs = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    for (size_t j = 0; i + j <= text.size(); ++j) {
      seen.insert(hash(std::string_view(text).substr(0, i), std::string_view(text).substr(i, j)));
      ++pairs;
    }
  }
  EXPECT_EQ(seen.size(), pairs);
}

TEST(KeyedHash, EachKeyHasItsOwnValues) {
  SeededRng rng(3);
  const KeyedHash a(rng), b(rng);
  for (const char* text : {"", "a", "user00001", "www.host1.example.com"}) {
    EXPECT_NE(a(text), b(text)) << text;
    EXPECT_NE(a(text, ""), b(text, "")) << text;
    EXPECT_EQ(a(text), a(std::string(text)));
  }
}

// What tables take their buckets from: a bit of the text changes about half of those of the hash.
TEST(KeyedHash, AllBitsOfTheHashDependOnTheText) {
  SeededRng rng(4);
  for (const size_t size : {1u, 3u, 5u, 9u, 16u, 17u, 33u}) {
    int changed[64] = {};
    int trials = 0;
    for (int round = 0; round < 200; ++round) {
      const KeyedHash hash(rng);
      std::string text(size, 'a');
      const uint64_t before = hash(text);
      for (size_t bit = 0; bit < 8 * size; ++bit, ++trials) {
        text[bit / 8] = static_cast<char>(text[bit / 8] ^ 1 << bit % 8);
        const uint64_t flipped = before ^ hash(text);
        text[bit / 8] = static_cast<char>(text[bit / 8] ^ 1 << bit % 8);
        for (int i = 0; i < 64; ++i) changed[i] += static_cast<int>(flipped >> i & 1);
      }
    }
    for (int i = 0; i < 64; ++i) {
      EXPECT_NEAR(changed[i], 0.5 * trials, 0.1 * trials)
          << "bit " << i << " of " << size << " bytes";
    }
  }
}

}  // namespace
}  // namespace culvert
