// domain_suffix_construct: one DOMAIN-SUFFIX rule built from its line.
#include "route/rule.h"

#include <benchmark/benchmark.h>

#include "bench/micro/per_operation.h"

namespace culvert::route {
namespace {

void domain_suffix_construct(benchmark::State& state) {
  TargetTable targets;
  const RuleSource source{"DOMAIN-SUFFIX,example.com,DIRECT", 1, 1};
  Diagnostics diagnostics;
  bench::PerOperation cost(state);
  for (auto _ : state) {
    Rule rule;
    const bool good = parse_rule(source, "profile.yaml", 0, targets, rule, diagnostics);
    benchmark::DoNotOptimize(good);
    benchmark::DoNotOptimize(rule);
  }
}
BENCHMARK(domain_suffix_construct);

}  // namespace
}  // namespace culvert::route
