#include "yaml/flow_scalar.h"

#include <charconv>

namespace culvert::yaml {
namespace {

bool is_break(char c) {
  return c == '\n' || c == '\r';
}
bool is_white(char c) {
  return c == ' ' || c == '\t';
}

void append_utf8(uint32_t c, std::string& out) {
  const auto put = [&](uint32_t byte) { out += static_cast<char>(byte); };
  if (c < 0x80) {
    put(c);
  } else if (c < 0x800) {
    put(0xC0 | c >> 6);
    put(0x80 | (c & 0x3F));
  } else if (c < 0x10000) {
    put(0xE0 | c >> 12);
    put(0x80 | (c >> 6 & 0x3F));
    put(0x80 | (c & 0x3F));
  } else {
    put(0xF0 | c >> 18);
    put(0x80 | (c >> 12 & 0x3F));
    put(0x80 | (c >> 6 & 0x3F));
    put(0x80 | (c & 0x3F));
  }
}

class Decoder {
 public:
  Decoder(std::string_view raw, std::string& out) : raw_(raw), out_(out) { out_.clear(); }

  bool run(FlowStyle style) {
    while (at_ < raw_.size()) {
      const char c = raw_[at_];
      if (is_break(c)) {
        while (out_.size() > kept_ && is_white(out_.back())) out_.pop_back();
        const size_t breaks = skip_breaks();
        if (breaks == 1) {
          out_ += ' ';
        } else {
          out_.append(breaks - 1, '\n');
        }
        kept_ = out_.size();
      } else if (c == '\'' && style == FlowStyle::kSingleQuoted) {
        if (!raw_.substr(at_).starts_with("''")) return false;
        out_ += '\'';
        at_ += 2;
      } else if (c == '"' && style == FlowStyle::kDoubleQuoted) {
        return false;
      } else if (c == '\\' && style == FlowStyle::kDoubleQuoted) {
        ++at_;
        if (!take_escape()) return false;
        kept_ = out_.size();
      } else {
        out_ += c;
        ++at_;
      }
    }
    return true;
  }

 private:
  // From a line break past all white space and further breaks; returns how many breaks.
  size_t skip_breaks() {
    size_t breaks = 0;
    while (at_ < raw_.size()) {
      if (is_break(raw_[at_])) {
        at_ += raw_.substr(at_).starts_with("\r\n") ? 2 : 1;
        ++breaks;
      } else if (is_white(raw_[at_])) {
        ++at_;
      } else {
        break;
      }
    }
    return breaks;
  }

  bool take_hex(size_t digits, uint32_t& value) {
    if (raw_.size() - at_ < digits) return false;
    const char* from = raw_.data() + at_;
    const auto [end, error] = std::from_chars(from, from + digits, value, 16);
    at_ += digits;
    return error == std::errc() && end == from + digits;
  }

  bool take_code_point(size_t digits) {
    uint32_t c = 0;
    if (!take_hex(digits, c)) return false;
    // JSON writes characters beyond U+FFFF as two surrogates.
    if (digits == 4 && c >= 0xD800 && c < 0xDC00 && raw_.substr(at_).starts_with("\\u")) {
      at_ += 2;
      uint32_t low = 0;
      if (!take_hex(4, low) || low < 0xDC00 || low > 0xDFFF) return false;
      c = 0x10000 + ((c - 0xD800) << 10) + (low - 0xDC00);
    }
    if (c == 0 || c > 0x10FFFF || (c >= 0xD800 && c <= 0xDFFF)) return false;
    append_utf8(c, out_);
    return true;
  }

  // Behind the backslash.
  bool take_escape() {
    if (at_ == raw_.size()) return false;
    const char c = raw_[at_];
    if (is_break(c)) {
      out_.append(skip_breaks() - 1, '\n');
      return true;
    }
    ++at_;
    switch (c) {
      case 'x':
        return take_code_point(2);
      case 'u':
        return take_code_point(4);
      case 'U':
        return take_code_point(8);
      case 'a':
        out_ += '\a';
        return true;
      case 'b':
        out_ += '\b';
        return true;
      case 't':
      case '\t':
        out_ += '\t';
        return true;
      case 'n':
        out_ += '\n';
        return true;
      case 'v':
        out_ += '\v';
        return true;
      case 'f':
        out_ += '\f';
        return true;
      case 'r':
        out_ += '\r';
        return true;
      case 'e':
        out_ += '\x1B';
        return true;
      case ' ':
      case '"':
      case '/':
      case '\\':
        out_ += c;
        return true;
      case 'N':
        append_utf8(0x85, out_);
        return true;
      case '_':
        append_utf8(0xA0, out_);
        return true;
      case 'L':
        append_utf8(0x2028, out_);
        return true;
      case 'P':
        append_utf8(0x2029, out_);
        return true;
      default:
        return false;
    }
  }

  std::string_view raw_;
  std::string& out_;
  size_t at_ = 0;
  size_t kept_ = 0;  // of out_: white space up to here was escaped or folded, and stays
};

}  // namespace

bool is_literal(std::string_view raw, FlowStyle style) {
  std::string_view special = "\n\r";
  if (style == FlowStyle::kSingleQuoted) special = "\n\r'";
  if (style == FlowStyle::kDoubleQuoted) special = "\n\r\\\"";
  return raw.find_first_of(special) == std::string_view::npos;
}

bool decode_flow_scalar(std::string_view raw, FlowStyle style, std::string& out) {
  return Decoder(raw, out).run(style);
}

}  // namespace culvert::yaml
