// KeyedHash: 64 bits of a text or of two, for tables in memory. The key is random and stays in the
// object, so nobody outside can work out texts that meet in one bucket. Folded multiplications, as
// wyhash has them: a text of up to 16 bytes takes two. For tables only: it authenticates nothing,
// and its values differ from object to object and must not leave the process.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "base/rng.h"

namespace culvert {

class KeyedHash {
 public:
  explicit KeyedHash(Rng& rng) {
    for (uint64_t& k : key_) k = rng.next_u64();
  }
  // One with a key from the system.
  static KeyedHash fresh() {
    SystemRng rng;
    return KeyedHash(rng);
  }
  uint64_t operator()(std::string_view text) const {
    return mix(fold(key_[0], text) ^ key_[2], text.size() ^ key_[3]);
  }
  // Of a pair: ("ab", "c") and ("a", "bc") differ. The two are folded side by side.
  uint64_t operator()(std::string_view first, std::string_view second) const {
    const uint64_t sizes = uint64_t{first.size()} << 32 ^ second.size();
    return mix(fold(key_[0], first) ^ sizes, fold(key_[2], second) ^ key_[3]);
  }

 private:
  // Both halves of the product of 128 bits in one.
  static uint64_t mix(uint64_t a, uint64_t b) {
    __extension__ using Wide = unsigned __int128;
    const Wide product = static_cast<Wide>(a) * b;
    return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
  }
  template <class Word>
  static uint64_t load(const char* p) {
    Word v;
    std::memcpy(&v, p, sizeof v);
    return v;
  }
  // The last 16 bytes or fewer are read as words that may overlap: the size, which the callers
  // mix in at the end, tells such texts apart.
  [[nodiscard]] uint64_t fold(uint64_t state, std::string_view text) const {
    if (text.size() > 16) [[unlikely]]
      return fold_long(state, text);
    return fold_end(state, text.data(), text.size());
  }
  [[nodiscard]] uint64_t fold_end(uint64_t state, const char* p, size_t n) const {
    uint64_t a = 0, b = 0;
    if (n >= 8) [[likely]] {
      a = load<uint64_t>(p);
      b = load<uint64_t>(p + n - 8);
    } else if (n >= 4) {
      a = load<uint32_t>(p);
      b = load<uint32_t>(p + n - 4);
    } else if (n > 0) {
      a = load<uint8_t>(p) << 16 | load<uint8_t>(p + n / 2) << 8 | load<uint8_t>(p + n - 1);
    }
    return mix(a ^ key_[1], b ^ state);
  }
  // Not inlined, so that a short text does not pay for the registers of a loop.
  [[gnu::noinline, nodiscard]] uint64_t fold_long(uint64_t state, std::string_view text) const {
    const char* p = text.data();
    size_t n = text.size();
    for (; n > 16; p += 16, n -= 16) {
      state = mix(load<uint64_t>(p) ^ key_[1], load<uint64_t>(p + 8) ^ state);
    }
    return fold_end(state, p, n);
  }

  std::array<uint64_t, 4> key_;
};

}  // namespace culvert
