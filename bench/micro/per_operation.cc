// Counts the heap's use by standing in for glibc's allocator, which it calls by the names that
// glibc keeps for that.
#include "bench/micro/per_operation.h"

#include <malloc.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstddef>
#include <string>

#if __has_include(<valgrind/callgrind.h>)
#include <valgrind/callgrind.h>
#define CULVERT_CALLGRIND 1
#else
#define CULVERT_CALLGRIND 0
#endif

extern "C" {
void* __libc_malloc(size_t size);
void* __libc_calloc(size_t count, size_t size);
void* __libc_realloc(void* old, size_t size);
void* __libc_memalign(size_t alignment, size_t size);
void __libc_free(void* p);
}

namespace culvert::bench {
namespace {

// What HeapPeak watches.
struct Held {
  bool watched = false;
  int64_t now = 0;
  int64_t peak = 0;
};

// Zero before any constructor runs: the loader allocates too.
constinit thread_local HeapUse g_use;
constinit thread_local Held g_held;

void count(size_t bytes) {
  ++g_use.allocations;
  g_use.bytes += bytes;
}

void* taken(void* p) {
  if (g_held.watched && p != nullptr) {
    g_held.now += static_cast<int64_t>(malloc_usable_size(p));
    g_held.peak = std::max(g_held.peak, g_held.now);
  }
  return p;
}

void given_back(void* p) {
  if (g_held.watched && p != nullptr) g_held.now -= static_cast<int64_t>(malloc_usable_size(p));
}

#if CULVERT_CALLGRIND
// Dumps of all benchmarks so far.
int g_dumps = 0;

void start_instructions() {
  CALLGRIND_START_INSTRUMENTATION;
  CALLGRIND_ZERO_STATS;
}

void dump_instructions(benchmark::State& state) {
  if (RUNNING_ON_VALGRIND == 0) return;
  CALLGRIND_STOP_INSTRUMENTATION;
  const std::string label = std::to_string(g_dumps++) + "/" + std::to_string(state.iterations());
  CALLGRIND_DUMP_STATS_AT(label.c_str());
  state.counters["dumps"] = g_dumps;
}
#else
void start_instructions() {}
void dump_instructions(benchmark::State&) {}
#endif

}  // namespace

HeapUse heap_use() {
  return g_use;
}

PerOperation::PerOperation(benchmark::State& state) : state_(state), start_(heap_use()) {
  start_instructions();
}

PerOperation::~PerOperation() {
  const HeapUse end = heap_use();
  dump_instructions(state_);
  const auto per_iteration = [&](uint64_t total) {
    return std::round(1000 * static_cast<double>(total) /
                      static_cast<double>(state_.iterations())) /
           1000;
  };
  state_.counters["allocs"] = per_iteration(end.allocations - start_.allocations);
  state_.counters["bytes"] = per_iteration(end.bytes - start_.bytes);
}

HeapPeak::HeapPeak() {
  g_held = {.watched = true};
}

HeapPeak::~HeapPeak() {
  g_held = {};
}

int64_t HeapPeak::bytes() const {
  return g_held.peak;
}

int64_t HeapPeak::held() const {
  return g_held.now;
}

}  // namespace culvert::bench

extern "C" {

void* malloc(size_t size) {
  culvert::bench::count(size);
  return culvert::bench::taken(__libc_malloc(size));
}

void* calloc(size_t count, size_t size) {
  culvert::bench::count(count * size);
  return culvert::bench::taken(__libc_calloc(count, size));
}

void* realloc(void* old, size_t size) {
  culvert::bench::count(size);
  culvert::bench::given_back(old);
  return culvert::bench::taken(__libc_realloc(old, size));
}

void* memalign(size_t alignment, size_t size) {
  culvert::bench::count(size);
  return culvert::bench::taken(__libc_memalign(alignment, size));
}

void* aligned_alloc(size_t alignment, size_t size) {
  culvert::bench::count(size);
  return culvert::bench::taken(__libc_memalign(alignment, size));
}

int posix_memalign(void** out, size_t alignment, size_t size) {
  culvert::bench::count(size);
  void* p = __libc_memalign(alignment, size);
  if (p == nullptr) return ENOMEM;
  *out = culvert::bench::taken(p);
  return 0;
}

void free(void* p) {
  culvert::bench::given_back(p);
  __libc_free(p);
}

}  // extern "C"
