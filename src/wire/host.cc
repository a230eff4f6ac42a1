#include "wire/host.h"

#include <cstdint>

#include "base/utf8.h"

namespace culvert::wire {
namespace {

constexpr size_t kMaxLabel = 63;

// Lower case of Latin-1, Latin Extended-A, Greek and Cyrillic capitals; others as they are.
char32_t to_lower(char32_t c) {
  if (c >= 'A' && c <= 'Z') return c + 32;
  if (c < 0xc0) return c;
  if (c <= 0xde) return c == 0xd7 ? c : c + 32;
  if (c >= 0x100 && c <= 0x137) return c | 1;
  if (c >= 0x139 && c <= 0x148) return c + (c & 1);
  if (c >= 0x14a && c <= 0x177) return c | 1;
  if (c == 0x178) return 0xff;
  if (c >= 0x179 && c <= 0x17e) return c + (c & 1);
  if (c == 0x386) return 0x3ac;
  if (c >= 0x388 && c <= 0x38a) return c + 37;
  if (c == 0x38c) return 0x3cc;
  if (c == 0x38e || c == 0x38f) return c + 63;
  if (c >= 0x391 && c <= 0x3ab && c != 0x3a2) return c + 32;
  if (c >= 0x400 && c <= 0x40f) return c + 80;
  if (c >= 0x410 && c <= 0x42f) return c + 32;
  if (c >= 0x460 && c <= 0x481) return c | 1;
  if (c >= 0x48a && c <= 0x4bf) return c | 1;
  if (c >= 0x4d0 && c <= 0x52f) return c | 1;
  return c;
}

bool allowed(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
}

// One label, lower-cased, into `out`; how long it is, or nothing.
std::optional<size_t> normalize_label(std::string_view label, char* out) {
  if (label.empty()) return std::nullopt;
  bool ascii = true;
  for (const char c : label) ascii = ascii && static_cast<unsigned char>(c) < 0x80;
  if (ascii) {
    if (label.size() > kMaxLabel) return std::nullopt;
    for (size_t i = 0; i < label.size(); ++i) {
      const char c =
          label[i] >= 'A' && label[i] <= 'Z' ? static_cast<char>(label[i] + 32) : label[i];
      if (!allowed(c)) return std::nullopt;
      out[i] = c;
    }
    return label.size();
  }
  char32_t points[kMaxLabel];
  size_t count = 0;
  while (!label.empty()) {
    const size_t n = utf8_length(label);
    if (n == 0 || count == kMaxLabel) return std::nullopt;
    const char32_t c = to_lower(utf8_code_point(label, n));
    label.remove_prefix(n);
    if (c < 0x80 ? !allowed(static_cast<char>(c)) : c < 0xa1) return std::nullopt;
    points[count++] = c;
  }
  out[0] = 'x', out[1] = 'n', out[2] = '-', out[3] = '-';
  const auto n = encode_punycode(points, count, out + 4, kMaxLabel - 4);
  if (!n) return std::nullopt;
  return *n + 4;
}

}  // namespace

std::optional<size_t> encode_punycode(const char32_t* points, size_t count, char* out,
                                      size_t room) {
  // RFC 3492 sections 5 and 6.
  constexpr uint32_t kBase = 36, kTMin = 1, kTMax = 26, kSkew = 38, kDamp = 700;
  uint32_t n = 0x80, delta = 0, bias = 72;
  size_t size = 0;
  auto put = [&](uint32_t digit) {
    if (size == room) return false;
    out[size++] = static_cast<char>(digit < 26 ? 'a' + digit : '0' + (digit - 26));
    return true;
  };
  for (size_t i = 0; i < count; ++i) {
    if (points[i] >= 0x80) continue;
    if (size == room) return std::nullopt;
    out[size++] = static_cast<char>(points[i]);
  }
  const auto basic = static_cast<uint32_t>(size);
  uint32_t handled = basic;
  if (basic > 0) {
    if (size == room) return std::nullopt;
    out[size++] = '-';
  }
  while (handled < count) {
    uint32_t next = UINT32_MAX;
    for (size_t i = 0; i < count; ++i) {
      if (points[i] >= n && points[i] < next) next = points[i];
    }
    if (next - n > (UINT32_MAX - delta) / (handled + 1)) return std::nullopt;
    delta += (next - n) * (handled + 1);
    n = next;
    for (size_t i = 0; i < count; ++i) {
      if (points[i] < n) ++delta;
      if (points[i] != n) continue;
      uint32_t q = delta;
      for (uint32_t k = kBase;; k += kBase) {
        const uint32_t t = k <= bias ? kTMin : k >= bias + kTMax ? kTMax : k - bias;
        if (q < t) break;
        if (!put(t + (q - t) % (kBase - t))) return std::nullopt;
        q = (q - t) / (kBase - t);
      }
      if (!put(q)) return std::nullopt;
      // Bias adaptation.
      uint32_t d = handled == basic ? delta / kDamp : delta / 2;
      d += d / (handled + 1);
      uint32_t k = 0;
      for (; d > (kBase - kTMin) * kTMax / 2; k += kBase) d /= kBase - kTMin;
      bias = k + (kBase - kTMin + 1) * d / (d + kSkew);
      delta = 0;
      ++handled;
    }
    ++delta;
    ++n;
  }
  return size;
}

std::optional<std::string_view> normalize_host(std::string_view text, HostBuffer& buffer) {
  if (!text.empty() && text.back() == '.') text.remove_suffix(1);
  if (text.empty()) return std::nullopt;
  size_t size = 0;
  char label[kMaxLabel];
  while (true) {
    const size_t dot = text.find('.');
    const auto n = normalize_label(text.substr(0, dot), label);
    if (!n || size + *n > kMaxHost) return std::nullopt;
    for (size_t i = 0; i < *n; ++i) buffer[size++] = label[i];
    if (dot == std::string_view::npos) break;
    if (size == kMaxHost) return std::nullopt;
    buffer[size++] = '.';
    text.remove_prefix(dot + 1);
  }
  return std::string_view(buffer.data(), size);
}

}  // namespace culvert::wire
