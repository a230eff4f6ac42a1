// disabled_debug_log: one debug call with three arguments at level info, without a subscriber.
#include <benchmark/benchmark.h>

#include "base/log.h"
#include "bench/micro/per_operation.h"

namespace culvert {
namespace {

void disabled_debug_log(benchmark::State& state) {
  log::set_level(log::Level::kInfo);
  int a = 1, b = 2, c = 3;
  bench::PerOperation cost(state);
  for (auto _ : state) {
    benchmark::DoNotOptimize(a);
    CULVERT_LOG(kDebug, "{} {} {}", a, b, c);
  }
}
BENCHMARK(disabled_debug_log);

void empty_loop(benchmark::State& state) {
  int a = 1;
  bench::PerOperation cost(state);
  for (auto _ : state) benchmark::DoNotOptimize(a);
}
BENCHMARK(empty_loop)->Name("disabled_debug_log/empty_loop");

}  // namespace
}  // namespace culvert
