// The words for types of rules: a profile's and the API's.
#pragma once

#include <string>
#include <string_view>

#include "route/rule_type.h"

namespace culvert::route {

// The type that a profile's `word` names, in any case; null when this version judges none by it.
// IP-CIDR6 is IP-CIDR in another word.
const RuleType* find_type(std::string_view word);
// Why `word` is no type of rule here, as what a diagnostic expects instead.
std::string expected_type(std::string_view word);

}  // namespace culvert::route
