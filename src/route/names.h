// Host names in the one spelling they are compared in.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

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

// Whether wire::normalize_host() would leave `text` as it is, as it does with nearly every name of
// a profile; saying so costs a third of doing it. False for some that it would leave.
inline bool is_normal_host(std::string_view text) {
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
