#include "base/rng.h"

#include <sys/random.h>

#include <algorithm>
#include <cerrno>

#include "base/result.h"

namespace culvert {

uint64_t Rng::next_u64() {
  uint8_t raw[8];
  fill(raw);
  uint64_t v;
  std::memcpy(&v, raw, sizeof v);
  return v;
}

uint64_t Rng::below(uint64_t bound) {
  CULVERT_CHECK(bound > 0);
  // Rejects the tail that would favour small values.
  const uint64_t limit = UINT64_MAX - UINT64_MAX % bound;
  uint64_t v;
  do {
    v = next_u64();
  } while (v >= limit);
  return v % bound;
}

void SystemRng::fill(MutableBytes out) {
  while (!out.empty()) {
    if (left_ == 0) {
      size_t got = 0;
      while (got < pool_.size()) {
        const ssize_t n = getrandom(pool_.data() + got, pool_.size() - got, 0);
        if (n < 0) {
          CULVERT_CHECK(errno == EINTR);
          continue;
        }
        got += static_cast<size_t>(n);
      }
      left_ = pool_.size();
    }
    const size_t n = std::min(left_, out.size());
    uint8_t* from = pool_.data() + (pool_.size() - left_);
    std::memcpy(out.data(), from, n);
    std::memset(from, 0, n);  // a value is handed out once
    left_ -= n;
    out = out.subspan(n);
  }
}

void SeededRng::fill(MutableBytes out) {
  while (!out.empty()) {
    state_ += 0x9e3779b97f4a7c15ULL;
    uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    z ^= z >> 31;
    const size_t n = std::min(sizeof z, out.size());
    std::memcpy(out.data(), &z, n);
    out = out.subspan(n);
  }
}

}  // namespace culvert
