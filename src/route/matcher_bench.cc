// match_default_rule: a domain flow falls through to MATCH in a one-rule set.
// match_rules_1000: a domain flow against 1,000 rules, 60 % suffixes, 15 % domains, 15 % CIDRs
// without resolving, 5 % keywords and 5 % logic, the last of which is MATCH and matches; /no_logic:
// with none of logic, the other kinds making up for it.
#include "route/matcher.h"

#include <benchmark/benchmark.h>

#include "base/format.h"
#include "base/result.h"
#include "bench/micro/per_operation.h"

namespace culvert::route {
namespace {

void match_name(benchmark::State& state, const std::vector<Rule>& rules, std::string_view host) {
  const Tables tables(rules);
  flow::FlowMeta meta;
  meta.destination.port = 443;
  meta.set_host(host);
  const Facts facts;
  bench::PerOperation cost(state);
  for (auto _ : state) {
    benchmark::DoNotOptimize(meta);
    Decision d = tables.match(meta, facts, 0);
    benchmark::DoNotOptimize(d);
  }
}

Rule match_all() {
  Rule rule;
  rule.type = RuleType::kMatch;
  return rule;
}

void match_default_rule(benchmark::State& state) {
  std::vector<Rule> rules;
  rules.push_back(match_all());
  match_name(state, rules, "example.com");
}
BENCHMARK(match_default_rule);

// As written in a profile.
Rule parsed(const std::string& line) {
  TargetTable targets;
  Diagnostics diagnostics;
  Rule rule;
  CULVERT_CHECK(parse_rule({line, 1, 1}, "bench", 0, targets, rule, diagnostics));
  return rule;
}

Rule looked_up(uint32_t i) {
  if (i % 19 < 12) return parsed(format("DOMAIN-SUFFIX,site{}.example.com,DIRECT", i));
  if (i % 19 < 15) return parsed(format("DOMAIN,www.host{}.example.net,DIRECT", i));
  if (i % 19 < 18)
    return parsed(format("IP-CIDR,10.{}.{}.0/24,DIRECT,no-resolve", i / 256, i % 256));
  return parsed(format("DOMAIN-KEYWORD,word{},DIRECT", i));
}

Rule logic(uint32_t i) {
  switch (i % 5) {
    case 0:
      return parsed(format("AND,((NETWORK,UDP),(DST-PORT,{}-{})),REJECT", i, i + 1000));
    case 1:
      return parsed(format("AND,((DOMAIN-SUFFIX,app{}.example.org),(DST-PORT,443)),DIRECT", i));
    case 2:
      return parsed(format("OR,((DOMAIN,a{}.example),(DOMAIN-SUFFIX,b{}.example)),DIRECT", i, i));
    case 3:
      return parsed(format("AND,((NOT,((NETWORK,UDP))),(DOMAIN-KEYWORD,token{})),DIRECT", i));
    default:
      return parsed(format("AND,((SRC-IP-CIDR,10.1.{}.0/24),(DOMAIN-SUFFIX,org)),DIRECT", i % 256));
  }
}

void match_rules_1000(benchmark::State& state, bool with_logic) {
  std::vector<Rule> rules;
  for (uint32_t i = 0; i < 999; ++i) {
    rules.push_back(with_logic && i % 20 == 19 ? logic(i / 20) : looked_up(i));
  }
  rules.push_back(match_all());
  match_name(state, rules, "images.media.example.org");
}
BENCHMARK_CAPTURE(match_rules_1000, no_logic, false);
BENCHMARK_CAPTURE(match_rules_1000, logic, true)->Name("match_rules_1000");

}  // namespace
}  // namespace culvert::route
