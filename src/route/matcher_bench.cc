// match_default_rule: a domain flow falls through to MATCH in a one-rule set.
// match_rules_1000/no_logic: a domain flow against 1,000 rules, 63 % suffixes, 16 % domains, 16 %
// CIDRs without resolving and 5 % keywords, the last of which is MATCH and matches.
#include "route/matcher.h"

#include <benchmark/benchmark.h>

#include "base/format.h"
#include "bench/micro/per_operation.h"

namespace culvert::route {
namespace {

void match_name(benchmark::State& state, std::vector<Rule> rules, std::string_view host) {
  const Tables tables(std::move(rules));
  flow::FlowMeta meta;
  meta.destination.port = 443;
  meta.set_host(host);
  bench::PerOperation cost(state);
  for (auto _ : state) {
    benchmark::DoNotOptimize(meta);
    Decision d = tables.match(meta, {}, 0);
    benchmark::DoNotOptimize(d);
  }
}

Rule match_all() {
  Rule rule;
  rule.type = RuleType::kMatch;
  return rule;
}

void match_default_rule(benchmark::State& state) {
  match_name(state, {match_all()}, "example.com");
}
BENCHMARK(match_default_rule);

void match_rules_1000(benchmark::State& state) {
  std::vector<Rule> rules;
  for (uint32_t i = 0; i < 999; ++i) {
    Rule rule;
    if (i % 19 < 12) {
      rule.type = RuleType::kDomainSuffix;
      rule.payload = format("site{}.example.com", i);
    } else if (i % 19 < 15) {
      rule.type = RuleType::kDomain;
      rule.payload = format("www.host{}.example.net", i);
    } else if (i % 19 < 18) {
      rule.type = RuleType::kIpCidr;
      rule.no_resolve = true;
      rule.prefix = *Prefix::parse(format("10.{}.{}.0/24", i / 256, i % 256));
    } else {
      rule.type = RuleType::kDomainKeyword;
      rule.payload = format("word{}", i);
    }
    rules.push_back(std::move(rule));
  }
  rules.push_back(match_all());
  match_name(state, std::move(rules), "images.media.example.org");
}
BENCHMARK(match_rules_1000)->Name("match_rules_1000/no_logic");

}  // namespace
}  // namespace culvert::route
