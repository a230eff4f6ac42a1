#include "wire/websocket_mask.h"

#include <gtest/gtest.h>

#include <array>
#include <string_view>
#include <vector>

namespace culvert::wire {
namespace {

using Kernel = void (*)(MutableBytes, const WsMask&, size_t);

struct Named {
  const char* name;
  Kernel kernel;
};

std::vector<Named> kernels() {
  std::vector<Named> all{{"portable", apply_ws_mask_portable}, {"chosen", apply_ws_mask}};
#if defined(__x86_64__)
  if (has_avx2()) all.push_back({"avx2", apply_ws_mask_avx2});
#endif
  return all;
}

void check(const Named& k, size_t misaligned, size_t n, size_t offset) {
  const WsMask mask{0x12, 0x34, 0xab, 0xff};
  constexpr size_t kGuard = 64;
  // Bytes in front of the data and behind it must stay.
  alignas(64) static uint8_t got[2 * kGuard + 64 + 8192];
  static uint8_t expected[sizeof got];
  const size_t at = kGuard + misaligned;
  const size_t end = at + n + kGuard;
  ASSERT_LE(end, sizeof got);
  for (size_t i = 0; i < end; ++i) got[i] = expected[i] = static_cast<uint8_t>(i * 7 + n);
  for (size_t i = 0; i < n; ++i) expected[at + i] ^= mask[(offset + i) % 4];
  k.kernel(MutableBytes(got).subspan(at, n), mask, offset);
  ASSERT_EQ(std::string_view(reinterpret_cast<const char*>(got), end),
            std::string_view(reinterpret_cast<const char*>(expected), end))
      << k.name << ": " << n << " bytes at " << misaligned << ", offset " << offset;
}

// RFC 6455 section 5.7.
TEST(WsMask, TheExampleOfTheRfc) {
  for (const Named& k : kernels()) {
    std::array<uint8_t, 5> text{0x7f, 0x9f, 0x4d, 0x51, 0x58};
    k.kernel(text, {0x37, 0xfa, 0x21, 0x3d}, 0);
    EXPECT_EQ(as_text(text), "Hello") << k.name;
  }
}

TEST(WsMask, EveryLengthOffsetAndAlignment) {
  for (const Named& k : kernels()) {
    for (size_t misaligned = 0; misaligned < 33; ++misaligned) {
      for (size_t n = 0; n <= 300; ++n) {
        for (size_t offset = 0; offset < 4; ++offset) {
          ASSERT_NO_FATAL_FAILURE(check(k, misaligned, n, offset));
        }
      }
    }
  }
}

TEST(WsMask, LongRunsAndFarOffsets) {
  for (const Named& k : kernels()) {
    for (const size_t misaligned : {0, 1, 2, 3, 4, 31, 32, 63}) {
      for (const size_t n : {1024, 4095, 4096, 4097, 8192}) {
        for (const size_t offset : {size_t{5}, size_t{6}, size_t{8191}, SIZE_MAX}) {
          ASSERT_NO_FATAL_FAILURE(check(k, misaligned, n, offset));
        }
      }
    }
  }
}

TEST(WsMask, Nothing) {
  for (const Named& k : kernels()) k.kernel({}, {1, 2, 3, 4}, 0);
}

}  // namespace
}  // namespace culvert::wire
