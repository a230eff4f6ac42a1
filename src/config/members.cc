#include "config/members.h"

#include <algorithm>

#include "base/format.h"
#include "config/name_pattern.h"
#include "config/schema.h"

namespace culvert::config {
namespace {

using yaml::Node;

// In the order of route/targets.h.
constexpr std::string_view kBuiltInTypes[] = {"Direct", "Reject",     "RejectDrop",
                                              "Pass",   "Compatible", "Selector"};
static_assert(std::size(kBuiltInTypes) == route::kBuiltInTargets);

bool equal_ignoring_case(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  return std::ranges::equal(a, b, {}, lower, lower);
}

}  // namespace

std::string_view group_api_name(std::string_view type) {
  if (type == "url-test") return "URLTest";
  if (type == "fallback") return "Fallback";
  if (type == "load-balance") return "LoadBalance";
  return "Selector";
}

MemberReader::MemberReader(Loading& loading)
    : loading_(loading), types_(loading.targets.size()), taken_by_(loading.targets.size()) {
  std::ranges::copy(kBuiltInTypes, types_.begin());
  for (const ProxySettings& proxy : loading.out.proxies) {
    types_[proxy.target] = api_type_name(proxy.type);
    sorted_.push_back(proxy.target);
  }
  for (const GroupSettings& group : loading.out.groups) {
    types_[group.target] = group_api_name(group.type);
  }
  std::ranges::sort(sorted_, {},
                    [&](uint32_t t) -> const std::string& { return loading.targets.name(t); });
}

std::vector<uint32_t> MemberReader::read(yaml::MapReader& group) {
  ++group_;
  members_.clear();
  failed_ = false;
  add_listed(group);
  add_all(group);
  exclude_names(group);
  exclude_types(group);
  add_fallback(group);
  all_members_ += members_.size();
  if (all_members_ > kMaxMembers) {
    group.refuse(group.node(), group.path(),
                 format("more than {} members in all groups", kMaxMembers));
    failed_ = true;
  }
  if (failed_) members_.clear();
  return std::move(members_);
}

void MemberReader::add(uint32_t target) {
  if (taken_by_[target] == group_) return;
  taken_by_[target] = group_;
  members_.push_back(target);
}

bool MemberReader::count_try(yaml::MapReader& group, std::string_view key) {
  if (++tries_ <= kMaxTries) return true;
  group.fail(*group.find(key), group.path_of(key), "fewer filters for so many nodes");
  failed_ = true;
  return false;
}

void MemberReader::add_listed(yaml::MapReader& group) {
  group.each_scalar("proxies", [&](const Node& node, size_t index) {
    const auto target = find_target(loading_, node.text());
    if (target && (*target != route::kGlobal || loading_.names.contains("GLOBAL"))) {
      add(*target);
      return;
    }
    group.fail(node, group.path_of("proxies", index), "the name of a proxy or a group");
    failed_ = true;
  });
}

void MemberReader::add_all(yaml::MapReader& group) {
  const bool all = group.boolean("include-all").value_or(false);
  const bool all_proxies = group.boolean("include-all-proxies").value_or(false);
  const auto filter = group.string("filter");
  std::optional<std::vector<NamePattern>> patterns;
  if (filter && !filter->empty()) {
    std::string problem;
    patterns = compile_patterns(*filter, problem);
    if (!patterns) {
      group.fail(*group.find("filter"), group.path_of("filter"), problem);
      failed_ = true;
      return;
    }
  }
  if (!all && !all_proxies) return;
  if (!patterns) {
    for (const uint32_t target : sorted_) add(target);
    return;
  }
  for (const NamePattern& pattern : *patterns) {
    for (const uint32_t target : sorted_) {
      if (taken_by_[target] == group_) continue;
      if (!count_try(group, "filter")) return;
      const auto found = pattern.match(loading_.targets.name(target));
      if (found == NamePattern::Match::kYes) add(target);
      if (found == NamePattern::Match::kTooMuchWork) {
        group.fail(*group.find("filter"), group.path_of("filter"),
                   "a pattern that takes fewer steps to compare");
        failed_ = true;
        return;
      }
    }
  }
}

void MemberReader::exclude_names(yaml::MapReader& group) {
  const auto filter = group.string("exclude-filter");
  if (!filter || filter->empty()) return;
  const Node& at = *group.find("exclude-filter");
  std::string problem;
  const auto patterns = compile_patterns(*filter, problem);
  if (!patterns) {
    group.fail(at, group.path_of("exclude-filter"), problem);
    failed_ = true;
    return;
  }
  bool too_much = false;
  std::erase_if(members_, [&](uint32_t target) {
    return std::ranges::any_of(*patterns, [&](const NamePattern& pattern) {
      if (too_much || failed_ || !count_try(group, "exclude-filter")) return false;
      const auto found = pattern.match(loading_.targets.name(target));
      too_much = found == NamePattern::Match::kTooMuchWork;
      return found == NamePattern::Match::kYes;
    });
  });
  if (!too_much) return;
  group.fail(at, group.path_of("exclude-filter"), "a pattern that takes fewer steps to compare");
  failed_ = true;
}

void MemberReader::exclude_types(yaml::MapReader& group) {
  const auto given = group.string("exclude-type");
  if (!given || given->empty()) return;
  std::vector<std::string_view> words;
  for (std::string_view rest = *given;;) {
    const size_t end = rest.find('|');
    words.push_back(rest.substr(0, end));
    if (end == std::string_view::npos) break;
    rest.remove_prefix(end + 1);
  }
  std::erase_if(members_, [&](uint32_t target) {
    return std::ranges::any_of(words, [&](std::string_view word) {
      return !failed_ && count_try(group, "exclude-type") &&
             equal_ignoring_case(word, types_[target]);
    });
  });
}

void MemberReader::add_fallback(yaml::MapReader& group) {
  const auto name = group.string("empty-fallback");
  uint32_t fallback = route::kCompatible;
  if (name && !name->empty()) {
    const Node& at = *group.find("empty-fallback");
    const auto target = find_target(loading_, *name);
    const auto named = loading_.names.find(*name);
    if (!target || *target == route::kGlobal ||
        (named != loading_.names.end() && named->second.what == Named::What::kGroup)) {
      group.fail(at, group.path_of("empty-fallback"), "the name of a proxy");
      failed_ = true;
      return;
    }
    fallback = *target;
  }
  if (members_.empty()) members_.push_back(fallback);
}

}  // namespace culvert::config
