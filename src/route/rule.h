// Rules: one line of a profile, parsed and checked.
// Source of the syntax: mihomo's `TYPE,payload,target[,no-resolve][,src]`; for AND, OR and NOT
// `TYPE,((TYPE,payload[,no-resolve][,src]),...),target`, where an operand may be one of them again.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/diagnostics.h"
#include "base/ip.h"
#include "route/conditions.h"
#include "route/rule_type.h"
#include "route/targets.h"

namespace culvert::route {

struct Rule {
  RuleType type = RuleType::kMatch;
  bool no_resolve = false;  // kIpCidr
  uint32_t line = 0;        // in the profile; 0 = nowhere
  uint32_t outbound = 0;    // the target's place in the table given to the parser
  std::string payload;  // as it is shown: as written, names in the spelling they are compared in
  Prefix prefix;        // kIpCidr
  // Of the types that is_condition() names; of others left from the rule before.
  std::unique_ptr<Conditions> condition;
};

struct RuleSource {
  std::string_view text;
  uint32_t line = 0;
  uint32_t column = 0;
};

// Parses one rule. A target that `targets` does not have is put into it, and the use of one that is
// not defined yet is noted there; `index` is the rule's position, for the path in diagnostics.
// False, with an error added, when it is not a rule. `out` may have held another rule: its memory
// is used again.
bool parse_rule(const RuleSource& source, std::string_view source_name, size_t index,
                TargetTable& targets, Rule& out, Diagnostics& diagnostics);

}  // namespace culvert::route
