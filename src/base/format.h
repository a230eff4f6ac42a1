// format(): fmt's syntax, checked at compile time; the formatting code itself is compiled once, in
// format.cc (fmt header-only in one unit: Debian 12 ships no static fmt).
#pragma once

#include <fmt/core.h>

#include <string>
#include <string_view>

namespace culvert {

namespace detail {
std::string vformat(fmt::string_view pattern, fmt::format_args args);
// Writes at most `size` bytes, returns how many the whole text has.
size_t vformat_to(char* out, size_t size, fmt::string_view pattern, fmt::format_args args);
}  // namespace detail

template <class... Args>
std::string format(fmt::format_string<Args...> pattern, Args&&... args) {
  return detail::vformat(pattern, fmt::make_format_args(args...));
}

// Formats into a caller's buffer, cutting what does not fit; returns the text written.
template <class... Args>
std::string_view format_to(char* out, size_t size, fmt::format_string<Args...> pattern,
                           Args&&... args) {
  const size_t n = detail::vformat_to(out, size, pattern, fmt::make_format_args(args...));
  return {out, n < size ? n : size};
}

}  // namespace culvert
