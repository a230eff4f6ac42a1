#include "route/rule.h"

#include "base/format.h"
#include "route/condition_compiler.h"
#include "route/names.h"
#include "route/rule_words.h"
#include "route/syntax.h"

namespace culvert::route {
namespace {

// Of `TYPE,((TYPE,payload),...),target`: all between the first comma and the last is the payload.
bool split_logic(std::string_view rest, std::string_view& payload, std::string_view& target) {
  const size_t comma = rest.rfind(',');
  if (comma == std::string_view::npos) return false;
  payload = trim(rest.substr(0, comma));
  target = trim(rest.substr(comma + 1));
  // The comma was one within the brackets.
  return !target.ends_with(')') || !payload.starts_with('(') || payload.ends_with(')');
}

// What nearly every rule of a long list is: DOMAIN or DOMAIN-SUFFIX, a name in the spelling that it
// is compared in, and a target. False when it is anything else, also a wrong one of these; then
// nothing is changed.
inline bool try_name_rule(const RuleSource& source, size_t index, TargetTable& targets, Rule& out) {
  constexpr std::string_view kSuffix = "DOMAIN-SUFFIX,", kWhole = "DOMAIN,";
  const std::string_view line = source.text;
  const bool is_suffix = equal(line.substr(0, kSuffix.size()), kSuffix);
  if (!is_suffix && !equal(line.substr(0, kWhole.size()), kWhole)) return false;
  const size_t start = is_suffix ? kSuffix.size() : kWhole.size();
  const std::string_view rest(line.data() + start, line.size() - start);
  const size_t comma = find_comma(rest, start);
  if (comma == rest.size()) return false;
  const std::string_view behind(rest.data() + comma + 1, rest.size() - comma - 1);
  if (find_comma(behind, start + comma + 1) != behind.size()) return false;
  const std::string_view payload = trim({rest.data(), comma});
  const std::string_view named = trim(behind);
  if (named.empty() || !is_normal_host(payload)) return false;
  const auto target = targets.intern(named);
  if (!target) return false;
  out.type = is_suffix ? RuleType::kDomainSuffix : RuleType::kDomain;
  out.no_resolve = false;
  out.line = source.line;
  out.outbound = *target;
  // Cheaper than to assign it, which allows for a text that is part of the one before.
  out.payload.clear();
  out.payload.append(payload);
  targets.note_use(*target, source, index);
  return true;
}

// Kept apart from parse_any_rule(): nearly every rule of a long list is none of these.
[[gnu::noinline]] bool compile(std::string_view payload, Rule& out, std::string& expected) {
  if (out.condition == nullptr) out.condition = std::make_unique<Conditions>();
  return compile_condition(out.type, payload, *out.condition, out.payload, expected);
}

[[gnu::noinline]] bool parse_any_rule(const RuleSource& source, std::string_view source_name,
                                      size_t index, TargetTable& targets, Rule& out,
                                      Diagnostics& diagnostics) {
  const auto fail = [&](std::string expected) {
    diagnostics.add({Severity::kError, std::string(source_name), source.line, source.column,
                     format("rules[{}]", index), format("'{}'", source.text), std::move(expected)});
    return false;
  };
  Parts parts(source.text);
  std::string_view part[3];
  size_t count = 1;
  part[0] = parts.next();
  const RuleType* known = find_type(part[0]);
  if (known == nullptr) return fail(expected_type(part[0]));
  out.type = *known;
  out.no_resolve = false;
  out.line = source.line;
  const auto no_parameter = [&](std::string_view parameter) {
    return fail(format("no parameter '{}' after the target", parameter));
  };
  std::string_view payload, named;
  if (is_logic(out.type)) [[unlikely]] {
    if (!split_logic(parts.rest(), payload, named)) {
      return fail(format("{},((TYPE,payload),...),target", api_name(out.type)));
    }
  } else {
    while (count < 3 && parts.more()) part[count++] = parts.next();
    payload = part[1];
    named = part[2];
    if (out.type == RuleType::kMatch) {
      if (count == 1) return fail("MATCH,target");
      if (count == 3) return no_parameter(part[2]);
      payload = {};
      named = part[1];
    } else if (count != 3) {
      return fail("TYPE,payload,target");
    }
    bool of_source = false;
    while (parts.more()) {
      const std::string_view parameter = parts.next();
      const bool takes = out.type == RuleType::kIpCidr || out.type == RuleType::kSrcIpCidr;
      if (takes && parameter == "no-resolve") {
        out.no_resolve = true;
      } else if (takes && parameter == "src") {
        of_source = true;
      } else {
        return no_parameter(parameter);
      }
    }
    if (of_source) out.type = RuleType::kSrcIpCidr;
  }
  if (out.type == RuleType::kDomain || out.type == RuleType::kDomainSuffix) {
    if (!normal_name(payload, out.payload)) return fail(expected_name(payload));
  } else if (out.type == RuleType::kIpCidr) {
    const auto prefix = parse_rule_prefix(payload);
    if (!prefix) return fail(expected_prefix(payload));
    out.prefix = *prefix;
    out.payload = payload;
  } else if (is_condition(out.type)) {
    std::string expected;
    if (!compile(payload, out, expected)) return fail(std::move(expected));
  } else if (out.type == RuleType::kDomainKeyword) {
    if (payload.empty()) return fail("a keyword");
    out.payload = small_letters(payload);
  } else {
    out.payload.clear();
  }
  if (named.empty()) return fail("a target: it is missing");
  const auto target = targets.intern(named);
  if (!target) return fail(format("at most {} targets", TargetTable::kMaxTargets));
  out.outbound = *target;
  targets.note_use(*target, source, index);
  return true;
}

}  // namespace

bool parse_rule(const RuleSource& source, std::string_view source_name, size_t index,
                TargetTable& targets, Rule& out, Diagnostics& diagnostics) {
  return try_name_rule(source, index, targets, out) ||
         parse_any_rule(source, source_name, index, targets, out, diagnostics);
}

}  // namespace culvert::route
