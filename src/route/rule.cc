#include "route/rule.h"

#include <array>
#include <bit>
#include <cstring>
#include <iterator>

#include "base/format.h"
#include "wire/host.h"

namespace culvert::route {
namespace {

constexpr size_t kMaxLabel = 63;  // RFC 1035 section 2.3.4

inline bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\r';
}

std::string_view trim_spaces(std::string_view s) {
  while (!s.empty() && (s.front() == ' ' || s.front() == '\t')) s.remove_prefix(1);
  while (!s.empty() && is_space(s.back())) s.remove_suffix(1);
  return s;
}

inline std::string_view trim(std::string_view s) {
  const auto visible = [](char c) { return static_cast<unsigned char>(c) > ' '; };
  if (s.empty() || (visible(s.front()) && visible(s.back()))) [[likely]] {
    return s;
  }
  return trim_spaces(s);
}

// The first comma or the end. Eight bytes at a time, in line: parts are too short for memchr() to
// be worth its call.
inline size_t find_comma(std::string_view s) {
  constexpr uint64_t kOnes = 0x0101010101010101u;
  size_t i = 0;
  if constexpr (std::endian::native == std::endian::little) {
    for (; i + sizeof(uint64_t) <= s.size(); i += sizeof(uint64_t)) {
      uint64_t bytes;
      std::memcpy(&bytes, s.data() + i, sizeof bytes);
      bytes ^= kOnes * ',';
      // The lowest bit that is set is of the first byte that is zero.
      const uint64_t zeros = (bytes - kOnes) & ~bytes & (kOnes << 7);
      if (zeros != 0) return i + static_cast<size_t>(std::countr_zero(zeros)) / 8;
    }
  }
  while (i < s.size() && s[i] != ',') ++i;
  return i;
}

// The parts between commas, one after another. A trailing comma is tolerated.
class Parts {
 public:
  explicit Parts(std::string_view line) : rest_(trim(line)) {
    while (rest_.ends_with(',')) rest_ = trim(rest_.substr(0, rest_.size() - 1));
  }
  [[nodiscard]] bool more() const { return more_; }
  std::string_view next() {
    const size_t comma = find_comma(rest_);
    more_ = comma != rest_.size();
    const std::string_view part = rest_.substr(0, comma);
    if (more_) rest_.remove_prefix(comma + 1);
    return trim(part);
  }

 private:
  std::string_view rest_;
  bool more_ = true;
};

template <class Word>
bool equal_at(std::string_view a, std::string_view b, size_t at) {
  Word p, q;
  std::memcpy(&p, a.data() + at, sizeof p);
  std::memcpy(&q, b.data() + at, sizeof q);
  return p == q;
}

// As ==, without a call: the words and targets compared are short. The last bytes are read together
// with some before them.
inline bool equal(std::string_view a, std::string_view b) {
  const size_t n = a.size();
  if (n != b.size()) return false;
  if (n >= 8 && n <= 16) return equal_at<uint64_t>(a, b, 0) && equal_at<uint64_t>(a, b, n - 8);
  if (n >= 4 && n < 8) return equal_at<uint32_t>(a, b, 0) && equal_at<uint32_t>(a, b, n - 4);
  return a == b;
}

bool same_word(std::string_view text, std::string_view capitals) {
  if (text.size() != capitals.size()) return false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if ((c >= 'a' && c <= 'z' ? c - 32 : c) != capitals[i]) return false;
  }
  return true;
}

enum HostByte : uint8_t { kOther, kOfLabel, kDot };
constexpr auto kHostBytes = [] {
  std::array<uint8_t, 256> kinds{};
  for (const char c : std::string_view("abcdefghijklmnopqrstuvwxyz0123456789-_")) {
    kinds[static_cast<unsigned char>(c)] = kOfLabel;
  }
  kinds['.'] = kDot;
  return kinds;
}();

// Whether wire::normalize_host() would leave `text` as it is, as it does with nearly every name of
// a profile; saying so costs a third of doing it. False for some that it would leave.
inline bool is_normal_host(std::string_view text) {
  if (text.size() > wire::kMaxHost) return false;
  size_t label = 0;
  for (const char c : text) {
    const uint8_t kind = kHostBytes[static_cast<unsigned char>(c)];
    if (kind == kOfLabel) {
      ++label;
      continue;
    }
    if (kind != kDot || label == 0 || label > kMaxLabel) return false;
    label = 0;
  }
  return label != 0 && label <= kMaxLabel;
}

struct Word {
  std::string_view word;
  RuleType type;
};
// No two of one length.
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

std::string expected_type(std::string_view word) {
  for (const std::string_view other : kUnsupported) {
    if (same_word(word, other)) return format("a rule type this version supports (not {})", other);
  }
  return "a rule type such as DOMAIN, DOMAIN-SUFFIX, IP-CIDR or MATCH";
}

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
  const auto fail = [&](std::string expected) {
    diagnostics.add({Severity::kError, std::string(source_name), source.line, source.column,
                     format("rules[{}]", index), format("'{}'", source.text), std::move(expected)});
    return false;
  };
  Parts parts(source.text);
  std::string_view part[3];
  size_t count = 0;
  while (count < 3 && parts.more()) part[count++] = parts.next();
  const std::string_view word = part[0];
  const Word* known = std::begin(kWords);
  while (known->word.size() != word.size()) {
    if (++known == std::end(kWords)) return fail(expected_type(word));
  }
  if (!equal(word, known->word) && !same_word(word, known->word)) return fail(expected_type(word));
  out.type = known->type;
  out.no_resolve = false;
  out.payload.clear();
  const auto no_parameter = [&](std::string_view parameter) {
    return fail(format("no parameter '{}' after the target", parameter));
  };
  std::string_view payload = part[1], named = part[2];
  if (out.type == RuleType::kMatch) {
    if (count == 1) return fail("MATCH,target");
    if (count == 3) return no_parameter(part[2]);
    payload = {};
    named = part[1];
  } else if (count != 3) {
    return fail("TYPE,payload,target");
  }
  while (parts.more()) {
    const std::string_view parameter = parts.next();
    if (parameter != "no-resolve" || out.type != RuleType::kIpCidr) return no_parameter(parameter);
    out.no_resolve = true;
  }
  if (out.type == RuleType::kIpCidr) {
    const auto prefix = Prefix::parse(payload);
    if (!prefix || payload.find('/') == std::string_view::npos) {
      return fail(format("a prefix such as 192.0.2.0/24 instead of '{}'", payload));
    }
    out.prefix = *prefix;
    out.payload = payload;
  } else if (out.type == RuleType::kDomainKeyword) {
    if (payload.empty()) return fail("a keyword");
    // A keyword may be any part of a name: only its letters' case is normalised.
    out.payload = payload;
    for (char& c : out.payload) {
      if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + 32);
    }
  } else if (is_normal_host(payload)) {
    out.payload = payload;
  } else if (out.type != RuleType::kMatch) {
    wire::HostBuffer buffer;
    const auto host = wire::normalize_host(payload, buffer);
    if (!host) return fail(format("a domain name instead of '{}'", payload));
    out.payload = *host;
  }
  for (size_t i = 0; i < targets.size(); ++i) {
    if (!equal(targets[i], named)) continue;
    out.outbound = static_cast<uint32_t>(i);
    return true;
  }
  return fail(format("an existing target instead of '{}'", named));
}

}  // namespace culvert::route
