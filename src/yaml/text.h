// Words for diagnostics.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "yaml/node.h"

namespace culvert::yaml {

// 'text', with control characters replaced and cut at 60 bytes, never inside a character.
std::string quoted(std::string_view text);

// What a node is, for "found ...": its text quoted, "nothing", "a list" or "a mapping".
std::string describe(const Node& node);

// The word nearest to `word` that a person may have meant: at most a third of its letters added,
// dropped, changed or swapped with a neighbour. The first of equally near ones.
std::optional<std::string_view> nearest(std::string_view word,
                                        std::span<const std::string_view> words);

}  // namespace culvert::yaml
