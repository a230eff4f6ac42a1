// The counter counts: one object by each way to the heap. A row that does not say 1 means that the
// other rows' zeros are worth nothing.
#include "bench/micro/per_operation.h"

#include <cstdlib>
#include <memory>

namespace culvert::bench {
namespace {

struct alignas(64) Line {
  char bytes[64];
};

void one_malloc(benchmark::State& state) {
  PerOperation cost(state);
  for (auto _ : state) {
    void* p = std::malloc(100);
    benchmark::DoNotOptimize(p);
    std::free(p);
  }
}
BENCHMARK(one_malloc)->Name("alloc_count/malloc");

void one_new(benchmark::State& state) {
  PerOperation cost(state);
  for (auto _ : state) {
    auto p = std::make_unique<int>(1);
    benchmark::DoNotOptimize(p.get());
  }
}
BENCHMARK(one_new)->Name("alloc_count/new");

void one_aligned_new(benchmark::State& state) {
  PerOperation cost(state);
  for (auto _ : state) {
    auto p = std::make_unique<Line>();
    benchmark::DoNotOptimize(p.get());
  }
}
BENCHMARK(one_aligned_new)->Name("alloc_count/aligned_new");

}  // namespace
}  // namespace culvert::bench
