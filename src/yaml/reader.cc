#include "yaml/reader.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/format.h"
#include "yaml/scalar.h"
#include "yaml/text.h"

namespace culvert::yaml {
namespace {

// Unknown keys of one mapping that are named; the rest is counted.
constexpr size_t kMaxUnknown = 32;

const Node& empty_mapping() {
  static const Node node(Kind::kMapping, 1, 1);
  return node;
}

bool is_plain_key(std::string_view key) {
  return !key.empty() && std::ranges::all_of(key, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_';
  });
}

bool equal_ignoring_case(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  return std::ranges::equal(a, b, {}, lower, lower);
}

std::string in_seconds(Duration d) {
  const int64_t ms = d / std::chrono::milliseconds(1);
  return ms % 1000 == 0 ? format("{}s", ms / 1000) : format("{}ms", ms);
}

}  // namespace

MapReader MapReader::of(const Document& document, Diagnostics& out) {
  const Node& root = document.root();
  MapReader reader(document.source(), root.is_mapping() ? root : empty_mapping(), {}, out);
  if (!root.is_mapping() && !root.is_null()) reader.fail(root, {}, "a mapping of settings");
  return reader;
}

MapReader::MapReader(const std::string& source, const Node& map, std::string path, Diagnostics& out)
    : source_(&source), map_(&map), path_(std::move(path)), out_(&out) {}

const Entry* MapReader::find_entry(std::string_view key) {
  allow({key});
  for (const Entry& entry : map_->entries()) {
    if (entry.key->text() == key) return &entry;
  }
  return nullptr;
}

const Node* MapReader::find(std::string_view key) {
  const Entry* entry = find_entry(key);
  return entry == nullptr || entry->value->is_null() ? nullptr : entry->value;
}

void MapReader::allow(std::initializer_list<std::string_view> keys) {
  for (const std::string_view key : keys) {
    if (!knows(key)) known_.push_back(key);
  }
}

bool MapReader::knows(std::string_view key) const {
  return std::ranges::find(known_, key) != known_.end();
}

const Node* MapReader::scalar(std::string_view key, std::string_view expected) {
  const Node* node = find(key);
  if (node == nullptr || node->is_scalar()) return node;
  fail(*node, path_of(key), std::string(expected));
  return nullptr;
}

std::optional<std::string_view> MapReader::string(std::string_view key) {
  const Node* node = scalar(key, "text");
  if (node == nullptr) return std::nullopt;
  return node->text();
}

std::optional<bool> MapReader::boolean(std::string_view key) {
  constexpr std::string_view kExpected = "true or false";
  const Node* node = scalar(key, kExpected);
  if (node == nullptr) return std::nullopt;
  const auto value = parse_boolean(node->text());
  if (!value) fail(*node, path_of(key), std::string(kExpected));
  return value;
}

std::optional<int64_t> MapReader::integer(std::string_view key, int64_t min, int64_t max) {
  const std::string expected = max == std::numeric_limits<int64_t>::max()
                                   ? format("a whole number from {} up", min)
                                   : format("a whole number from {} to {}", min, max);
  const Node* node = scalar(key, expected);
  if (node == nullptr) return std::nullopt;
  const auto value = parse_integer(node->text());
  if (value && *value >= min && *value <= max) return value;
  fail(*node, path_of(key), expected);
  return std::nullopt;
}

std::optional<uint16_t> MapReader::port(std::string_view key, PortZero zero) {
  const std::string_view expected =
      zero == PortZero::kOff ? "a port from 1 to 65535, or 0 for off" : "a port from 1 to 65535";
  const Node* node = scalar(key, expected);
  if (node == nullptr) return std::nullopt;
  const auto value = parse_integer(node->text());
  if (value && *value >= (zero == PortZero::kOff ? 0 : 1) && *value <= 65535) {
    return static_cast<uint16_t>(*value);
  }
  fail(*node, path_of(key), std::string(expected));
  return std::nullopt;
}

std::optional<Duration> MapReader::duration(std::string_view key, Duration unit, Duration min,
                                            Duration max) {
  const std::string expected = format("a time from {} to {}", in_seconds(min), in_seconds(max));
  const Node* node = scalar(key, expected);
  if (node == nullptr) return std::nullopt;
  const auto value = parse_duration(node->text(), unit);
  if (value && *value >= min && *value <= max) return value;
  fail(*node, path_of(key), expected);
  return std::nullopt;
}

std::optional<uint64_t> MapReader::size(std::string_view key, uint64_t min, uint64_t max) {
  const std::string expected = format("a size from {} to {} bytes, such as 64MiB", min, max);
  const Node* node = scalar(key, expected);
  if (node == nullptr) return std::nullopt;
  const auto value = parse_size(node->text());
  if (value && *value >= min && *value <= max) return value;
  fail(*node, path_of(key), expected);
  return std::nullopt;
}

std::optional<size_t> MapReader::choice_index(std::string_view key,
                                              std::span<const std::string_view> words) {
  const auto expected = [&] {
    std::string out;
    for (size_t i = 0; i < words.size(); ++i) {
      if (i != 0) out += i + 1 == words.size() ? " or " : ", ";
      out += words[i];
    }
    return out;
  };
  const Node* node = find(key);
  if (node == nullptr) return std::nullopt;
  if (node->is_scalar()) {
    for (size_t i = 0; i < words.size(); ++i) {
      if (equal_ignoring_case(node->text(), words[i])) return i;
    }
  }
  fail(*node, path_of(key), expected());
  return std::nullopt;
}

std::span<const Node* const> MapReader::list(std::string_view key, ListForm form) {
  const Entry* entry = find_entry(key);
  if (entry == nullptr || entry->value->is_null()) return {};
  if (entry->value->is_sequence()) return entry->value->items();
  if (form == ListForm::kListOrScalar && entry->value->is_scalar()) return {&entry->value, 1};
  fail(*entry->value, path_of(key), "a list");
  return {};
}

std::vector<std::string_view> MapReader::strings(std::string_view key, ListForm form) {
  std::vector<std::string_view> out;
  each_scalar(
      key, [&](const Node& node, size_t) { out.push_back(node.text()); }, form);
  return out;
}

std::optional<MapReader> MapReader::map(std::string_view key) {
  const Node* node = find(key);
  if (node == nullptr) return std::nullopt;
  if (node->is_mapping()) return MapReader(*source_, *node, path_of(key), *out_);
  fail(*node, path_of(key), "a mapping");
  return std::nullopt;
}

std::optional<MapReader> MapReader::element(std::string_view key, size_t index, const Node& node) {
  if (node.is_mapping()) return MapReader(*source_, node, path_of(key, index), *out_);
  fail(node, path_of(key, index), "a mapping");
  return std::nullopt;
}

std::string MapReader::path_of(std::string_view key) const {
  if (!is_plain_key(key)) return path_ + "[" + quoted(key) + "]";
  return path_.empty() ? std::string(key) : path_ + "." + std::string(key);
}

std::string MapReader::path_of(std::string_view key, size_t index) const {
  return format("{}[{}]", path_of(key), index);
}

void MapReader::add(Severity severity, const Node& at, std::string path, std::string found,
                    std::string expected) {
  out_->add({severity, *source_, at.line(), at.column(), std::move(path), std::move(found),
             std::move(expected)});
}

void MapReader::fail(const Node& at, std::string path, std::string expected) {
  add(Severity::kError, at, std::move(path), describe(at), std::move(expected));
}

void MapReader::fail_hidden(const Node& at, std::string path, std::string expected) {
  add(Severity::kError, at, std::move(path), at.is_scalar() ? "(not shown)" : describe(at),
      std::move(expected));
}

void MapReader::refuse(const Node& at, std::string path, std::string what) {
  add(Severity::kError, at, std::move(path), std::move(what), {});
}

void MapReader::warn(const Node& at, std::string path, std::string what) {
  add(Severity::kWarning, at, std::move(path), std::move(what), {});
}

void MapReader::report_unknown() {
  const auto reported = [&](const Node& key) {
    return std::ranges::any_of(out_->entries(), [&](const Diagnostic& d) {
      return d.severity == Severity::kWarning && d.line == key.line() && d.column == key.column() &&
             d.found.starts_with("unknown key") && d.source == *source_;
    });
  };
  size_t unknown = 0;
  for (const Entry& entry : map_->entries()) {
    const std::string_view key = entry.key->text();
    if (knows(key)) continue;
    if (path_.empty() && (key.starts_with("x-") || entry.value->holds_anchor())) continue;
    if (++unknown > kMaxUnknown || reported(*entry.key)) continue;
    const auto meant = nearest(key, known_);
    warn(*entry.key, path_of(key),
         meant ? format("unknown key, ignored; did you mean {}?", *meant) : "unknown key, ignored");
  }
  if (unknown > kMaxUnknown) {
    warn(*map_, path_, format("{} more unknown keys, ignored", unknown - kMaxUnknown));
  }
}

}  // namespace culvert::yaml
