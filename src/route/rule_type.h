// What a rule looks at.
#pragma once

#include <cstdint>
#include <string_view>

namespace culvert::route {

enum class RuleType : uint8_t {
  kDomain,
  kDomainSuffix,
  kDomainKeyword,
  kIpCidr,
  kMatch,
  // Those that are compiled to conditions.
  kSrcIpCidr,  // also IP-CIDR with `src`
  kSrcPort,
  kDstPort,
  kInPort,
  kInType,
  kInName,
  kInUser,
  kNetwork,
  kAnd,
  kOr,
  kNot,
};
constexpr bool is_condition(RuleType type) {
  return type > RuleType::kMatch;
}
constexpr bool is_logic(RuleType type) {
  return type >= RuleType::kAnd;
}
// The API's word: "Domain", "SrcIPCIDR", "AND".
std::string_view api_name(RuleType type);

}  // namespace culvert::route
