#include "base/utf8.h"

namespace culvert {

size_t utf8_length(std::string_view s) {
  const auto at = [&](size_t i) { return static_cast<unsigned char>(s[i]); };
  const unsigned char first = at(0);
  if (first < 0x80) return 1;
  size_t n;
  unsigned char least = 0x80, most = 0xbf;  // of the second byte
  if (first >= 0xc2 && first <= 0xdf) {
    n = 2;
  } else if (first >= 0xe0 && first <= 0xef) {
    n = 3;
    if (first == 0xe0) least = 0xa0;  // shorter forms exist
    if (first == 0xed) most = 0x9f;   // surrogates
  } else if (first >= 0xf0 && first <= 0xf4) {
    n = 4;
    if (first == 0xf0) least = 0x90;
    if (first == 0xf4) most = 0x8f;
  } else {
    return 0;
  }
  if (s.size() < n || at(1) < least || at(1) > most) return 0;
  for (size_t i = 2; i < n; ++i) {
    if ((at(i) & 0xc0) != 0x80) return 0;
  }
  return n;
}

bool is_utf8(std::string_view s) {
  while (!s.empty()) {
    const size_t n = utf8_length(s);
    if (n == 0) return false;
    s.remove_prefix(n);
  }
  return true;
}

char32_t utf8_code_point(std::string_view s, size_t n) {
  const auto at = [&](size_t i) { return static_cast<unsigned char>(s[i]); };
  static constexpr unsigned char kFirstBits[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
  char32_t c = at(0) & kFirstBits[n];
  for (size_t i = 1; i < n; ++i) c = c << 6 | (at(i) & 0x3f);
  return c;
}

}  // namespace culvert
