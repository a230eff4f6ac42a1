// The mask of RFC 6455 section 5.3 over bytes in memory: one kernel for every CPU, and one for
// those with AVX2, chosen when it is called. Both need no alignment.
#pragma once

#include <array>
#include <cstdint>

#include "base/bytes.h"

namespace culvert::wire {

using WsMask = std::array<uint8_t, 4>;

// XORs `data`, which begins `offset` bytes into the payload, with the mask.
void apply_ws_mask(MutableBytes data, const WsMask& mask, size_t offset);

// The kernels by themselves, for their tests and benchmarks.
void apply_ws_mask_portable(MutableBytes data, const WsMask& mask, size_t offset);
#if defined(__x86_64__)
// Only where the CPU has AVX2.
void apply_ws_mask_avx2(MutableBytes data, const WsMask& mask, size_t offset);
#endif
// Whether apply_ws_mask() takes the second.
bool has_avx2();

}  // namespace culvert::wire
