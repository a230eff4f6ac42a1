// match_default_rule: a domain flow falls through to MATCH in a one-rule set.
#include <benchmark/benchmark.h>

#include "bench/micro/per_operation.h"
#include "route/matcher.h"

namespace culvert::route {
namespace {

void match_default_rule(benchmark::State& state) {
  Rule rule;
  rule.type = RuleType::kMatch;
  const Tables tables({rule});
  flow::FlowMeta meta;
  meta.destination.port = 443;
  meta.set_host("example.com");
  bench::PerOperation cost(state);
  for (auto _ : state) {
    benchmark::DoNotOptimize(meta);
    Decision d = tables.match(meta, {}, 0);
    benchmark::DoNotOptimize(d);
  }
}
BENCHMARK(match_default_rule);

}  // namespace
}  // namespace culvert::route
