#include "yaml/block_scalar.h"

#include <algorithm>

namespace culvert::yaml {
namespace {

bool is_white(char c) {
  return c == ' ' || c == '\t';
}

// Takes one line off the front; `has_break` says whether it ended in one.
std::string_view take_line(std::string_view& text, bool& has_break) {
  const size_t end = text.find_first_of("\n\r");
  has_break = end != std::string_view::npos;
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(line.size());
  if (has_break) text.remove_prefix(text.starts_with("\r\n") ? 2 : 1);
  return line;
}

size_t leading_spaces(std::string_view line) {
  return std::min(line.find_first_not_of(' '), line.size());
}

size_t detect_indent(std::string_view raw) {
  bool has_break = false;
  while (!raw.empty()) {
    const std::string_view line = take_line(raw, has_break);
    if (const size_t spaces = leading_spaces(line); spaces < line.size()) return spaces;
  }
  return std::string_view::npos;  // white space only: every line is empty
}

}  // namespace

std::optional<BlockHeader> parse_block_header(std::string_view before) {
  const size_t at = before.find_first_of("|>");
  if (at == std::string_view::npos) return std::nullopt;
  BlockHeader header;
  header.folded = before[at] == '>';
  for (const char c : before.substr(at + 1)) {
    if (c == '-') {
      header.chomp = BlockHeader::Chomp::kStrip;
    } else if (c == '+') {
      header.chomp = BlockHeader::Chomp::kKeep;
    } else if (c >= '1' && c <= '9') {
      header.indent = static_cast<uint8_t>(c - '0');
    } else {
      break;
    }
  }
  return header;
}

void decode_block_scalar(std::string_view raw, const BlockHeader& header, uint32_t parent_indent,
                         std::string& out) {
  out.clear();
  const size_t indent = header.indent != 0 ? parent_indent + header.indent : detect_indent(raw);
  bool pending_break = false;  // the break of the line before, not yet written
  size_t empty_lines = 0;      // behind it
  bool above_is_text = true;   // neither indented further nor absent: its break may fold
  bool any = false;
  while (!raw.empty()) {
    bool has_break = false;
    std::string_view line = take_line(raw, has_break);
    const size_t spaces = leading_spaces(line);
    if (spaces == line.size() && spaces <= indent) {
      if (has_break) ++empty_lines;
      continue;
    }
    if (spaces < indent) break;
    line.remove_prefix(indent);
    const bool is_text = !is_white(line.front());
    if (any && header.folded && above_is_text && is_text) {
      if (empty_lines == 0) out += ' ';
    } else if (pending_break) {
      out += '\n';
    }
    out.append(empty_lines, '\n');
    out += line;
    empty_lines = 0;
    pending_break = has_break;
    above_is_text = is_text;
    any = true;
  }
  if (pending_break && header.chomp != BlockHeader::Chomp::kStrip) out += '\n';
  if (header.chomp == BlockHeader::Chomp::kKeep) out.append(empty_lines, '\n');
}

}  // namespace culvert::yaml
