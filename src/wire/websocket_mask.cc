#include "wire/websocket_mask.h"

#include <cstring>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace culvert::wire {
namespace {

// The mask as it stands `offset` bytes into the payload, in memory order.
uint32_t turned(const WsMask& mask, size_t offset) {
  uint8_t bytes[4];
  for (size_t i = 0; i < 4; ++i) bytes[i] = mask[(offset + i) & 3];
  uint32_t word;
  std::memcpy(&word, bytes, 4);
  return word;
}

// Less than a vector: whole words, then bytes.
void mask_few(uint8_t* p, size_t n, uint32_t mask) {
  for (; n >= 4; n -= 4, p += 4) {
    uint32_t w;
    std::memcpy(&w, p, 4);
    w ^= mask;
    std::memcpy(p, &w, 4);
  }
  uint8_t bytes[4];
  std::memcpy(bytes, &mask, 4);
  for (size_t i = 0; i < n; ++i) p[i] ^= bytes[i];
}

}  // namespace

void apply_ws_mask_portable(MutableBytes data, const WsMask& mask, size_t offset) {
  const uint32_t narrow = turned(mask, offset);
  const uint64_t word = uint64_t{narrow} << 32 | narrow;
  uint8_t* p = data.data();
  size_t n = data.size();
  // Four words at a time: the compiler makes vectors of it.
  for (; n >= 32; n -= 32, p += 32) {
    uint64_t w[4];
    std::memcpy(w, p, 32);
    for (uint64_t& x : w) x ^= word;
    std::memcpy(p, w, 32);
  }
  mask_few(p, n, narrow);
}

#if defined(__x86_64__)

__attribute__((target("avx2"))) void apply_ws_mask_avx2(MutableBytes data, const WsMask& mask,
                                                        size_t offset) {
  uint8_t* p = data.data();
  size_t n = data.size();
  // A store across two cache lines costs two: long runs begin on a vector's boundary.
  if (n >= 256) {
    const size_t head = -reinterpret_cast<uintptr_t>(p) & 31;
    mask_few(p, head, turned(mask, offset));
    p += head;
    n -= head;
    offset += head;
  }
  const uint32_t narrow = turned(mask, offset);
  const __m256i wide = _mm256_set1_epi32(static_cast<int>(narrow));
  for (; n >= 128; n -= 128, p += 128) {
    auto* v = reinterpret_cast<__m256i*>(p);
    const __m256i a = _mm256_xor_si256(_mm256_loadu_si256(v), wide);
    const __m256i b = _mm256_xor_si256(_mm256_loadu_si256(v + 1), wide);
    const __m256i c = _mm256_xor_si256(_mm256_loadu_si256(v + 2), wide);
    const __m256i d = _mm256_xor_si256(_mm256_loadu_si256(v + 3), wide);
    _mm256_storeu_si256(v, a);
    _mm256_storeu_si256(v + 1, b);
    _mm256_storeu_si256(v + 2, c);
    _mm256_storeu_si256(v + 3, d);
  }
  for (; n >= 32; n -= 32, p += 32) {
    auto* v = reinterpret_cast<__m256i*>(p);
    _mm256_storeu_si256(v, _mm256_xor_si256(_mm256_loadu_si256(v), wide));
  }
  mask_few(p, n, narrow);
}

bool has_avx2() {
  return __builtin_cpu_supports("avx2");
}

void apply_ws_mask(MutableBytes data, const WsMask& mask, size_t offset) {
  if (has_avx2()) return apply_ws_mask_avx2(data, mask, offset);
  apply_ws_mask_portable(data, mask, offset);
}

#else

bool has_avx2() {
  return false;
}

void apply_ws_mask(MutableBytes data, const WsMask& mask, size_t offset) {
  apply_ws_mask_portable(data, mask, offset);
}

#endif

}  // namespace culvert::wire
