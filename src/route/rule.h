// Rules: one line of a profile, parsed and checked.
// Source of the syntax: mihomo's `TYPE,payload,target[,no-resolve]`.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostics.h"
#include "base/ip.h"

namespace culvert::route {

enum class RuleType : uint8_t { kDomain, kDomainSuffix, kDomainKeyword, kIpCidr, kMatch };
// The API's word: "Domain", "DomainSuffix", "DomainKeyword", "IPCIDR", "Match".
std::string_view api_name(RuleType type);

struct Rule {
  RuleType type = RuleType::kMatch;
  bool no_resolve = false;
  uint32_t outbound = 0;  // index into the list of targets given to the parser
  std::string payload;    // as written; domains lower-cased
  Prefix prefix;          // kIpCidr
};

struct RuleSource {
  std::string_view text;
  uint32_t line = 0;
  uint32_t column = 0;
};

// Parses one rule. `targets` are the names a rule may send flows to; `index` is its position, for
// the path in diagnostics. False, with an error added, when it is not a rule. `out` may have held
// another rule: its memory is used again.
bool parse_rule(const RuleSource& source, std::string_view source_name, size_t index,
                const std::vector<std::string>& targets, Rule& out, Diagnostics& diagnostics);

}  // namespace culvert::route
