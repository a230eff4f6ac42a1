#include "rt/frame_pool.h"

#include <cstdlib>

#include "base/result.h"
#include "rt/worker.h"

// Under a sanitizer blocks go straight to malloc, so that a use after free is seen.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define CULVERT_POOLED 0
#else
#define CULVERT_POOLED 1
#endif

namespace culvert::rt {

size_t FramePool::class_of(size_t size) {
  if (size <= 2048) return size == 0 ? 0 : (size - 1) / kStep;
  if (size <= 4096) return 32;
  if (size <= 8192) return 33;
  return kClasses;
}

size_t FramePool::class_size(size_t index) {
  return index < 32 ? (index + 1) * kStep : index == 32 ? 4096 : 8192;
}

void* FramePool::allocate(size_t size) {
  if (size > largest_) largest_ = size;
  const size_t index = class_of(size);
  if (CULVERT_POOLED && index < kClasses) {
    if (Free* f = free_[index]; f != nullptr) {
      free_[index] = f->next;
      cached_bytes_ -= class_size(index);
      return f;
    }
  }
  void* p = std::malloc(index < kClasses ? class_size(index) : size);
  CULVERT_CHECK(p != nullptr);
  return p;
}

void FramePool::free(void* block, size_t size) {
  const size_t index = class_of(size);
  if (!CULVERT_POOLED || index >= kClasses) {
    std::free(block);
    return;
  }
  auto* f = static_cast<Free*>(block);
  f->next = free_[index];
  free_[index] = f;
  cached_bytes_ += class_size(index);
}

void FramePool::trim() {
  for (Free*& head : free_) {
    while (head != nullptr) {
      Free* next = head->next;
      std::free(head);
      head = next;
    }
  }
  cached_bytes_ = 0;
}

void* allocate_frame(size_t size) {
  if (Worker* w = Worker::current(); w != nullptr) return w->frames().allocate(size);
  return FramePool().allocate(size);
}

void free_frame(void* block, size_t size) {
  if (Worker* w = Worker::current(); w != nullptr) {
    w->frames().free(block, size);
  } else {
    std::free(block);
  }
}

}  // namespace culvert::rt
