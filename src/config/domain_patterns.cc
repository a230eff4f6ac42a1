#include "config/domain_patterns.h"

#include <algorithm>

#include "base/format.h"
#include "config/loading.h"
#include "yaml/scalar.h"

namespace culvert::config {
namespace {

using yaml::Node;

constexpr std::string_view kForm =
    "a pattern of names such as a.example, *.a.example, +.a.example or .a.example";

bool is_set_name(std::string_view text) {
  return text.starts_with("rule-set:") || text.starts_with("geosite:");
}

// A pattern that is in use is an error; one in a section that is off would be one later.
void report(Loading& loading, bool in_use, const Node& at, std::string path,
            std::string_view pattern) {
  if (in_use) {
    loading.top.fail(at, std::move(path), std::string(kForm));
  } else {
    loading.top.warn(at, std::move(path), format("'{}' is not {}", pattern, kForm));
  }
}

void check_keys(Loading& loading, bool in_use, const Node* map, const std::string& path) {
  if (map == nullptr) return;
  for (const yaml::Entry& entry : map->entries()) {
    const std::string_view key = entry.key->text();
    if (is_set_name(key)) continue;
    for (std::string_view rest = key;;) {
      const size_t comma = rest.find(',');
      const std::string_view pattern = rest.substr(0, comma);
      if (!is_domain_pattern(pattern)) report(loading, in_use, *entry.key, path, pattern);
      if (comma == std::string_view::npos) break;
      rest.remove_prefix(comma + 1);
    }
  }
}

}  // namespace

bool is_domain_pattern(std::string_view text) {
  const auto is_space = [](char c) { return c == ' ' || (c >= '\t' && c <= '\r'); };
  if (text.empty() || text == "." || text == "+.") return false;
  if (is_space(text.front()) || is_space(text.back())) return false;
  // A leading dot is a pattern of its own; any other empty label is not one.
  return text.back() != '.' && text.substr(1).find("..") == std::string_view::npos &&
         !text.starts_with("..");
}

void check_domain_patterns(Loading& loading) {
  const Node& root = loading.top.node();
  check_keys(loading, true, root.find("hosts"), "hosts");
  const Node* dns = root.find("dns");
  if (dns == nullptr || !dns->is_mapping()) return;
  const Node* enable = dns->find("enable");
  const bool in_use = enable != nullptr && yaml::parse_boolean(enable->text()).value_or(false);
  check_keys(loading, in_use, dns->find("nameserver-policy"), "dns.nameserver-policy");
  check_keys(loading, in_use, dns->find("proxy-server-nameserver-policy"),
             "dns.proxy-server-nameserver-policy");
  const Node* mode = dns->find("fake-ip-filter-mode");
  const Node* filter = dns->find("fake-ip-filter");
  // In this mode its lines are rules.
  if (filter == nullptr || (mode != nullptr && mode->text() == "rule")) return;
  for (size_t i = 0; i < filter->items().size(); ++i) {
    const Node& item = *filter->items()[i];
    const bool is_good =
        item.is_scalar() && (is_set_name(item.text()) || is_domain_pattern(item.text()));
    if (!is_good) report(loading, in_use, item, format("dns.fake-ip-filter[{}]", i), item.text());
  }
}

}  // namespace culvert::config
