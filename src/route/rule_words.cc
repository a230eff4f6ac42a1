#include "route/rule_words.h"

#include <array>
#include <iterator>

#include "base/format.h"
#include "route/syntax.h"

namespace culvert::route {
namespace {

constexpr RuleWord kOther[] = {
    {"SRC-IP-CIDR", RuleType::kSrcIpCidr},
    {"SRC-PORT", RuleType::kSrcPort},
    {"DST-PORT", RuleType::kDstPort},
    {"IN-PORT", RuleType::kInPort},
    {"IN-TYPE", RuleType::kInType},
    {"IN-NAME", RuleType::kInName},
    {"IN-USER", RuleType::kInUser},
    {"NETWORK", RuleType::kNetwork},
    {"AND", RuleType::kAnd},
    {"OR", RuleType::kOr},
    {"NOT", RuleType::kNot},
};
// Rule types of the profiles people have that this version cannot judge.
constexpr std::string_view kUnsupported[] = {"DOMAIN-REGEX",
                                             "DOMAIN-WILDCARD",
                                             "GEOSITE",
                                             "GEOIP",
                                             "SRC-GEOIP",
                                             "IP-ASN",
                                             "SRC-IP-ASN",
                                             "IP-SUFFIX",
                                             "SRC-IP-SUFFIX",
                                             "DSCP",
                                             "PROCESS-NAME",
                                             "PROCESS-PATH",
                                             "PROCESS-NAME-REGEX",
                                             "PROCESS-PATH-REGEX",
                                             "PROCESS-NAME-WILDCARD",
                                             "PROCESS-PATH-WILDCARD",
                                             "UID",
                                             "REMATCH-NAME",
                                             "RULE-SET",
                                             "SUB-RULE"};

constexpr std::array<std::string_view, 16> kApiNames = {
    "Domain",  "DomainSuffix", "DomainKeyword", "IPCIDR", "Match",  "SrcIPCIDR", "SrcPort",
    "DstPort", "InPort",       "InType",        "InName", "InUser", "Network",   "AND",
    "OR",      "NOT"};
static_assert(kApiNames.size() == static_cast<size_t>(RuleType::kNot) + 1);

}  // namespace

std::string_view api_name(RuleType type) {
  return kApiNames[static_cast<size_t>(type)];
}

const RuleType* find_other_type(std::string_view word) {
  for (const RuleWord& known : kOther) {
    if (same_word(word, known.word)) return &known.type;
  }
  return nullptr;
}

std::string expected_type(std::string_view word) {
  for (const std::string_view other : kUnsupported) {
    if (same_word(word, other)) return format("a rule type this version supports (not {})", other);
  }
  return "a rule type such as DOMAIN, DOMAIN-SUFFIX, IP-CIDR or MATCH";
}

}  // namespace culvert::route
