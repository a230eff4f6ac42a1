// The words for types of rules: a profile's and the API's.
#pragma once

#include <string>
#include <string_view>

#include "route/rule_type.h"
#include "route/syntax.h"

namespace culvert::route {

struct RuleWord {
  std::string_view word;
  RuleType type;
};
// Nearly every rule has one of these: they are found by their length, which no two share.
inline constexpr RuleWord kFrequentWords[] = {
    {"DOMAIN", RuleType::kDomain},
    {"DOMAIN-SUFFIX", RuleType::kDomainSuffix},
    {"DOMAIN-KEYWORD", RuleType::kDomainKeyword},
    {"IP-CIDR", RuleType::kIpCidr},
    {"IP-CIDR6", RuleType::kIpCidr},
    {"MATCH", RuleType::kMatch},
};
// Of the others.
const RuleType* find_other_type(std::string_view word);

// The type that a profile's `word` names, in any case; null when this version judges none by it.
// IP-CIDR6 is IP-CIDR in another word.
inline const RuleType* find_type(std::string_view word) {
  for (const RuleWord& known : kFrequentWords) {
    if (known.word.size() != word.size()) continue;
    if (equal(word, known.word) || same_word(word, known.word)) return &known.type;
    break;
  }
  return find_other_type(word);
}
// Why `word` is no type of rule here, as what a diagnostic expects instead.
std::string expected_type(std::string_view word);

}  // namespace culvert::route
