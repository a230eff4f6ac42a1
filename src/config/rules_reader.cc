#include "config/rules_reader.h"

#include "base/format.h"
#include "config/loading.h"

namespace culvert::config {
namespace {

using yaml::Node;

constexpr std::string_view kSubRules = "sub-rules";

// The rules of one list of `sub-rules`. Everything has its name by now, so a target is looked up
// when its rule is read.
std::shared_ptr<const route::RuleList> read_list(Loading& loading, const std::string& path,
                                                 const Node& list) {
  yaml::MapReader& top = loading.top;
  auto rules = std::make_shared<route::RuleList>();
  route::TargetTable names;
  route::Rule rule;
  for (size_t i = 0; i < list.items().size(); ++i) {
    const Node& node = *list.items()[i];
    const std::string place = format("{}[{}]", path, i);
    if (!node.is_scalar()) {
      top.fail(node, place, "text");
      continue;
    }
    Diagnostics problems;
    const bool good = route::parse_rule({node.text(), node.line(), node.column()}, top.source(), i,
                                        names, rule, problems);
    for (Diagnostic problem : problems.entries()) {
      problem.path = place;
      top.diagnostics().add(std::move(problem));
    }
    if (!good) continue;
    const std::string& name = names.name(rule.outbound);
    if (const auto target = find_target(loading, name)) {
      rule.outbound = *target;
      rules->add(rule);
    } else {
      top.fail(node, place, format("an existing target instead of '{}'", name));
    }
  }
  rules->shrink_to_fit();
  return rules;
}

}  // namespace

void RuleReader::take(const Node& node) {
  const size_t index = index_++;
  if (node.is_scalar()) {
    if (route::parse_rule({node.text(), node.line(), node.column()}, source_, index, targets_,
                          rule_, out_)) {
      rules_->add(rule_);
    }
    return;
  }
  const Node none(yaml::Kind::kMapping, 1, 1);
  yaml::MapReader top(source_, none, {}, out_);
  top.fail(node, top.path_of(kKey, index), "text");
}

void read_sub_rules(Loading& loading) {
  auto lists = loading.top.map(kSubRules);
  if (!lists) return;
  for (const yaml::Entry& entry : lists->node().entries()) {
    const std::string_view name = entry.key->text();
    const std::string path = lists->path_of(name);
    if (!entry.value->is_sequence()) {
      lists->fail(*entry.value, path, "a list of rules");
      continue;
    }
    loading.out.sub_rules.push_back({std::string(name), read_list(loading, path, *entry.value)});
  }
}

}  // namespace culvert::config
