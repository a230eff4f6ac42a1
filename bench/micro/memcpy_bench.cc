// memcpy_<size>: one copy of a block, both sides in the cache: what the rows that move bytes are
// measured by.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <cstring>

#include "bench/micro/per_operation.h"

namespace culvert::bench {
namespace {

constexpr size_t kMax = 64 << 10;
// The target lies half a page and a line behind the source within their pages. A little behind it,
// each load would wait for a store to another address that ends in the same 12 bits: 16 KiB took
// 5.5 us with 16 bytes between them, and 0.18 us so.
alignas(4096) uint8_t g_from[kMax];
alignas(4096) uint8_t g_to[2048 + 64 + kMax];

void copy(benchmark::State& state, size_t size) {
  uint8_t* to = g_to + 2048 + 64;
  const uint8_t* from = g_from;
  std::memset(g_from, 'x', size);
  bench::PerOperation cost(state);
  for (auto _ : state) {
    benchmark::DoNotOptimize(from);
    std::memcpy(to, from, size);
    benchmark::DoNotOptimize(to);
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * size));
}
BENCHMARK_CAPTURE(copy, 1k, size_t{1} << 10)->Name("memcpy_1k");
BENCHMARK_CAPTURE(copy, 16k, size_t{16} << 10)->Name("memcpy_16k");
BENCHMARK_CAPTURE(copy, 32k, size_t{32} << 10)->Name("memcpy_32k");
BENCHMARK_CAPTURE(copy, 64k, size_t{64} << 10)->Name("memcpy_64k");

}  // namespace
}  // namespace culvert::bench
