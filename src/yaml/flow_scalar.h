// The text of a scalar outside block style, from the bytes between its quotes or its ends
// (YAML 1.2, section 7.3: escapes, doubled quotes, folded lines). Done here because libfyaml 0.7
// reads some of them wrongly: '''''' gives one quote too few, and white space before a break can
// survive.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace culvert::yaml {

enum class FlowStyle : uint8_t { kPlain, kSingleQuoted, kDoubleQuoted };

// True when the text is the raw bytes themselves.
bool is_literal(std::string_view raw, FlowStyle style);

// Replaces `out`. False for an escape that is unknown, cut off, not a character or NUL (which no
// setting can hold), and for a quote that should have ended the scalar.
bool decode_flow_scalar(std::string_view raw, FlowStyle style, std::string& out);

}  // namespace culvert::yaml
