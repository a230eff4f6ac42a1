// Counts by standing in for glibc's allocator, which it calls by the names that glibc keeps for
// that.
#include "bench/micro/alloc_count.h"

#include <cerrno>
#include <cstddef>

extern "C" {
void* __libc_malloc(size_t size);
void* __libc_calloc(size_t count, size_t size);
void* __libc_realloc(void* old, size_t size);
void* __libc_memalign(size_t alignment, size_t size);
}

namespace culvert::bench {
namespace {

// Zero before any constructor runs: the loader allocates too.
constinit thread_local HeapUse g_use;

void count(size_t bytes) {
  ++g_use.allocations;
  g_use.bytes += bytes;
}

}  // namespace

HeapUse heap_use() {
  return g_use;
}

}  // namespace culvert::bench

// free() stays glibc's own: what these return is its memory.
extern "C" {

void* malloc(size_t size) {
  culvert::bench::count(size);
  return __libc_malloc(size);
}

void* calloc(size_t count, size_t size) {
  culvert::bench::count(count * size);
  return __libc_calloc(count, size);
}

void* realloc(void* old, size_t size) {
  culvert::bench::count(size);
  return __libc_realloc(old, size);
}

void* memalign(size_t alignment, size_t size) {
  culvert::bench::count(size);
  return __libc_memalign(alignment, size);
}

void* aligned_alloc(size_t alignment, size_t size) {
  culvert::bench::count(size);
  return __libc_memalign(alignment, size);
}

int posix_memalign(void** out, size_t alignment, size_t size) {
  culvert::bench::count(size);
  void* p = __libc_memalign(alignment, size);
  if (p == nullptr) return ENOMEM;
  *out = p;
  return 0;
}

}  // extern "C"
