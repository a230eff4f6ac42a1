#include "route/rule.h"

#include <algorithm>

#include "base/format.h"
#include "wire/host.h"

namespace culvert::route {
namespace {

std::string_view trim(std::string_view s) {
  while (!s.empty() && (s.front() == ' ' || s.front() == '\t')) s.remove_prefix(1);
  while (!s.empty() && (s.back() == ' ' || s.back() == '\t' || s.back() == '\r'))
    s.remove_suffix(1);
  return s;
}

std::vector<std::string_view> split(std::string_view line) {
  std::vector<std::string_view> parts;
  while (true) {
    const size_t comma = line.find(',');
    parts.push_back(trim(line.substr(0, comma)));
    if (comma == std::string_view::npos) break;
    line.remove_prefix(comma + 1);
  }
  // A trailing comma is tolerated.
  while (parts.size() > 1 && parts.back().empty()) parts.pop_back();
  return parts;
}

struct Word {
  std::string_view word;
  RuleType type;
};
constexpr Word kWords[] = {
    {"DOMAIN", RuleType::kDomain},
    {"DOMAIN-SUFFIX", RuleType::kDomainSuffix},
    {"DOMAIN-KEYWORD", RuleType::kDomainKeyword},
    {"IP-CIDR", RuleType::kIpCidr},
    {"IP-CIDR6", RuleType::kIpCidr},
    {"MATCH", RuleType::kMatch},
};
// Rule types of the profiles people have that this version cannot judge.
constexpr std::string_view kUnsupported[] = {"DOMAIN-REGEX",
                                             "DOMAIN-WILDCARD",
                                             "GEOSITE",
                                             "GEOIP",
                                             "SRC-GEOIP",
                                             "IP-ASN",
                                             "SRC-IP-ASN",
                                             "SRC-IP-CIDR",
                                             "IP-SUFFIX",
                                             "SRC-IP-SUFFIX",
                                             "SRC-PORT",
                                             "DST-PORT",
                                             "IN-PORT",
                                             "DSCP",
                                             "PROCESS-NAME",
                                             "PROCESS-PATH",
                                             "PROCESS-NAME-REGEX",
                                             "PROCESS-PATH-REGEX",
                                             "PROCESS-NAME-WILDCARD",
                                             "PROCESS-PATH-WILDCARD",
                                             "UID",
                                             "NETWORK",
                                             "IN-TYPE",
                                             "IN-USER",
                                             "IN-NAME",
                                             "REMATCH-NAME",
                                             "RULE-SET",
                                             "SUB-RULE",
                                             "AND",
                                             "OR",
                                             "NOT"};

}  // namespace

std::string_view api_name(RuleType type) {
  switch (type) {
    case RuleType::kDomain:
      return "Domain";
    case RuleType::kDomainSuffix:
      return "DomainSuffix";
    case RuleType::kDomainKeyword:
      return "DomainKeyword";
    case RuleType::kIpCidr:
      return "IPCIDR";
    case RuleType::kMatch:
      return "Match";
  }
  return "Match";
}

bool parse_rule(const RuleSource& source, std::string_view source_name, size_t index,
                const std::vector<std::string>& targets, Rule& out, Diagnostics& diagnostics) {
  auto fail = [&](std::string found, std::string expected) {
    diagnostics.add({Severity::kError, std::string(source_name), source.line, source.column,
                     format("rules[{}]", index), std::move(found), std::move(expected)});
    return false;
  };
  const std::string quoted = format("'{}'", source.text);
  const std::vector<std::string_view> parts = split(source.text);
  std::string word(parts[0]);
  std::transform(word.begin(), word.end(), word.begin(), [](unsigned char c) {
    return static_cast<char>(c >= 'a' && c <= 'z' ? c - 32 : c);
  });
  const Word* known = std::find_if(std::begin(kWords), std::end(kWords),
                                   [&](const Word& w) { return w.word == word; });
  if (known == std::end(kWords)) {
    const bool other =
        std::find(std::begin(kUnsupported), std::end(kUnsupported), word) != std::end(kUnsupported);
    return fail(quoted, other ? format("a rule type this version supports (not {})", word)
                              : "a rule type such as DOMAIN, DOMAIN-SUFFIX, IP-CIDR or MATCH");
  }
  out.type = known->type;
  out.no_resolve = false;
  out.payload.clear();
  const size_t target_at = out.type == RuleType::kMatch ? 1 : 2;
  if (parts.size() <= target_at) {
    return fail(quoted, out.type == RuleType::kMatch ? "MATCH,target" : "TYPE,payload,target");
  }
  const std::string_view payload = out.type == RuleType::kMatch ? std::string_view() : parts[1];
  for (size_t i = target_at + 1; i < parts.size(); ++i) {
    if (parts[i] == "no-resolve" && out.type == RuleType::kIpCidr) {
      out.no_resolve = true;
    } else {
      return fail(quoted, format("no parameter '{}' after the target", parts[i]));
    }
  }
  if (out.type == RuleType::kIpCidr) {
    const auto prefix = Prefix::parse(payload);
    if (!prefix || payload.find('/') == std::string_view::npos) {
      return fail(quoted, format("a prefix such as 192.0.2.0/24 instead of '{}'", payload));
    }
    out.prefix = *prefix;
    out.payload = payload;
  } else if (out.type == RuleType::kDomainKeyword) {
    if (payload.empty()) return fail(quoted, "a keyword");
    // A keyword may be any part of a name: only its letters' case is normalised.
    out.payload = payload;
    for (char& c : out.payload) {
      if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + 32);
    }
  } else if (out.type != RuleType::kMatch) {
    wire::HostBuffer buffer;
    const auto host = wire::normalize_host(payload, buffer);
    if (!host) return fail(quoted, format("a domain name instead of '{}'", payload));
    out.payload = *host;
  }
  const auto target = std::find(targets.begin(), targets.end(), parts[target_at]);
  if (target == targets.end()) {
    return fail(quoted, format("an existing target instead of '{}'", parts[target_at]));
  }
  out.outbound = static_cast<uint32_t>(target - targets.begin());
  return true;
}

}  // namespace culvert::route
