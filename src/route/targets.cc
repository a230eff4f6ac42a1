#include "route/targets.h"

#include <algorithm>

#include "base/format.h"
#include "route/rule.h"

namespace culvert::route {
namespace {

// In the order of the constants.
constexpr std::string_view kBuiltIns[] = {"DIRECT", "REJECT",     "REJECT-DROP",
                                          "PASS",   "COMPATIBLE", "GLOBAL"};
static_assert(std::size(kBuiltIns) == kBuiltInTargets);

std::string expected_instead(std::string_view name) {
  // A line whose target was forgotten has its parameter there.
  if (name == "no-resolve" || name == "src") {
    return format("a target before '{}': the target is missing", name);
  }
  return format("an existing target instead of '{}'", name);
}

}  // namespace

TargetTable::TargetTable() {
  for (const std::string_view name : kBuiltIns) {
    entries_.push_back({std::string(name), true});
    places_.emplace(entries_.back().name, size() - 1);
  }
  last_entry_ = &entries_[last_];
}

std::optional<uint32_t> TargetTable::find(std::string_view name) const {
  const auto at = places_.find(name);
  if (at == places_.end()) return std::nullopt;
  return at->second;
}

std::optional<uint32_t> TargetTable::intern_other(std::string_view name) {
  const auto at = places_.find(name);
  if (at != places_.end()) {
    last_ = at->second;
  } else {
    if (size() == kMaxTargets) return std::nullopt;
    entries_.push_back({std::string(name), false});
    last_ = size() - 1;
    places_.emplace(entries_.back().name, last_);
  }
  last_entry_ = &entries_[last_];
  return last_;
}

std::optional<uint32_t> TargetTable::define(std::string_view name) {
  const auto target = intern(name);
  if (!target) return std::nullopt;
  entries_[*target].defined = true;
  undefined_.erase(*target);
  return target;
}

void TargetTable::remember(uint32_t target, const RuleSource& source, size_t rule) {
  if (defined(target)) return;
  Undefined& name = undefined_[target];
  if (name.uses.size() == kMaxUses) {
    ++name.more;
    return;
  }
  name.uses.push_back({rule, source.line, source.column, std::string(source.text)});
}

void TargetTable::report_undefined(std::string_view source_name, Diagnostics& diagnostics) const {
  struct Found {
    const Use* use;
    uint32_t target;
  };
  std::vector<Found> found;
  std::vector<uint32_t> with_more;
  for (const auto& [target, name] : undefined_) {
    for (const Use& use : name.uses) found.push_back({&use, target});
    if (name.more != 0) with_more.push_back(target);
  }
  std::ranges::sort(found, {}, [](const Found& f) { return f.use->rule; });
  std::ranges::sort(with_more);
  for (const auto& [use, target] : found) {
    diagnostics.add({Severity::kError, std::string(source_name), use->line, use->column,
                     format("rules[{}]", use->rule), format("'{}'", use->text),
                     expected_instead(name(target))});
  }
  for (const uint32_t target : with_more) {
    diagnostics.add({Severity::kError, std::string(source_name), 0, 0, "rules",
                     format("{} more rules with it", undefined_.at(target).more),
                     expected_instead(name(target))});
  }
}

}  // namespace culvert::route
