#include "yaml/scan.h"

#include <array>

#include "base/utf8.h"

namespace culvert::yaml {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

enum : uint8_t { kOrdinary, kIndicator, kControl, kMultibyte };

constexpr std::array<uint8_t, 256> make_classes() {
  std::array<uint8_t, 256> out{};
  for (int c = 0; c < 32; ++c) out[static_cast<size_t>(c)] = kControl;
  out['\t'] = kOrdinary;
  out[127] = kControl;
  for (char c : std::string_view(",[]{}:&*!?\"'|>-%")) out[static_cast<uint8_t>(c)] = kIndicator;
  for (size_t c = 128; c < 256; ++c) out[c] = kMultibyte;
  return out;
}
constexpr std::array<uint8_t, 256> kClasses = make_classes();

// "---" or "..." alone or before white space: a marker wherever a line starts with it.
bool is_marker(std::string_view line, std::string_view marker) {
  return line.starts_with(marker) && (line.size() == 3 || line[3] == ' ' || line[3] == '\t');
}

bool is_blank_or_comment(std::string_view line) {
  const size_t at = line.find_first_not_of(" \t");
  return at == std::string_view::npos || line[at] == '#';
}

// Where in the stream a line stands.
enum class Part : uint8_t { kPrologue, kDocument, kAfterEnd };

class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  Scan run() {
    if (text_.starts_with(kByteOrderMark)) text_.remove_prefix(kByteOrderMark.size());
    out_.body = text_;
    size_t at = 0;
    while (at < text_.size() && !out_.fault) {
      const size_t end = check_line(at);
      if (out_.fault) break;
      place_line(at, text_.substr(at, end - at));
      at = end;
      if (text_.substr(at).starts_with("\r\n")) ++at;
      ++at;
      ++line_;
    }
    return out_;
  }

 private:
  void refuse(uint32_t column, std::string_view what) {
    out_.fault = Scan::Fault{line_, column, what};
  }

  // Checks the bytes of one line; returns where its line break is.
  size_t check_line(size_t at) {
    uint32_t column = 1, indicators = 0;
    for (; at < text_.size(); ++column) {
      const char c = text_[at];
      if (c == '\n' || c == '\r') break;
      const uint8_t kind = kClasses[static_cast<uint8_t>(c)];
      size_t length = 1;
      if (kind == kMultibyte) {
        length = utf8_length(text_.substr(at));
        if (length == 0) {
          refuse(column, "not UTF-8 text");
          break;
        }
      } else if (kind == kControl) {
        refuse(column, "a control character, which YAML does not allow");
        break;
      } else if (kind == kIndicator && ++indicators > kMaxLineIndicators) {
        refuse(column, "too much in one line; break it into several");
        break;
      }
      at += length;
    }
    return at;
  }

  void place_line(size_t at, std::string_view line) {
    switch (part_) {
      case Part::kPrologue:
        if (line.starts_with('%')) {
          if (++directives_ > kMaxDirectives) refuse(1, "too many directives");
          if (line.size() > kMaxDirectiveBytes) refuse(1, "a directive that is too long");
        } else if (!is_blank_or_comment(line)) {
          part_ = is_marker(line, "...") ? Part::kPrologue : Part::kDocument;
        }
        return;
      case Part::kDocument:
        if (is_marker(line, "---")) refuse(1, "a second document; only one is read");
        if (is_marker(line, "...")) {
          part_ = Part::kAfterEnd;
          out_.body = text_.substr(0, at);
        }
        return;
      case Part::kAfterEnd:
        if (!is_blank_or_comment(line) && !is_marker(line, "...")) {
          refuse(1, "a second document; only one is read");
        }
        return;
    }
  }

  std::string_view text_;
  Scan out_;
  uint32_t line_ = 1;
  uint32_t directives_ = 0;
  Part part_ = Part::kPrologue;
};

}  // namespace

Scan scan(std::string_view text) {
  return Scanner(text).run();
}

}  // namespace culvert::yaml
