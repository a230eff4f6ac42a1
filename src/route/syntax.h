// How the text of a rule is taken apart: fields between commas, words compared without regard to
// case. In line, because a profile can have very many rules.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace culvert::route {

inline std::string_view trim_spaces(std::string_view s) {
  while (!s.empty() && (s.front() == ' ' || s.front() == '\t')) s.remove_prefix(1);
  while (!s.empty() && (s.back() == ' ' || s.back() == '\t' || s.back() == '\r')) {
    s.remove_suffix(1);
  }
  return s;
}

inline std::string_view trim(std::string_view s) {
  const auto visible = [](char c) { return static_cast<unsigned char>(c) > ' '; };
  if (s.empty() || (visible(s.front()) && visible(s.back()))) [[likely]] {
    return s;
  }
  return trim_spaces(s);
}

// Eight bytes as a number, the first the lowest.
inline uint64_t load_eight(const char* p) {
  uint64_t eight;
  std::memcpy(&eight, p, sizeof eight);
  if constexpr (std::endian::native == std::endian::big) eight = __builtin_bswap64(eight);
  return eight;
}

// The first comma or the end. Eight bytes at a time, in line: parts are too short for memchr() to
// be worth its call. With `before` bytes of the same text in front of `s`, what is left at the end
// is read together with some that were looked at, or that are in front.
inline size_t find_comma(std::string_view s, size_t before = 0) {
  constexpr uint64_t kOnes = 0x0101010101010101u;
  // The lowest bit that is set is of the first byte that is a comma.
  const auto commas = [](uint64_t bytes) {
    bytes ^= kOnes * ',';
    return (bytes - kOnes) & ~bytes & (kOnes << 7);
  };
  size_t i = 0;
  for (; i + sizeof(uint64_t) <= s.size(); i += sizeof(uint64_t)) {
    const uint64_t found = commas(load_eight(s.data() + i));
    if (found != 0) return i + static_cast<size_t>(std::countr_zero(found)) / 8;
  }
  const size_t rest = s.size() - i;
  if (rest == 0) return i;
  if (i + before >= sizeof(uint64_t)) [[likely]] {
    const uint64_t last = load_eight(s.data() + s.size() - sizeof(uint64_t));
    const uint64_t found = commas(last >> (8 * (sizeof(uint64_t) - rest)));
    return found != 0 ? i + static_cast<size_t>(std::countr_zero(found)) / 8 : s.size();
  }
  while (i < s.size() && s[i] != ',') ++i;
  return i;
}

// `line` without the commas at its end, which are tolerated.
inline std::string_view without_trailing_commas(std::string_view line) {
  line = trim(line);
  while (line.ends_with(',')) line = trim(line.substr(0, line.size() - 1));
  return line;
}

// The parts between commas, one after another.
class Parts {
 public:
  explicit Parts(std::string_view line) : rest_(without_trailing_commas(line)) {}
  [[nodiscard]] bool more() const { return more_; }
  std::string_view next() {
    const size_t comma = find_comma(rest_);
    more_ = comma != rest_.size();
    const std::string_view part = rest_.substr(0, comma);
    if (more_) rest_.remove_prefix(comma + 1);
    return trim(part);
  }
  // What next() has not given yet.
  [[nodiscard]] std::string_view rest() const { return more_ ? rest_ : std::string_view(); }

 private:
  std::string_view rest_;
  bool more_ = true;
};

template <class Word>
bool equal_at(std::string_view a, std::string_view b, size_t at) {
  Word p, q;
  std::memcpy(&p, a.data() + at, sizeof p);
  std::memcpy(&q, b.data() + at, sizeof q);
  return p == q;
}

// As ==, without a call: the words and targets compared are short. The last bytes are read together
// with some before them.
inline bool equal(std::string_view a, std::string_view b) {
  const size_t n = a.size();
  if (n != b.size()) return false;
  if (n >= 8 && n <= 16) return equal_at<uint64_t>(a, b, 0) && equal_at<uint64_t>(a, b, n - 8);
  if (n >= 4 && n < 8) return equal_at<uint32_t>(a, b, 0) && equal_at<uint32_t>(a, b, n - 4);
  return a == b;
}

inline bool same_word(std::string_view text, std::string_view capitals) {
  if (text.size() != capitals.size()) return false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if ((c >= 'a' && c <= 'z' ? c - 32 : c) != capitals[i]) return false;
  }
  return true;
}

}  // namespace culvert::route
