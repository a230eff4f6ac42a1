// Resolver: names to addresses, for outbounds and for rules that need an address. Supplied by app/.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <type_traits>

#include "base/clock.h"
#include "base/ip.h"
#include "base/result.h"
#include "rt/task.h"

namespace culvert::flow {

// Up to kMax addresses, in the order they should be tried. Only as much is written and copied as
// there is: it is passed by value on the way of every flow to a name.
class AddressList {
 public:
  static constexpr size_t kMax = 16;
  AddressList() {}
  AddressList(const AddressList& other) noexcept : size_(other.size_) {
    std::uninitialized_copy_n(other.items_.data(), size_, items_.data());
  }
  AddressList& operator=(const AddressList& other) noexcept {
    if (this != &other) {
      size_ = other.size_;
      std::uninitialized_copy_n(other.items_.data(), size_, items_.data());
    }
    return *this;
  }
  ~AddressList() = default;

  // Beyond kMax they are left out.
  void add(const IpAddress& ip) {
    if (size_ < kMax) std::construct_at(&items_[size_++], ip);
  }
  [[nodiscard]] size_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] const IpAddress& front() const { return items_.front(); }
  [[nodiscard]] std::span<const IpAddress> view() const { return {items_.data(), size_}; }

 private:
  static_assert(std::is_trivially_copyable_v<IpAddress>);
  union {
    std::array<IpAddress, kMax> items_;
  };
  uint8_t size_ = 0;
};

class Resolver {
 public:
  virtual ~Resolver() = default;
  // All addresses of `host` (a name, lower-cased or not; an address literal is returned as it is),
  // IPv6 only when it is enabled. Never an empty list: kNoName when there is none. `host` outlives
  // the task. Runs on the calling worker.
  virtual rt::Task<Result<AddressList>> resolve(std::string_view host, TimePoint deadline) = 0;
  // What resolve() would say where that is known at once: `out`, empty before, has the addresses,
  // or kNoName. kWouldBlock when resolve() must be asked.
  virtual Status try_cached(std::string_view /*host*/, AddressList& /*out*/) {
    return Errc::kWouldBlock;
  }
};

}  // namespace culvert::flow
