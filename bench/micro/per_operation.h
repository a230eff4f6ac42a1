// PerOperation: what one iteration of a benchmark's loop takes. Put one just before the loop:
//
//   bench::PerOperation cost(state);
//   for (auto _ : state) { ... }
//
// It adds two columns to the benchmark: `allocs`, calls of malloc and its kin per iteration, and
// `bytes`, what they asked for. Both are rounded to a thousandth, so that a buffer taken in the
// first of many iterations and kept does not count as a cost of each. Only the calling thread
// counts. The binary replaces malloc, free and their kin; operator new and delete call them. A
// count costs two additions to memory of the thread.
//
// Under callgrind with --instr-atstart=no only the loop is counted, and the count is dumped behind
// it as "<number of the dump>/<iterations>"; the column `dumps` says how many there were by then
// (tools/bench_micro.py).
#pragma once

#include <benchmark/benchmark.h>

#include <cstdint>

namespace culvert::bench {

struct HeapUse {
  uint64_t allocations = 0;
  uint64_t bytes = 0;
};

// The calling thread's since it started.
HeapUse heap_use();

class PerOperation {
 public:
  explicit PerOperation(benchmark::State& state);
  PerOperation(const PerOperation&) = delete;
  PerOperation& operator=(const PerOperation&) = delete;
  ~PerOperation();

 private:
  benchmark::State& state_;
  HeapUse start_;
};

// The most that the calling thread held on the heap at once, beyond what it held before, in bytes.
// One at a time, outside the loops that are timed: it asks the heap for every block's size.
class HeapPeak {
 public:
  HeapPeak();
  HeapPeak(const HeapPeak&) = delete;
  HeapPeak& operator=(const HeapPeak&) = delete;
  ~HeapPeak();
  [[nodiscard]] int64_t bytes() const;
  // What it holds of that now.
  [[nodiscard]] int64_t held() const;
};

}  // namespace culvert::bench
