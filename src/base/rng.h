// Random numbers by interface: the kernel's in production, a seeded sequence in simulations.
#pragma once

#include <array>
#include <cstdint>

#include "base/bytes.h"

namespace culvert {

class Rng {
 public:
  virtual ~Rng() = default;
  virtual void fill(MutableBytes out) = 0;
  uint64_t next_u64();
  // Uniform in [0, bound); bound > 0.
  uint64_t below(uint64_t bound);
};

// getrandom(2), buffered. Not thread-safe: one per worker.
class SystemRng final : public Rng {
 public:
  void fill(MutableBytes out) override;

 private:
  std::array<uint8_t, 256> pool_;
  size_t left_ = 0;
};

// SplitMix64. Repeatable, and good for nothing secret.
class SeededRng final : public Rng {
 public:
  explicit SeededRng(uint64_t seed) : state_(seed) {}
  void fill(MutableBytes out) override;

 private:
  uint64_t state_;
};

}  // namespace culvert
