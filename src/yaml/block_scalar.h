// The text of a block scalar, `|` or `>`, from its header and its lines (YAML 1.2, section 8.1).
// Done here because libfyaml 0.7 reads uninitialised memory while folding and leaks on long ones.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace culvert::yaml {

struct BlockHeader {
  enum class Chomp : uint8_t { kClip, kStrip, kKeep };
  bool folded = false;
  Chomp chomp = Chomp::kClip;
  uint8_t indent = 0;  // beyond the parent's; 0 = that of the first line with text
};

// Finds the header in what precedes the first line of a block scalar on its header line, behind
// anchor and tag.
std::optional<BlockHeader> parse_block_header(std::string_view before);

// `raw` are whole lines, indentation included; `parent_indent` is the column of the collection the
// scalar is in, from 0. Replaces `out`.
void decode_block_scalar(std::string_view raw, const BlockHeader& header, uint32_t parent_indent,
                         std::string& out);

}  // namespace culvert::yaml
