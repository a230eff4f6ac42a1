// Typed reading of mappings. Every value that is not what was asked for becomes one error with its
// place and path; every key nobody asked for becomes a warning with the nearest known key. Knows no
// setting itself.
//
//   MapReader top = MapReader::of(document, out);
//   auto mode = top.choice<Mode>("mode", kModes).value_or(Mode::kRule);
//   if (auto dns = top.map("dns")) {
//     auto enable = dns->boolean("enable").value_or(false);
//     dns->report_unknown();
//   }
//   top.report_unknown();
//
// A getter returns nullopt when the key is absent, is null, or was refused; which of these it was
// only matters to the Diagnostics. Views stay valid as long as the Document; keys passed in must
// outlive the reader (they are literals).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/diagnostics.h"
#include "yaml/document.h"
#include "yaml/node.h"

namespace culvert::yaml {

// Whether a list may also be written as its only element.
enum class ListForm : uint8_t { kList, kListOrScalar };
// Whether port 0 is a value ("off").
enum class PortZero : uint8_t { kRefused, kOff };

template <class E>
struct Choice {
  std::string_view word;
  E value;
};

class MapReader {
 public:
  // The document's root; one that is not a mapping is refused and read as an empty one.
  static MapReader of(const Document& document, Diagnostics& out);
  // `map` must be a mapping; `path` is empty for the root. The source name is borrowed.
  MapReader(const std::string& source, const Node& map, std::string path, Diagnostics& out);

  // The entry of a key, which counts as known from now on; nullptr when absent or null.
  const Node* find(std::string_view key);
  // As find(), but gives the whole entry, null value or not.
  const Entry* find_entry(std::string_view key);
  // These count as known without being read.
  void allow(std::initializer_list<std::string_view> keys);
  // Whether somebody has asked for it, or allowed it.
  [[nodiscard]] bool knows(std::string_view key) const;

  // Text as written: numbers, true and the like included. Refuses collections.
  std::optional<std::string_view> string(std::string_view key);
  std::optional<bool> boolean(std::string_view key);
  std::optional<int64_t> integer(std::string_view key, int64_t min, int64_t max);
  std::optional<uint16_t> port(std::string_view key, PortZero zero);
  // See parse_duration() in scalar.h; a bare number counts `unit`s.
  std::optional<Duration> duration(std::string_view key, Duration unit, Duration min, Duration max);
  std::optional<uint64_t> size(std::string_view key, uint64_t min, uint64_t max);
  // One of the words, in any case of letters.
  template <class E>
  std::optional<E> choice(std::string_view key, std::span<const Choice<E>> choices) {
    std::vector<std::string_view> words;
    for (const Choice<E>& c : choices) words.push_back(c.word);
    const auto index = choice_index(key, words);
    if (!index) return std::nullopt;
    return choices[*index].value;
  }
  template <class E, size_t N>
  std::optional<E> choice(std::string_view key, const Choice<E> (&choices)[N]) {
    return choice(key, std::span<const Choice<E>>(choices));
  }
  std::optional<size_t> choice_index(std::string_view key, std::span<const std::string_view> words);

  // The nodes of a list, of any kind.
  std::span<const Node* const> list(std::string_view key, ListForm form = ListForm::kList);
  // Calls visit(node, index) for the scalars of a list; other elements are refused and left out.
  template <class Visit>
  void each_scalar(std::string_view key, Visit visit, ListForm form = ListForm::kList) {
    const auto nodes = list(key, form);
    for (size_t i = 0; i < nodes.size(); ++i) {
      if (nodes[i]->is_scalar()) {
        visit(*nodes[i], i);
      } else {
        fail(*nodes[i], path_of(key, i), "text");
      }
    }
  }
  std::vector<std::string_view> strings(std::string_view key, ListForm form = ListForm::kList);
  std::optional<MapReader> map(std::string_view key);
  // A reader over element `index` of the list at `key`; refuses one that is not a mapping.
  std::optional<MapReader> element(std::string_view key, size_t index, const Node& node);

  // "dns.nameserver", "dns.nameserver[0]"
  [[nodiscard]] std::string path_of(std::string_view key) const;
  [[nodiscard]] std::string path_of(std::string_view key, size_t index) const;
  void fail(const Node& at, std::string path, std::string expected);
  // For values that must not be shown.
  void fail_hidden(const Node& at, std::string path, std::string expected);
  // An error or a warning in words of its own.
  void refuse(const Node& at, std::string path, std::string what);
  void warn(const Node& at, std::string path, std::string what);

  // Warns once per key never asked for. At the root, keys that start with "x-" and keys whose value
  // holds an anchor (templates) are left alone. A key that came in by a merge is reported at the
  // place it is written, once however often it is merged.
  void report_unknown();

  [[nodiscard]] const Node& node() const { return *map_; }
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] const std::string& source() const { return *source_; }
  [[nodiscard]] Diagnostics& diagnostics() const { return *out_; }

 private:
  const Node* scalar(std::string_view key, std::string_view expected);
  void add(Severity severity, const Node& at, std::string path, std::string found,
           std::string expected);

  const std::string* source_;
  const Node* map_;
  std::string path_;
  Diagnostics* out_;
  std::vector<std::string_view> known_;
};

}  // namespace culvert::yaml
