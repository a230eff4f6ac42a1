// UTF-8 (RFC 3629): shortest forms only, no surrogates, nothing above U+10FFFF.
#pragma once

#include <cstddef>
#include <string_view>

namespace culvert {

// Length of the sequence at the start of `s` (not empty), 0 when it is not one.
size_t utf8_length(std::string_view s);
bool is_utf8(std::string_view s);
// The code point of a sequence that utf8_length() measured as `n`.
char32_t utf8_code_point(std::string_view s, size_t n);

}  // namespace culvert
