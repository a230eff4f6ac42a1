#include "api/json_writer.h"

#include <charconv>

#include "base/utf8.h"

namespace culvert::api {
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

JsonWriter& JsonWriter::key(std::string_view name) {
  string(name);
  out_ += ':';
  comma_ = false;
  return *this;
}

JsonWriter& JsonWriter::string(std::string_view text) {
  separate();
  static constexpr char kHex[] = "0123456789abcdef";
  out_ += '"';
  while (!text.empty()) {
    const auto c = static_cast<unsigned char>(text[0]);
    if (c == '"' || c == '\\') {
      out_ += '\\';
      out_ += static_cast<char>(c);
    } else if (c == '\n') {
      out_ += "\\n";
    } else if (c < 0x20 || c == 0x7f) {
      out_ += "\\u00";
      out_ += kHex[c >> 4];
      out_ += kHex[c & 15];
    } else if (c < 0x80) {
      out_ += static_cast<char>(c);
    } else {
      const size_t n = utf8_length(text);
      if (n == 0) {
        out_ += "\xef\xbf\xbd";
      } else {
        out_.append(text.substr(0, n));
        text.remove_prefix(n - 1);
      }
    }
    text.remove_prefix(1);
  }
  out_ += '"';
  return *this;
}

JsonWriter& JsonWriter::number(uint64_t v) {
  separate();
  char digits[20];
  const auto [end, ec] = std::to_chars(digits, digits + sizeof digits, v);
  (void)ec;  // 20 digits hold every 64-bit number
  out_.append(digits, end);
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
