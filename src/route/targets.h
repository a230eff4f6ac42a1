// TargetTable: the names a rule may send flows to, each with a place in the order of its first
// mention. A profile's rules are compiled before its nodes and groups are known, so a name may be
// used first and defined later; report_undefined() says at the end which never were, and where they
// are used. Built while loading, by one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/diagnostics.h"
#include "route/syntax.h"

namespace culvert::route {

// Always there and always defined, at these places.
inline constexpr uint32_t kDirect = 0;
inline constexpr uint32_t kReject = 1;
inline constexpr uint32_t kRejectDrop = 2;
// Not a way out: the flow goes on with the rules behind the one that matched.
inline constexpr uint32_t kPass = 3;
inline constexpr uint32_t kCompatible = 4;
inline constexpr uint32_t kGlobal = 5;
inline constexpr uint32_t kBuiltInTargets = 6;

struct RuleSource;

class TargetTable {
 public:
  // How many targets there can be: places fit in the bits that a rule has for one.
  static constexpr uint32_t kMaxTargets = 1u << 22;
  // Uses of an undefined name that are remembered; the rest is counted.
  static constexpr size_t kMaxUses = 16;

  TargetTable();
  TargetTable(const TargetTable&) = delete;
  TargetTable& operator=(const TargetTable&) = delete;

  // The place of `name`, which it is given when it is new. Nothing when the table is full.
  std::optional<uint32_t> intern(std::string_view name) {
    // Rules in a row tend to have one target.
    if (equal(last_entry_->name, name)) return last_;
    return intern_other(name);
  }
  [[nodiscard]] std::optional<uint32_t> find(std::string_view name) const;
  // As intern(); the name exists from now on.
  std::optional<uint32_t> define(std::string_view name);
  [[nodiscard]] bool defined(uint32_t target) const { return entries_[target].defined; }
  [[nodiscard]] const std::string& name(uint32_t target) const { return entries_[target].name; }
  [[nodiscard]] uint32_t size() const { return static_cast<uint32_t>(entries_.size()); }

  // Remembers that the rule at `rule`, counted from 0, sends flows to `target`, for
  // report_undefined(). Costs nothing when the target is defined.
  void note_use(uint32_t target, const RuleSource& source, size_t rule) {
    if (target == last_ && last_entry_->defined) [[likely]] {
      return;
    }
    remember(target, source, rule);
  }
  // An error for each remembered use of a name that was never defined, in the order of the rules,
  // and one for each name that has more uses than were remembered.
  void report_undefined(std::string_view source_name, Diagnostics& diagnostics) const;

 private:
  struct Use {
    size_t rule;
    uint32_t line;
    uint32_t column;
    std::string text;
  };
  struct Entry {
    std::string name;
    bool defined;
  };
  struct Undefined {
    std::vector<Use> uses;
    size_t more = 0;
  };
  std::optional<uint32_t> intern_other(std::string_view name);
  void remember(uint32_t target, const RuleSource& source, size_t rule);

  std::deque<Entry> entries_;  // which stay where they are: places_ has their names
  std::unordered_map<std::string_view, uint32_t> places_;
  std::unordered_map<uint32_t, Undefined> undefined_;
  uint32_t last_ = kDirect;
  const Entry* last_entry_ = nullptr;
};

}  // namespace culvert::route
