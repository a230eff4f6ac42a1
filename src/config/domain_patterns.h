// Patterns of host names, as hosts, fake-ip-filter and nameserver-policy have them: labels, where
// `*` is any one, a leading `+.` the name and all below it, a leading `.` all below it.
#pragma once

#include <string_view>

namespace culvert::config {

bool is_domain_pattern(std::string_view text);

}  // namespace culvert::config
