// Resolver: names to addresses, for outbounds and for rules that need an address. Supplied by app/.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/clock.h"
#include "base/ip.h"
#include "base/result.h"
#include "rt/task.h"

namespace culvert::flow {

// Up to kMax addresses, in the order they should be tried. Plain data.
struct AddressList {
  static constexpr size_t kMax = 16;
  std::array<IpAddress, kMax> items{};
  uint8_t size = 0;

  void add(const IpAddress& ip) {
    if (size < kMax) items[size++] = ip;
  }
  [[nodiscard]] std::span<const IpAddress> view() const { return {items.data(), size}; }
};

class Resolver {
 public:
  virtual ~Resolver() = default;
  // All addresses of `host` (a name, lower-cased or not; an address literal is returned as it is),
  // IPv6 only when it is enabled. Never an empty list: kNoName when there is none. `host` outlives
  // the task. Runs on the calling worker.
  virtual rt::Task<Result<AddressList>> resolve(std::string_view host, TimePoint deadline) = 0;
};

}  // namespace culvert::flow
