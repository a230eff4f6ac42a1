// AllocCount: how much a benchmark's loop takes from the heap. Put one just before the loop:
//
//   bench::AllocCount allocations(state);
//   for (auto _ : state) { ... }
//
// It adds two columns to the benchmark: `allocs`, calls of malloc and its kin per iteration, and
// `bytes`, what they asked for. Both are rounded to a thousandth, so that a buffer taken in the
// first of many iterations and kept does not count as a cost of each.
//
// The binary replaces malloc, calloc, realloc and the aligned forms; operator new calls them. Only
// the calling thread counts. A count costs two additions to memory of the thread.
#pragma once

#include <benchmark/benchmark.h>

#include <cmath>
#include <cstdint>

namespace culvert::bench {

struct HeapUse {
  uint64_t allocations = 0;
  uint64_t bytes = 0;
};

// The calling thread's since it started.
HeapUse heap_use();

class AllocCount {
 public:
  explicit AllocCount(benchmark::State& state) : state_(state), start_(heap_use()) {}
  AllocCount(const AllocCount&) = delete;
  AllocCount& operator=(const AllocCount&) = delete;
  ~AllocCount() {
    const HeapUse end = heap_use();
    state_.counters["allocs"] = per_iteration(end.allocations - start_.allocations);
    state_.counters["bytes"] = per_iteration(end.bytes - start_.bytes);
  }

 private:
  [[nodiscard]] double per_iteration(uint64_t total) const {
    const auto iterations = static_cast<double>(state_.iterations());
    return std::round(1000 * static_cast<double>(total) / iterations) / 1000;
  }

  benchmark::State& state_;
  const HeapUse start_;
};

}  // namespace culvert::bench
