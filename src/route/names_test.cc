#include "route/names.h"

#include <gtest/gtest.h>

#include "base/rng.h"
#include "route/syntax.h"

namespace culvert::route {
namespace {

// As is_normal_host(), byte by byte.
bool is_plain(std::string_view text) {
  size_t label = 0;
  for (const char c : text) {
    if (c == '.') {
      if (label == 0 || label > kMaxLabel) return false;
      label = 0;
    } else if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_') {
      ++label;
    } else {
      return false;
    }
  }
  return label != 0 && label <= kMaxLabel && text.size() <= wire::kMaxHost;
}

std::string random_text(SeededRng& rng, size_t size, std::string_view letters) {
  std::string out(size, ' ');
  for (char& c : out) c = letters[rng.below(letters.size())];
  return out;
}

TEST(Names, EveryByteAtEveryPlace) {
  for (size_t size = 1; size <= 70; ++size) {
    const std::string name(size, 'a');
    EXPECT_EQ(is_normal_host(name), is_plain(name)) << size;
    for (size_t at = 0; at < size; ++at) {
      for (int byte = 0; byte < 256; ++byte) {
        std::string text = name;
        text[at] = static_cast<char>(byte);
        ASSERT_EQ(is_normal_host(text), is_plain(text)) << size << ' ' << at << ' ' << byte;
      }
    }
  }
}

TEST(Names, DotsAnywhere) {
  SeededRng rng(1);
  for (int i = 0; i < 100'000; ++i) {
    const std::string text = random_text(rng, 1 + rng.below(80), "abcdefghijklmnop-_0129z.");
    ASSERT_EQ(is_normal_host(text), is_plain(text)) << text;
    wire::HostBuffer buffer;
    if (is_normal_host(text)) {
      ASSERT_EQ(wire::normalize_host(text, buffer), text);
    }
  }
}

TEST(Syntax, FindsTheFirstComma) {
  SeededRng rng(1);
  for (int i = 0; i < 100'000; ++i) {
    const std::string text = random_text(rng, rng.below(40), "abcdefghijklmnopq-+,");
    const size_t before = rng.below(text.size() + 1);
    const std::string_view rest = std::string_view(text).substr(before);
    const size_t comma = std::min(rest.find(','), rest.size());
    ASSERT_EQ(find_comma(rest), comma) << text << ' ' << before;
    ASSERT_EQ(find_comma(rest, before), comma) << text << ' ' << before;
  }
}

}  // namespace
}  // namespace culvert::route
