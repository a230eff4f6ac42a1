// What the text of a scalar means, once somebody has said which type it should have. The accepted
// spellings are those mihomo's decoder takes for a field of that type, quoted or not, except that a
// number with a fraction, an exponent or a leading zero is not an integer.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/clock.h"

namespace culvert::yaml {

// "", ~, null, Null, NULL (YAML 1.2 core schema, section 10.3.2).
bool is_null_text(std::string_view text);

// true, True, TRUE, y, Y, yes, on, 1 and their opposites.
std::optional<bool> parse_boolean(std::string_view text);

// Decimal, 0x, 0o or 0b, with an optional sign; `_` may stand between digits.
std::optional<int64_t> parse_integer(std::string_view text);

// A whole number of `unit`, or a whole number followed by ms, s, m, h or d. Not negative.
std::optional<Duration> parse_duration(std::string_view text, Duration unit);

// Bytes: a whole number, or one followed by KiB, MiB or GiB (KB, MB, GB and K, M, G mean the same).
std::optional<uint64_t> parse_size(std::string_view text);

}  // namespace culvert::yaml
