#include "api/json_writer.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include <array>
#include <bit>
#include <cstring>

#include "base/utf8.h"

namespace culvert::api {
namespace {

// What JSON's strings hold as it is, of ASCII.
constexpr bool is_plain_byte(unsigned char c) {
  return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
}

constexpr auto kPlain = [] {
  std::array<bool, 256> out{};
  for (size_t c = 0; c < out.size(); ++c) out[c] = is_plain_byte(static_cast<unsigned char>(c));
  return out;
}();

// The first byte from `i` on that is not plain; the end when all are. Names of hosts are most of
// what is asked, and longer than a block more often than not.
size_t plain_until(std::string_view text, size_t i) {
#if defined(__SSE2__)
  for (; i + 16 <= text.size(); i += 16) {
    const __m128i v = _mm_loadu_si128(reinterpret_cast<const __m128i*>(text.data() + i));
    // As signed bytes, all above 0x7f are below 0x20.
    __m128i odd = _mm_cmplt_epi8(v, _mm_set1_epi8(0x20));
    odd = _mm_or_si128(odd, _mm_cmpeq_epi8(v, _mm_set1_epi8('"')));
    odd = _mm_or_si128(odd, _mm_cmpeq_epi8(v, _mm_set1_epi8('\\')));
    odd = _mm_or_si128(odd, _mm_cmpeq_epi8(v, _mm_set1_epi8(0x7f)));
    const auto mask = static_cast<unsigned>(_mm_movemask_epi8(odd));
    if (mask != 0) return i + static_cast<size_t>(std::countr_zero(mask));
  }
#else
  // A byte of `v` that is not plain sets its top bit, as may those above one (a borrow): then the
  // bytes are looked at one by one.
  constexpr uint64_t kOnes = 0x0101010101010101, kTops = kOnes << 7;
  for (; i + 8 <= text.size(); i += 8) {
    uint64_t v;
    std::memcpy(&v, text.data() + i, sizeof v);
    const uint64_t quote = v ^ (kOnes * '"'), slash = v ^ (kOnes * '\\'), del = v ^ (kOnes * 0x7f);
    const uint64_t odd = v | (v - kOnes * 0x20) | (quote - kOnes) | (slash - kOnes) | (del - kOnes);
    if ((odd & kTops) != 0) break;
  }
#endif
  while (i < text.size() && kPlain[static_cast<unsigned char>(text[i])]) ++i;
  return i;
}

}  // namespace

JsonWriter& JsonWriter::open(char c) {
  separate();
  out_ += c;
  comma_ = false;
  return *this;
}

JsonWriter& JsonWriter::close(char c) {
  out_ += c;
  comma_ = true;
  return *this;
}

void JsonWriter::separate() {
  if (comma_) out_ += ',';
  comma_ = true;
}

bool JsonWriter::is_plain(std::string_view text) {
  return plain_until(text, 0) == text.size();
}

JsonWriter& JsonWriter::string(std::string_view text) {
  separate();
  static constexpr char kHex[] = "0123456789abcdef";
  out_ += '"';
  size_t begin = 0;  // of what is to be copied as it is
  for (size_t i = 0; (i = plain_until(text, i)) < text.size();) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (c >= 0x80) {
      if (const size_t n = utf8_length(text.substr(i)); n != 0) {
        i += n;
        continue;
      }
    }
    append(text.data() + begin, text.data() + i);
    begin = ++i;
    if (c >= 0x80) {
      out_ += "\xef\xbf\xbd";
    } else if (c == '"' || c == '\\') {
      out_ += '\\';
      out_ += static_cast<char>(c);
    } else if (c == '\n') {
      out_ += "\\n";
    } else {
      out_ += "\\u00";
      out_ += kHex[c >> 4];
      out_ += kHex[c & 15];
    }
  }
  out_.append(text.substr(begin));
  out_ += '"';
  return *this;
}

JsonWriter& JsonWriter::member(std::string_view name) {
  string(name);
  out_ += ':';
  comma_ = false;
  return *this;
}

JsonWriter& JsonWriter::plain(std::string_view text) {
  separate();
  out_ += '"';
  out_ += text;
  out_ += '"';
  return *this;
}

JsonWriter& JsonWriter::raw(std::string_view json) {
  separate();
  out_ += json;
  return *this;
}

JsonWriter& JsonWriter::number(uint64_t v) {
  separate();
  char digits[kDigits];
  append(digits, std::to_chars(digits, digits + kDigits, v).ptr);
  return *this;
}

JsonWriter& JsonWriter::boolean(bool v) {
  separate();
  out_ += v ? "true" : "false";
  return *this;
}

JsonWriter& JsonWriter::null() {
  separate();
  out_ += "null";
  return *this;
}

}  // namespace culvert::api
