// Size-classed free lists for coroutine frames and other small per-flow objects of one worker.
// Classes of 64 bytes up to 2 KiB, then 4 and 8 KiB; larger sizes go to malloc. A block taken on
// one thread is given back on the same one. Without a current worker it is plain malloc.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace culvert::rt {

class FramePool {
 public:
  FramePool() = default;
  FramePool(const FramePool&) = delete;
  FramePool& operator=(const FramePool&) = delete;
  ~FramePool() { trim(); }

  void* allocate(size_t size);
  void free(void* block, size_t size);
  // Gives every cached block back to malloc.
  void trim();

  [[nodiscard]] size_t largest() const { return largest_; }  // biggest size ever asked for
  [[nodiscard]] size_t cached_bytes() const { return cached_bytes_; }

 private:
  struct Free {
    Free* next;
  };
  static constexpr size_t kStep = 64;
  static constexpr size_t kClasses = 34;
  static size_t class_of(size_t size);
  static size_t class_size(size_t index);
  std::array<Free*, kClasses> free_{};
  size_t cached_bytes_ = 0;
  size_t largest_ = 0;
};

// From the current worker's pool, or malloc where there is none; sized, so that both agree.
void* allocate_frame(size_t size);
void free_frame(void* block, size_t size);

}  // namespace culvert::rt
