// Which nodes of two profiles are the same. Internal to config/.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "yaml/node.h"

namespace culvert::config {

// Makes identities: digests of a node of the profile down to its last value, whatever order its
// keys have and however they got there.
class IdentityMaker {
 public:
  // Of one node's content; more is refused.
  static constexpr size_t kMaxBytes = size_t{1} << 20;

  // Nothing when the node is larger than kMaxBytes.
  std::optional<std::string> make(const yaml::Node& node);

 private:
  bool append(const yaml::Node& node);
  void append_text(const yaml::Node& node);

  std::string text_;
  // Digests of long texts, which an anchor may bring into very many nodes.
  std::unordered_map<const char*, std::array<uint8_t, 20>> long_texts_;
};

}  // namespace culvert::config
