// From the text of a condition to its tests.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "route/conditions.h"
#include "route/rule_type.h"

namespace culvert::route {

// How deep AND, OR and NOT may be in one another.
inline constexpr size_t kMaxLogicDepth = 128;

// ASCII capitals of `text` made small, which is all that is done to a keyword: it may be any part
// of a name.
std::string small_letters(std::string_view text);
// A prefix with its length, which a rule must give.
std::optional<Prefix> parse_rule_prefix(std::string_view text);
// What a diagnostic expects instead of a name or a prefix that is none.
std::string expected_name(std::string_view text);
std::string expected_prefix(std::string_view text);

// Compiles the condition of one rule of a type that is_condition() names. False, with what was
// expected instead in `expected`, when `payload` is not one. `out` is emptied first; `shown`
// becomes the payload as the API shows it: of logic as mihomo does, "((Domain,a) &&
// (!(Network,udp)))".
bool compile_condition(RuleType type, std::string_view payload, Conditions& out, std::string& shown,
                       std::string& expected);

}  // namespace culvert::route
