#include "config/unsupported.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "base/format.h"
#include "yaml/scalar.h"
#include "yaml/text.h"

namespace culvert::config {
namespace {

enum class Disposition : uint8_t {
  kIgnored,         // warned about: nothing depends on it
  kRefused,         // refused unless off
  kRefusedSection,  // refused when its own `enable` is true
};

struct Unsupported {
  std::string_view key;
  Disposition disposition;
};

constexpr Unsupported kUnsupported[] = {
    {"redir-port", Disposition::kRefused},
    {"tproxy-port", Disposition::kRefused},
    {"ss-config", Disposition::kRefused},
    {"vmess-config", Disposition::kRefused},
    {"tuic-server", Disposition::kRefusedSection},
    {"inbound-tfo", Disposition::kIgnored},
    {"inbound-mptcp", Disposition::kIgnored},
    {"unified-delay", Disposition::kIgnored},
    {"interface-name", Disposition::kRefused},
    {"routing-mark", Disposition::kRefused},
    {"find-process-mode", Disposition::kIgnored},
    {"global-client-fingerprint", Disposition::kIgnored},
    {"global-ua", Disposition::kIgnored},
    {"etag-support", Disposition::kIgnored},
    {"geodata-mode", Disposition::kIgnored},
    {"geodata-loader", Disposition::kIgnored},
    {"geosite-matcher", Disposition::kIgnored},
    {"geo-auto-update", Disposition::kIgnored},
    {"geo-update-interval", Disposition::kIgnored},
    {"geox-url", Disposition::kIgnored},
    {"external-controller-tls", Disposition::kRefused},
    {"external-controller-unix", Disposition::kRefused},
    {"external-controller-pipe", Disposition::kIgnored},
    {"external-controller-routing-mark", Disposition::kRefused},
    {"external-ui", Disposition::kIgnored},
    {"external-ui-name", Disposition::kIgnored},
    {"external-ui-url", Disposition::kIgnored},
    {"external-doh-server", Disposition::kRefused},
    {"tls", Disposition::kRefused},
    {"profile", Disposition::kIgnored},
    {"experimental", Disposition::kIgnored},
    {"clash-for-android", Disposition::kIgnored},
    {"hosts", Disposition::kRefused},
    {"dns", Disposition::kRefusedSection},
    {"sniffer", Disposition::kRefusedSection},
    {"tun", Disposition::kRefusedSection},
    {"ntp", Disposition::kRefusedSection},
    {"iptables", Disposition::kRefusedSection},
    {"listeners", Disposition::kRefused},
    {"tunnels", Disposition::kRefused},
    {"proxies", Disposition::kRefused},
    {"proxy-groups", Disposition::kRefused},
    {"proxy-providers", Disposition::kRefused},
    {"rule-providers", Disposition::kRefused},
    {"sub-rules", Disposition::kRefused},
    {"aster", Disposition::kRefused},
    {"traffic-control", Disposition::kRefused},
};

// Its depth is the document's, which is limited.
bool is_off(const yaml::Node& value) {
  switch (value.kind()) {
    case yaml::Kind::kNull:
      return true;
    case yaml::Kind::kScalar:
      return value.text().empty() || value.text() == "false" ||
             yaml::parse_integer(value.text()) == 0;
    case yaml::Kind::kSequence:
      return value.items().empty();
    case yaml::Kind::kMapping:
      return std::ranges::all_of(value.entries(),
                                 [](const yaml::Entry& e) { return is_off(*e.value); });
  }
  return false;
}

// Whether a section asks to be enabled; says so when its `enable` is misspelt.
bool is_enabled(yaml::MapReader& top, std::string_view key) {
  auto section = top.map(key);
  if (!section) return false;
  constexpr std::string_view kEnable[] = {"enable"};
  if (section->find_entry("enable") == nullptr) {
    for (const yaml::Entry& entry : section->node().entries()) {
      const std::string_view word = entry.key->text();
      if (yaml::nearest(word, kEnable)) {
        section->warn(*entry.key, section->path_of(word),
                      "unknown key, ignored; did you mean enable?");
      }
    }
  }
  return section->boolean("enable").value_or(false);
}

}  // namespace

void report_unsupported(yaml::MapReader& top) {
  for (const auto& [key, disposition] : kUnsupported) {
    const yaml::Entry* entry = top.find_entry(key);
    if (entry == nullptr) continue;
    if (disposition == Disposition::kRefusedSection) {
      if (is_enabled(top, key)) {
        top.refuse(*entry->key, top.path_of(key),
                   "not supported in this version; leave it out or set enable: false");
      }
    } else if (is_off(*entry->value)) {
      continue;
    } else if (disposition == Disposition::kRefused) {
      top.refuse(*entry->key, top.path_of(key), "not supported in this version; leave it out");
    } else {
      top.warn(*entry->key, top.path_of(key), "not supported yet, ignored");
    }
  }
}

}  // namespace culvert::config
