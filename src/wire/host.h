// Host names in one spelling, for matching, listing and dialling: ASCII lower case, no trailing
// dot, labels outside ASCII as A-labels (Punycode, RFC 3492; lower-cased first as UTS 46 has it,
// for Latin, Greek, Cyrillic and Armenian letters). Lengths are checked as RFC 1035 section 2.3.4
// has them.
#pragma once

#include <array>
#include <optional>
#include <string_view>

namespace culvert::wire {

inline constexpr size_t kMaxHost = 253;
using HostBuffer = std::array<char, 256>;

// The normalised name, in `buffer`; nothing when `text` is not a host name: empty, too long, an
// empty label, bytes that are not UTF-8, or ASCII other than letters, digits, '-' and '_'.
std::optional<std::string_view> normalize_host(std::string_view text, HostBuffer& buffer);

// RFC 3492: appends the Punycode of one label's code points, without the "xn--"; nothing on
// overflow.
std::optional<size_t> encode_punycode(const char32_t* points, size_t count, char* out, size_t room);

}  // namespace culvert::wire
