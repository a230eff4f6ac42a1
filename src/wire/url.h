// Percent-encoding and query strings (RFC 3986, and the form rules of the URL standard for '+').
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace culvert::wire {

// "%41" -> "A", once. A '%' without two hex digits stays as it is. With `plus`, '+' is a space.
std::string decode_percent(std::string_view text, bool plus);

// The first value of `name` in "a=1&b=2", decoded with plus; nothing when it is not there.
std::optional<std::string> query_value(std::string_view query, std::string_view name);

// Splits "path?query#fragment"; the fragment is dropped.
struct PathAndQuery {
  std::string_view path;
  std::string_view query;
};
PathAndQuery split_target(std::string_view target);

}  // namespace culvert::wire
