#include "rt/buffer_pool.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "base/result.h"
#include "rt/worker.h"

namespace culvert::rt {
namespace {

// How often a worker with parked readers looks again when nothing of its own was released.
constexpr Duration kRetry = std::chrono::milliseconds(10);
// Readers woken at a time.
constexpr int kWakeBatch = 16;

size_t read_number(const char* path) {
  std::FILE* f = std::fopen(path, "re");
  if (f == nullptr) return 0;
  unsigned long long v = 0;
  const int n = std::fscanf(f, "%llu", &v);  // "max" reads as nothing
  std::fclose(f);
  return n == 1 ? static_cast<size_t>(v) : 0;
}

}  // namespace

size_t ByteBudget::default_limit() {
  size_t ram =
      static_cast<size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<size_t>(sysconf(_SC_PAGESIZE));
  for (const char* path :
       {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}) {
    if (const size_t limit = read_number(path); limit != 0) ram = std::min(ram, limit);
  }
  return std::max<size_t>(std::min<size_t>(64 << 20, ram / 8), 1 << 20);
}

bool ByteBudget::try_lease(size_t bytes) {
  size_t now = leased_.load(std::memory_order_relaxed);
  do {
    if (now + bytes > limit_) return false;
  } while (!leased_.compare_exchange_weak(now, now + bytes, std::memory_order_relaxed));
  return true;
}

BufferPool::BufferPool(ByteBudget& budget, TimerWheel& timers) : budget_(budget), timers_(timers) {}

BufferPool::~BufferPool() {
  retry_.cancel();
  for (size_t i = 0; i < free_.size(); ++i) {
    for (uint8_t* p : free_[i]) munmap(p, std::max<size_t>(kSizes[i], 4096));
  }
  budget_.give_back(lease_);
}

size_t BufferPool::class_of(uint32_t size) {
  for (size_t i = 0; i < kSizes.size(); ++i) {
    if (size <= kSizes[i]) return i;
  }
  CULVERT_CHECK(!"buffer larger than the largest class");
  return 0;
}

uint32_t BufferPool::suggest(uint32_t wanted) const {
  const size_t leased = budget_.leased();
  if (leased * 2 <= budget_.limit()) return wanted;
  if (leased * 4 <= budget_.limit() * 3) return std::min(wanted, kFirst);
  return kSmallest;
}

bool BufferPool::try_reserve(size_t bytes) {
  if (in_use_ + bytes > lease_) {
    // The last tenth of the budget is for leases already drawn: pausing begins before it is all
    // gone.
    if (budget_.leased() > budget_.limit() / 10 * 9 || !budget_.try_lease(kLease)) return false;
    lease_ += kLease;
  }
  in_use_ += bytes;
  return true;
}

void BufferPool::unreserve(size_t bytes) {
  in_use_ -= bytes;
  if (lease_ - in_use_ > 2 * kLease) {
    lease_ -= kLease;
    budget_.give_back(kLease);
  }
  if (!parked_.empty()) wake_parked();
}

Buffer BufferPool::try_acquire(uint32_t size) {
  const size_t index = class_of(size);
  const uint32_t bytes = kSizes[index];
  if (!try_reserve(bytes)) return {};
  uint8_t* p;
  if (!free_[index].empty()) {
    p = free_[index].back();
    free_[index].pop_back();
    cached_ -= bytes;
  } else {
    void* m = mmap(nullptr, std::max<size_t>(bytes, 4096), PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (m == MAP_FAILED) {
      unreserve(bytes);
      return {};
    }
    p = static_cast<uint8_t*>(m);
  }
  return {p, bytes};
}

void BufferPool::release(Buffer buffer) {
  const size_t index = class_of(buffer.size);
  if (cached_ + buffer.size > kCacheLimit) {
    munmap(buffer.data, std::max<size_t>(buffer.size, 4096));
  } else {
    cached_ += buffer.size;
    free_[index].push_back(buffer.data);
  }
  unreserve(buffer.size);
}

void BufferPool::park(Parked& parked) {
  if (parked.linked()) return;
  parked_.push_back(&parked);
  if (!retry_.armed()) timers_.arm(retry_, Worker::here().now() + kRetry);
}

void BufferPool::wake_parked() {
  if (!retry_.armed()) timers_.arm(retry_, Worker::here().now() + kRetry);
}

void BufferPool::on_retry(Timer& timer) {
  BufferPool& pool = *static_cast<RetryTimer&>(timer).pool;
  // Each woken reader tries to read, and parks again behind the others if it is declined.
  IntrusiveList<Parked> batch;
  for (int i = 0; i < kWakeBatch; ++i) {
    Parked* p = pool.parked_.pop_front();
    if (p == nullptr) break;
    batch.push_back(p);
  }
  while (Parked* p = batch.pop_front()) {
    if (p->waiter != nullptr) p->waiter->fire();
  }
  if (!pool.parked_.empty() && !pool.retry_.armed()) {
    // As long as readers make progress the queue moves every turn of the wheel, not every kRetry.
    const bool room = pool.budget_.leased() * 10 < pool.budget_.limit() * 9;
    pool.timers_.arm(pool.retry_, Worker::here().now() + (room ? Duration(1'000'000) : kRetry));
  }
}

void BufferPool::trim() {
  for (size_t i = 0; i < free_.size(); ++i) {
    for (uint8_t* p : free_[i]) munmap(p, std::max<size_t>(kSizes[i], 4096));
    free_[i].clear();
    free_[i].shrink_to_fit();
  }
  cached_ = 0;
  if (lease_ > 0 && in_use_ == 0) {
    budget_.give_back(lease_);
    lease_ = 0;
  }
}

}  // namespace culvert::rt
