// Who is in a group: the members it lists, the nodes it takes in, and its filters. Internal to
// config/.
#pragma once

#include <cstdint>
#include <vector>

#include "config/loading.h"

namespace culvert::config {

class MemberReader {
 public:
  // Bounds of all groups together: members, and tries of a pattern or of a type with a name.
  static constexpr size_t kMaxMembers = size_t{1} << 22;
  static constexpr size_t kMaxTries = size_t{1} << 26;

  // Of a profile whose proxies and groups all have their names and types by now.
  explicit MemberReader(Loading& loading);
  // Reads `proxies` and what else makes members; the list is empty after an error only.
  std::vector<uint32_t> read(yaml::MapReader& group);

 private:
  void add_listed(yaml::MapReader& group);
  void add_all(yaml::MapReader& group);
  void exclude_names(yaml::MapReader& group);
  void exclude_types(yaml::MapReader& group);
  void add_fallback(yaml::MapReader& group);
  void add(uint32_t target);
  bool count_try(yaml::MapReader& group, std::string_view key);

  Loading& loading_;
  std::vector<uint32_t> sorted_;  // all proxies, by name
  // Of each target.
  std::vector<std::string_view> types_;  // the API's words
  std::vector<uint32_t> taken_by_;       // the last group, from 1, that has it
  uint32_t group_ = 0;
  std::vector<uint32_t> members_;  // of group_
  bool failed_ = false;            // group_ has an error
  size_t all_members_ = 0;
  size_t tries_ = 0;
};

// What the API calls groups of a `type`.
std::string_view group_api_name(std::string_view type);

}  // namespace culvert::config
