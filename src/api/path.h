// The path of a request as segments, split before anything is decoded: "/proxies/a%2Fb" is
// "proxies" and "a/b".
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace culvert::api {

// More segments than any route has.
inline constexpr size_t kMaxSegments = 16;

// Each segment decoded once; '+' is a plus. An empty last segment, of "/proxies/", is left out.
// kInvalid: no path, or a '%' without two hex digits; kTooLarge: more than kMaxSegments.
Result<std::vector<std::string>> split_path(std::string_view path);

}  // namespace culvert::api
