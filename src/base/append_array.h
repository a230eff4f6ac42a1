// AppendArray: elements are only ever added, and keep their places. One thread adds; any thread
// reads what size() covers, without a lock.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <memory>
#include <utility>

#include "base/result.h"

namespace culvert {

template <class T>
class AppendArray {
 public:
  AppendArray() = default;
  AppendArray(const AppendArray&) = delete;
  AppendArray& operator=(const AppendArray&) = delete;
  ~AppendArray() {
    for (std::atomic<T*>& chunk : chunks_) {
      const std::unique_ptr<T[]> gone(chunk.load(std::memory_order_relaxed));
    }
  }

  // Any thread.
  [[nodiscard]] size_t size() const { return size_.load(std::memory_order_acquire); }
  [[nodiscard]] const T& operator[](size_t i) const { return *at(i); }
  // The adding thread, or any other where T itself allows it.
  [[nodiscard]] T& operator[](size_t i) { return *at(i); }

  // The adding thread only. Elements are value-initialised; `fill(element)` may change the new one
  // before others see it.
  template <class Fill>
  T& add(Fill fill) {
    const size_t i = size_.load(std::memory_order_relaxed);
    const unsigned k = chunk_of(i);
    CULVERT_CHECK(k < kChunks);
    if (chunks_[k].load(std::memory_order_relaxed) == nullptr) {
      chunks_[k].store(std::make_unique<T[]>(kFirst << k).release(), std::memory_order_release);
    }
    T& added = *at(i);
    fill(added);
    size_.store(i + 1, std::memory_order_release);
    return added;
  }
  void grow_to(size_t n) {
    while (size() < n) add([](T&) {});
  }

 private:
  static constexpr size_t kFirst = 8;
  static constexpr unsigned kChunks = 26;
  // Chunk k holds kFirst << k elements, those from kFirst * (2^k - 1) on.
  static unsigned chunk_of(size_t i) {
    return static_cast<unsigned>(std::bit_width(i / kFirst + 1)) - 1;
  }
  T* at(size_t i) const {
    const unsigned k = chunk_of(i);
    return chunks_[k].load(std::memory_order_acquire) + (i - kFirst * ((size_t{1} << k) - 1));
  }
  std::array<std::atomic<T*>, kChunks> chunks_{};
  std::atomic<size_t> size_{0};
};

}  // namespace culvert
