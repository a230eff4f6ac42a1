// A bump allocator: many small things that die together. Not thread-safe.
#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <new>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace culvert {

class Arena {
 public:
  explicit Arena(size_t block_size = 16 * 1024) : block_size_(block_size) {}
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;
  Arena(Arena&&) = default;
  Arena& operator=(Arena&&) = default;

  void* allocate(size_t size, size_t align = alignof(std::max_align_t)) {
    size_t at = (used_ + align - 1) & ~(align - 1);
    if (blocks_.empty() || at + size > capacity_) {
      capacity_ = size > block_size_ ? size : block_size_;
      blocks_.push_back(std::make_unique_for_overwrite<std::byte[]>(capacity_));
      reserved_ += capacity_;
      at = 0;
    }
    used_ = at + size;
    return blocks_.back().get() + at;
  }
  // Destructors are not run, so T must not need one.
  template <class T, class... Args>
  T* make(Args&&... args) {
    static_assert(std::is_trivially_destructible_v<T>);
    return new (allocate(sizeof(T), alignof(T))) T{std::forward<Args>(args)...};
  }
  std::string_view copy(std::string_view text) {
    if (text.empty()) return {};
    auto* p = static_cast<char*>(allocate(text.size(), 1));
    std::memcpy(p, text.data(), text.size());
    return {p, text.size()};
  }
  // Bytes taken from the system.
  [[nodiscard]] size_t reserved() const { return reserved_; }

 private:
  size_t block_size_;
  std::vector<std::unique_ptr<std::byte[]>> blocks_;
  size_t capacity_ = 0;
  size_t used_ = 0;
  size_t reserved_ = 0;
};

}  // namespace culvert
