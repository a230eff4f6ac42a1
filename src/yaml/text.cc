#include "yaml/text.h"

#include <algorithm>
#include <array>

namespace culvert::yaml {
namespace {

constexpr size_t kQuotedBytes = 60;
// Longer words are not compared.
constexpr size_t kWordBytes = 48;

// Optimal string alignment distance.
size_t distance(std::string_view a, std::string_view b) {
  using Row = std::array<size_t, kWordBytes + 1>;
  Row before{}, above{}, row{};
  for (size_t k = 0; k <= b.size(); ++k) above[k] = k;
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (size_t k = 1; k <= b.size(); ++k) {
      const size_t change = above[k - 1] + (a[i - 1] == b[k - 1] ? 0 : 1);
      row[k] = std::min({change, above[k] + 1, row[k - 1] + 1});
      if (i > 1 && k > 1 && a[i - 1] == b[k - 2] && a[i - 2] == b[k - 1]) {
        row[k] = std::min(row[k], before[k - 2] + 1);
      }
    }
    before = above;
    above = row;
  }
  return above[b.size()];
}

}  // namespace

std::string quoted(std::string_view text) {
  std::string_view shown = text.substr(0, kQuotedBytes);
  if (shown.size() < text.size()) {
    while (!shown.empty() && (static_cast<uint8_t>(text[shown.size()]) & 0xC0) == 0x80) {
      shown.remove_suffix(1);
    }
  }
  std::string out = "'";
  for (size_t i = 0; i < shown.size(); ++i) {
    const auto c = static_cast<uint8_t>(shown[i]);
    const uint8_t next = i + 1 < shown.size() ? static_cast<uint8_t>(shown[i + 1]) : 0;
    if (c < 0x20 || c == 0x7F) {
      out += '?';
    } else if (c == 0xC2 && next >= 0x80 && next < 0xA0) {  // U+0080..U+009F move terminals too
      out += '?';
      ++i;
    } else {
      out += shown[i];
    }
  }
  if (shown.size() < text.size()) out += "...";
  return out += '\'';
}

std::string describe(const Node& node) {
  switch (node.kind()) {
    case Kind::kNull:
      return "nothing";
    case Kind::kScalar:
      return quoted(node.text());
    case Kind::kSequence:
      return "a list";
    case Kind::kMapping:
      return "a mapping";
  }
  return {};
}

std::optional<std::string_view> nearest(std::string_view word,
                                        std::span<const std::string_view> words) {
  if (word.size() > kWordBytes) return std::nullopt;
  size_t best = std::max<size_t>(1, word.size() / 3) + 1;
  std::optional<std::string_view> out;
  for (const std::string_view candidate : words) {
    if (candidate.size() > kWordBytes || candidate.size() > word.size() + best ||
        word.size() > candidate.size() + best) {
      continue;
    }
    if (const size_t d = distance(word, candidate); d < best) {
      best = d;
      out = candidate;
    }
  }
  return out;
}

}  // namespace culvert::yaml
