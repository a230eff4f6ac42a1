// websocket_mask_16k: unmasking one 16 KiB frame in place.
#include <benchmark/benchmark.h>

#include "bench/micro/per_operation.h"
#include "wire/websocket_mask.h"

namespace culvert::wire {
namespace {

constexpr size_t kFrame = 16 << 10;

void mask_frame(benchmark::State& state, void (*kernel)(MutableBytes, const WsMask&, size_t)) {
  // Behind a header of 8 bytes, as a frame's payload lies in a buffer.
  alignas(64) static uint8_t buffer[8 + kFrame];
  const MutableBytes data = MutableBytes(buffer).subspan(8);
  const WsMask mask{0x37, 0xfa, 0x21, 0x3d};
  bench::PerOperation cost(state);
  for (auto _ : state) {
    kernel(data, mask, 1);
    benchmark::DoNotOptimize(data.data());
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * kFrame));
}
BENCHMARK_CAPTURE(mask_frame, chosen, apply_ws_mask)->Name("websocket_mask_16k");
BENCHMARK_CAPTURE(mask_frame, portable, apply_ws_mask_portable)
    ->Name("websocket_mask_16k/portable");

}  // namespace
}  // namespace culvert::wire
