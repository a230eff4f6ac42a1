// Host names in the one spelling they are compared in.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "route/syntax.h"
#include "wire/host.h"

namespace culvert::route {

inline constexpr size_t kMaxLabel = 63;  // RFC 1035 section 2.3.4

enum class HostByte : uint8_t { kOther, kOfLabel, kDot };
inline constexpr auto kHostBytes = [] {
  std::array<HostByte, 256> kinds{};
  for (const char c : std::string_view("abcdefghijklmnopqrstuvwxyz0123456789-_")) {
    kinds[static_cast<unsigned char>(c)] = HostByte::kOfLabel;
  }
  kinds['.'] = HostByte::kDot;
  return kinds;
}();

// is_normal_host() of names that have at least eight bytes, and no more than a label may have.
inline bool is_short_normal_host(std::string_view text) {
  constexpr uint64_t kOnes = 0x0101010101010101u, kHigh = kOnes << 7;
  // In bytes below 0x80 their highest bit says: one of [first, last]; not `c`.
  const auto within = [](uint64_t bytes, uint64_t first, uint64_t last) {
    return (bytes + kOnes * (0x80 - first)) & ~(bytes + kOnes * (0x7f - last));
  };
  const auto is_not = [](uint64_t bytes, uint64_t c) { return (bytes ^ kOnes * c) + kOnes * 0x7f; };
  if (text.front() == '.' || text.back() == '.') return false;
  uint64_t good = kHigh;
  // Each word begins with the last byte of the one before, so that two dots in a row are seen.
  for (size_t i = 0, last = text.size() - sizeof(uint64_t);; i += sizeof(uint64_t) - 1) {
    const uint64_t bytes = load_eight(text.data() + std::min(i, last));
    const uint64_t no_dot = is_not(bytes, '.');
    good &= within(bytes, '_', 'z') | within(bytes, '-', '9');
    good &= is_not(bytes, '`') & is_not(bytes, '/') & ~bytes;
    good &= no_dot | no_dot << 8 | 0x80;
    if (i >= last) return good == kHigh;
  }
}

// Whether wire::normalize_host() would leave `text` as it is, as it does with nearly every name of
// a profile; saying so costs a fraction of doing it. False for some that it would leave.
inline bool is_normal_host(std::string_view text) {
  if (text.size() >= sizeof(uint64_t) && text.size() <= kMaxLabel) [[likely]] {
    return is_short_normal_host(text);
  }
  if (text.size() > wire::kMaxHost) return false;
  size_t label = 0;
  for (const char c : text) {
    const HostByte kind = kHostBytes[static_cast<unsigned char>(c)];
    if (kind == HostByte::kOfLabel) {
      ++label;
      continue;
    }
    if (kind != HostByte::kDot || label == 0 || label > kMaxLabel) return false;
    label = 0;
  }
  return label != 0 && label <= kMaxLabel;
}

// `text` in that spelling; false when it is no host name.
inline bool normal_name(std::string_view text, std::string& out) {
  if (is_normal_host(text)) [[likely]] {
    out = text;
    return true;
  }
  wire::HostBuffer buffer;
  const auto host = wire::normalize_host(text, buffer);
  if (!host) return false;
  out = *host;
  return true;
}

}  // namespace culvert::route
