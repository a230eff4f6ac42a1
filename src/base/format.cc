#define FMT_HEADER_ONLY 1
#include <fmt/format.h>

// base/format.h includes only fmt/core.h; with FMT_HEADER_ONLY set above it agrees with this unit.
#include "base/format.h"

namespace culvert::detail {

std::string vformat(fmt::string_view pattern, fmt::format_args args) {
  return fmt::vformat(pattern, args);
}

size_t vformat_to(char* out, size_t size, fmt::string_view pattern, fmt::format_args args) {
  fmt::memory_buffer buffer;
  fmt::vformat_to(fmt::appender(buffer), pattern, args);
  const size_t n = buffer.size() < size ? buffer.size() : size;
  if (n != 0) __builtin_memcpy(out, buffer.data(), n);
  return buffer.size();
}

}  // namespace culvert::detail
