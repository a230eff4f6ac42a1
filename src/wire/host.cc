#include "wire/host.h"

#include <algorithm>
#include <cstdint>
#include <iterator>

#include "base/utf8.h"

namespace culvert::wire {
namespace {

constexpr size_t kMaxLabel = 63;

// Capitals from `first` to `last`, each `step`th, and how far their small letters are: the mapping
// of UTS 46, for Latin, Greek, Cyrillic and Armenian.
struct Capitals {
  uint16_t first, last;
  uint8_t step;
  int16_t distance;
};
constexpr Capitals kCapitals[] = {
    {0x41, 0x5a, 1, 32},        {0xc0, 0xd6, 1, 32},      {0xd8, 0xde, 1, 32},
    {0x100, 0x12e, 2, 1},       {0x134, 0x136, 2, 1},     {0x139, 0x13d, 2, 1},
    {0x141, 0x147, 2, 1},       {0x14a, 0x176, 2, 1},     {0x178, 0x178, 1, -121},
    {0x179, 0x17d, 2, 1},       {0x17f, 0x17f, 1, -268},  {0x181, 0x181, 1, 210},
    {0x182, 0x184, 2, 1},       {0x186, 0x186, 1, 206},   {0x187, 0x187, 1, 1},
    {0x189, 0x18a, 1, 205},     {0x18b, 0x18b, 1, 1},     {0x18e, 0x18e, 1, 79},
    {0x18f, 0x18f, 1, 202},     {0x190, 0x190, 1, 203},   {0x191, 0x191, 1, 1},
    {0x193, 0x193, 1, 205},     {0x194, 0x194, 1, 207},   {0x196, 0x196, 1, 211},
    {0x197, 0x197, 1, 209},     {0x198, 0x198, 1, 1},     {0x19c, 0x19c, 1, 211},
    {0x19d, 0x19d, 1, 213},     {0x19f, 0x19f, 1, 214},   {0x1a0, 0x1a4, 2, 1},
    {0x1a6, 0x1a6, 1, 218},     {0x1a7, 0x1a7, 1, 1},     {0x1a9, 0x1a9, 1, 218},
    {0x1ac, 0x1ac, 1, 1},       {0x1ae, 0x1ae, 1, 218},   {0x1af, 0x1af, 1, 1},
    {0x1b1, 0x1b2, 1, 217},     {0x1b3, 0x1b5, 2, 1},     {0x1b7, 0x1b7, 1, 219},
    {0x1b8, 0x1b8, 1, 1},       {0x1bc, 0x1bc, 1, 1},     {0x1cd, 0x1db, 2, 1},
    {0x1de, 0x1ee, 2, 1},       {0x1f4, 0x1f4, 1, 1},     {0x1f6, 0x1f6, 1, -97},
    {0x1f7, 0x1f7, 1, -56},     {0x1f8, 0x21e, 2, 1},     {0x220, 0x220, 1, -130},
    {0x222, 0x232, 2, 1},       {0x23a, 0x23a, 1, 10795}, {0x23b, 0x23b, 1, 1},
    {0x23d, 0x23d, 1, -163},    {0x23e, 0x23e, 1, 10792}, {0x241, 0x241, 1, 1},
    {0x243, 0x243, 1, -195},    {0x244, 0x244, 1, 69},    {0x245, 0x245, 1, 71},
    {0x246, 0x24e, 2, 1},       {0x386, 0x386, 1, 38},    {0x387, 0x387, 1, -720},
    {0x388, 0x38a, 1, 37},      {0x38c, 0x38c, 1, 64},    {0x38e, 0x38f, 1, 63},
    {0x391, 0x3a1, 1, 32},      {0x3a3, 0x3ab, 1, 32},    {0x400, 0x40f, 1, 80},
    {0x410, 0x42f, 1, 32},      {0x460, 0x480, 2, 1},     {0x48a, 0x4be, 2, 1},
    {0x4c0, 0x4c0, 1, 15},      {0x4c1, 0x4cd, 2, 1},     {0x4d0, 0x52e, 2, 1},
    {0x531, 0x556, 1, 48},      {0x1e00, 0x1e94, 2, 1},   {0x1e9b, 0x1e9b, 1, -58},
    {0x1e9e, 0x1e9e, 1, -7615}, {0x1ea0, 0x1efe, 2, 1}};

// Letters that become two: ligatures, digraphs and the dotted capital I.
struct Pair {
  uint16_t from;
  char16_t to[2];
};
constexpr Pair kPairs[] = {{0x130, {0x69, 0x307}},  {0x132, {0x69, 0x6a}},  {0x133, {0x69, 0x6a}},
                           {0x13f, {0x6c, 0xb7}},   {0x140, {0x6c, 0xb7}},  {0x149, {0x2bc, 0x6e}},
                           {0x1c4, {0x64, 0x17e}},  {0x1c5, {0x64, 0x17e}}, {0x1c6, {0x64, 0x17e}},
                           {0x1c7, {0x6c, 0x6a}},   {0x1c8, {0x6c, 0x6a}},  {0x1c9, {0x6c, 0x6a}},
                           {0x1ca, {0x6e, 0x6a}},   {0x1cb, {0x6e, 0x6a}},  {0x1cc, {0x6e, 0x6a}},
                           {0x1f1, {0x64, 0x7a}},   {0x1f2, {0x64, 0x7a}},  {0x1f3, {0x64, 0x7a}},
                           {0x587, {0x565, 0x582}}, {0x1e9a, {0x61, 0x2be}}};

// The small letters of `c`, into `out`; how many, 1 or 2. Others as they are.
size_t to_lower(char32_t c, char32_t out[2]) {
  for (const Pair& p : kPairs) {
    if (p.from != c) continue;
    out[0] = p.to[0], out[1] = p.to[1];
    return 2;
  }
  out[0] = c;
  const auto* row = std::lower_bound(std::begin(kCapitals), std::end(kCapitals), c,
                                     [](const Capitals& r, char32_t v) { return r.last < v; });
  if (row != std::end(kCapitals) && c >= row->first && (c - row->first) % row->step == 0) {
    out[0] = static_cast<char32_t>(static_cast<int32_t>(c) + row->distance);
  }
  return 1;
}

constexpr bool allowed(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
}

// Each byte's small letter where a host name may have it as it is, dots among them; 0 elsewhere.
constexpr auto kPlain = [] {
  std::array<char, 256> table{};
  for (int c = 0; c < 128; ++c) {
    const char small = static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
    if (allowed(small) || small == '.') table[static_cast<size_t>(c)] = small;
  }
  return table;
}();

// A name of plain labels in one pass; false where it is not one, or none at all.
bool normalize_plain(std::string_view text, HostBuffer& buffer) {
  if (text.size() > kMaxHost) return false;
  size_t label = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = kPlain[static_cast<unsigned char>(text[i])];
    buffer[i] = c;
    if (c == '.') {
      if (label == 0) return false;
      label = 0;
    } else if (c == 0 || ++label > kMaxLabel) {
      return false;
    }
  }
  return label != 0;
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
  ascii = true;
  while (!label.empty()) {
    const size_t n = utf8_length(label);
    if (n == 0) return std::nullopt;
    char32_t small[2];
    const size_t letters = to_lower(utf8_code_point(label, n), small);
    label.remove_prefix(n);
    if (count + letters > kMaxLabel) return std::nullopt;
    for (size_t i = 0; i < letters; ++i) {
      const char32_t c = small[i];
      if (c < 0x80 ? !allowed(static_cast<char>(c)) : c < 0xa1) return std::nullopt;
      ascii = ascii && c < 0x80;
      points[count++] = c;
    }
  }
  if (ascii) {
    for (size_t i = 0; i < count; ++i) out[i] = static_cast<char>(points[i]);
    return count;
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
  if (normalize_plain(text, buffer)) return std::string_view(buffer.data(), text.size());
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
