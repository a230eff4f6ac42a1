#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "yaml/document.h"
#include "yaml/reader.h"

namespace {

using culvert::yaml::Entry;
using culvert::yaml::Limits;
using culvert::yaml::Node;

constexpr Limits kLimits{.text_bytes = 1 << 20, .depth = 64, .nodes = 20'000};

// Keeps the reads below from being optimised away.
volatile unsigned checksum = 0;

// Every node through every path; what parse() promises to bound.
void walk(const Node& node, uint32_t depth, uint64_t& nodes) {
  // The root and a scalar inside the deepest collection make one level more each.
  if (++nodes > kLimits.nodes + 1 || depth > kLimits.depth + 1 || node.line() == 0 ||
      node.column() == 0) {
    std::abort();
  }
  // Reads every byte, so that a view of freed memory is seen by the sanitizer.
  for (const char c : node.text()) checksum = checksum + static_cast<uint8_t>(c);
  for (const Node* item : node.items()) walk(*item, depth + 1, nodes);
  for (const Entry& entry : node.entries()) {
    if (entry.key->is_sequence() || entry.key->is_mapping()) std::abort();
    walk(*entry.key, depth + 1, nodes);
    walk(*entry.value, depth + 1, nodes);
  }
}

void read(culvert::yaml::MapReader map) {
  map.string("a");
  map.boolean("b");
  map.integer("c", -5, 5);
  map.port("port", culvert::yaml::PortZero::kOff);
  map.duration("interval", std::chrono::seconds(1), {}, std::chrono::hours(1));
  map.size("size", 0, 1 << 20);
  map.strings("rules", culvert::yaml::ListForm::kListOrScalar);
  if (auto dns = map.map("dns")) dns->report_unknown();
  map.report_unknown();
}

}  // namespace

int culvert_fuzz_yaml(const uint8_t* data, size_t size) {
  culvert::Diagnostics out;
  const auto document = culvert::yaml::parse(
      "fuzz", std::string(reinterpret_cast<const char*>(data), size), out, kLimits);
  if (document.has_value() == out.has_errors()) std::abort();
  if (document) {
    uint64_t nodes = 0;
    walk(document->root(), 0, nodes);
    read(culvert::yaml::MapReader::of(*document, out));
  }
  checksum = static_cast<unsigned>(out.to_string().size());
  return 0;
}
