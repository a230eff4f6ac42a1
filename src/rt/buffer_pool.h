// Buffers for bytes in flight, and the process-wide budget they come from.
//
// Sizes are 2 KiB (under pressure only), 16, 32, 64, 128 and 256 KiB. Each worker keeps free
// buffers in LIFO order, so that a flow that reads and writes at once always touches the same few
// hot pages; what lies unused is given back to the system when the worker falls idle (trim()).
//
// The budget bounds the bytes of buffers handed out in the whole process. A worker draws leases of
// kLease bytes from it, so the shared counter is touched per lease and not per buffer. Above half
// of the budget reads shrink (suggest()), above 90 % try_acquire() declines and readers queue up:
// they are woken in order as buffers come back.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/intrusive_list.h"
#include "rt/timer.h"
#include "rt/waiter.h"

namespace culvert::rt {

// Shared by all workers. Thread-safe.
class ByteBudget {
 public:
  explicit ByteBudget(size_t limit) : limit_(limit) {}
  // min(64 MiB, RAM / 8), where RAM respects the cgroup limit.
  static size_t default_limit();
  [[nodiscard]] size_t limit() const { return limit_; }
  [[nodiscard]] size_t leased() const { return leased_.load(std::memory_order_relaxed); }
  bool try_lease(size_t bytes);
  void give_back(size_t bytes) { leased_.fetch_sub(bytes, std::memory_order_relaxed); }

 private:
  const size_t limit_;
  alignas(64) std::atomic<size_t> leased_{0};
};

struct Buffer {
  uint8_t* data = nullptr;
  uint32_t size = 0;
  explicit operator bool() const { return data != nullptr; }
};

class BufferPool {
 public:
  static constexpr std::array<uint32_t, 6> kSizes{2 << 10,  16 << 10,  32 << 10,
                                                  64 << 10, 128 << 10, 256 << 10};
  static constexpr uint32_t kSmallest = kSizes.front();
  static constexpr uint32_t kFirst = kSizes[1];  // what a stream's first read uses
  static constexpr uint32_t kLargest = kSizes.back();

  BufferPool(ByteBudget& budget, TimerWheel& timers);
  BufferPool(const BufferPool&) = delete;
  BufferPool& operator=(const BufferPool&) = delete;
  ~BufferPool();

  // The read size to use for a flow that would like `wanted`: the same, or smaller under pressure.
  [[nodiscard]] uint32_t suggest(uint32_t wanted) const;
  // A buffer of one of kSizes, at least `size` (which is at most kLargest); empty when the budget
  // declines.
  [[nodiscard]] Buffer try_acquire(uint32_t size);
  void release(Buffer buffer);
  // Takes `bytes`, at most kLargest, from the budget for memory that is not of this pool; false
  // when the budget declines. unreserve() gives them back.
  [[nodiscard]] bool try_reserve(size_t bytes);
  void unreserve(size_t bytes);

  // A reader that was declined queues here; `waiter` fires, in order, when buffers may be had
  // again.
  class Parked : public ListNode {
   public:
    Waiter* waiter = nullptr;
  };
  void park(Parked& parked);

  // Gives the memory of free buffers back to the system.
  void trim();
  [[nodiscard]] size_t in_use() const { return in_use_; }
  [[nodiscard]] size_t cached() const { return cached_; }

 private:
  static constexpr size_t kLease = 256 << 10;
  static constexpr size_t kCacheLimit = 2 << 20;  // free bytes kept warm between trims
  static size_t class_of(uint32_t size);
  void wake_parked();
  static void on_retry(Timer& timer);

  struct RetryTimer : Timer {
    RetryTimer(BufferPool* p) : Timer(&BufferPool::on_retry), pool(p) {}
    BufferPool* pool;
  };

  ByteBudget& budget_;
  TimerWheel& timers_;
  size_t lease_ = 0;   // bytes drawn from the budget
  size_t in_use_ = 0;  // of them handed out
  size_t cached_ = 0;
  std::array<std::vector<uint8_t*>, kSizes.size()> free_;
  IntrusiveList<Parked> parked_;
  RetryTimer retry_{this};
};

}  // namespace culvert::rt
