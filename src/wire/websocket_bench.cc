// websocket_mask_16k: unmasking one 16 KiB frame in place; memcpy_16k is what copying it costs.
#include <benchmark/benchmark.h>

#include <array>
#include <cstring>
#include <vector>

#include "wire/websocket.h"

namespace culvert::wire {
namespace {

constexpr size_t kFrame = 16 << 10;

void websocket_mask_16k(benchmark::State& state) {
  std::vector<uint8_t> data(kFrame, 'x');
  const std::array<uint8_t, 4> mask{0x37, 0xfa, 0x21, 0x3d};
  for (auto _ : state) {
    apply_ws_mask(data, mask, 1);
    benchmark::DoNotOptimize(data.data());
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * kFrame));
}
BENCHMARK(websocket_mask_16k);

void memcpy_16k(benchmark::State& state) {
  const std::vector<uint8_t> from(kFrame, 'x');
  std::vector<uint8_t> to(kFrame);
  for (auto _ : state) {
    std::memcpy(to.data(), from.data(), kFrame);
    benchmark::DoNotOptimize(to.data());
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * kFrame));
}
BENCHMARK(memcpy_16k);

}  // namespace
}  // namespace culvert::wire
