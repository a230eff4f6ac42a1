// Compiles `rules` element by element, while the document is still being read. Internal to config/.
#pragma once

#include <memory>
#include <string>

#include "base/diagnostics.h"
#include "route/rule_list.h"
#include "route/targets.h"
#include "yaml/node.h"

namespace culvert::config {

class RuleReader {
 public:
  static constexpr std::string_view kKey = "rules";

  // Names that are not defined yet become targets of `targets`.
  RuleReader(const std::string& source, route::TargetTable& targets, Diagnostics& out)
      : source_(source), targets_(targets), out_(out) {}

  void take(const yaml::Node& node);
  [[nodiscard]] std::shared_ptr<const route::RuleList> done() const { return rules_; }
  // The room for more rules that their list has taken. For a moment the list takes more of it.
  void give_back_room() { rules_->shrink_to_fit(); }

 private:
  const std::string source_;
  route::TargetTable& targets_;
  Diagnostics& out_;
  std::shared_ptr<route::RuleList> rules_ = std::make_shared<route::RuleList>();
  route::Rule rule_;
  size_t index_ = 0;
};

}  // namespace culvert::config
