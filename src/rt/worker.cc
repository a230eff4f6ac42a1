#include "rt/worker.h"

#include <malloc.h>

#include <algorithm>

namespace culvert::rt {
namespace {

thread_local Worker* t_current = nullptr;

// An idle worker looks this long for more work before it gives its caches back.
constexpr Duration kTrimAfter = std::chrono::seconds(2);
// malloc_trim() walks the heap: worth it only when a burst left something behind.
constexpr size_t kTrimWorth = 64 << 10;

}  // namespace

namespace detail {
void make_ready(std::coroutine_handle<> handle) {
  Worker::here().make_ready(handle);
}
void destroy_later(std::coroutine_handle<> handle) {
  Worker::here().destroy_later(handle);
}
}  // namespace detail

Worker* Worker::current() {
  return t_current;
}

Worker& Worker::here() {
  CULVERT_CHECK(t_current != nullptr);
  return *t_current;
}

Worker::Enter::Enter(Worker& worker) : before_(t_current) {
  t_current = &worker;
}
Worker::Enter::~Enter() {
  t_current = before_;
}

Worker::Worker(Options options)
    : index_(options.index),
      backend_(std::move(options.backend)),
      rng_(std::move(options.rng)),
      now_(backend_->clock().now()),
      timers_(now_),
      buffers_(*options.budget, timers_) {
  scope_ = std::make_unique<Scope>();
}

Worker::~Worker() {
  Enter enter(*this);
  scope_.reset();
  run_ready();
}

void Worker::post_message(Message* message) {
  if (mailbox_.push(message)) backend_->wake();
}

void Worker::run() {
  Enter enter(*this);
  while (!stopping_.load(std::memory_order_acquire)) turn(kNever);
}

void Worker::stop() {
  stopping_.store(true, std::memory_order_release);
  backend_->wake();
}

bool Worker::turn(TimePoint until) {
  const bool dirty = buffers_.cached() != 0 || frames_.cached_bytes() > kTrimWorth;
  if (dirty && trim_at_ == kNever) trim_at_ = now_ + kTrimAfter;
  TimePoint deadline = std::min({until, timers_.next(), trim_at_});
  if (has_ready()) deadline = TimePoint::min();
  size_t did = backend_->poll(deadline);
  now_ = backend_->clock().now();
  if (did != 0) backend_->dispatch();
  did += mailbox_.drain();
  did += timers_.advance(now_);
  did += run_deferred();
  did += run_ready();
  if (did != 0) {
    trim_at_ = kNever;
  } else if (now_ >= trim_at_) {
    trim_at_ = kNever;
    trim();
  }
  return did != 0;
}

size_t Worker::run_ready() {
  // What is made ready meanwhile runs too, up to a bound: then other events get their turn.
  size_t did = 0;
  while (!ready_.empty() && did < 4096) {
    running_.swap(ready_);
    for (const Ready& r : running_) {
      if (r.destroy) {
        r.handle.destroy();
      } else {
        r.handle.resume();
      }
    }
    did += running_.size();
    running_.clear();
  }
  return did;
}

size_t Worker::run_deferred() {
  // Only what is there now: what is deferred meanwhile belongs to the next turn.
  IntrusiveList<Deferred> batch;
  batch.splice_back(deferred_);
  size_t did = 0;
  while (Deferred* d = batch.pop_front()) {
    d->fn_(*d);
    ++did;
  }
  return did;
}

void Worker::trim() {
  pipes_.trim();
  buffers_.trim();
  if (frames_.cached_bytes() > kTrimWorth) {
    frames_.trim();
    malloc_trim(0);
  }
  running_.shrink_to_fit();
  ready_.shrink_to_fit();
}

}  // namespace culvert::rt
