#include "api/path.h"

#include <cctype>

#include "wire/url.h"

namespace culvert::api {
namespace {

bool is_hex(char c) {
  return std::isxdigit(static_cast<unsigned char>(c)) != 0;
}

bool is_well_escaped(std::string_view text) {
  for (size_t i = 0; (i = text.find('%', i)) != std::string_view::npos; i += 3) {
    if (text.size() - i < 3 || !is_hex(text[i + 1]) || !is_hex(text[i + 2])) return false;
  }
  return true;
}

}  // namespace

Result<std::vector<std::string>> split_path(std::string_view path) {
  if (path.empty() || path.front() != '/') return Errc::kInvalid;
  std::vector<std::string> out;
  path.remove_prefix(1);
  while (!path.empty()) {
    const size_t slash = path.find('/');
    const std::string_view segment = path.substr(0, slash);
    if (!is_well_escaped(segment)) return Errc::kInvalid;
    if (out.size() == kMaxSegments) return Errc::kTooLarge;
    out.push_back(wire::decode_percent(segment, false));
    path.remove_prefix(slash == std::string_view::npos ? path.size() : slash + 1);
  }
  return out;
}

}  // namespace culvert::api
