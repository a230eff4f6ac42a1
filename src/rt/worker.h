// Worker: one thread, one event loop, one CPU. A flow lives and dies on one worker; everything it
// touches (streams, timers, buffers, frames, counters) is the worker's and needs no lock.
//
// One turn of the loop: wait for events, read the clock once (now()), fire the waiters, run the
// mailbox, fire the timers, run what became ready. In a simulation several workers share a thread
// and the simulator takes their turns.
#pragma once

#include <atomic>
#include <coroutine>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/intrusive_list.h"
#include "base/rng.h"
#include "rt/backend.h"
#include "rt/buffer_pool.h"
#include "rt/frame_pool.h"
#include "rt/mailbox.h"
#include "rt/pipe_pool.h"
#include "rt/scope.h"
#include "rt/timer.h"

namespace culvert::rt {

// Work that goes on in the worker's next turn, after other events had theirs. Unlinks itself when
// it dies.
class Deferred : public ListNode {
 public:
  using Fn = void (*)(Deferred& self);
  explicit Deferred(Fn fn) : fn_(fn) {}

 private:
  friend class Worker;
  Fn fn_;
};

class Worker {
 public:
  struct Options {
    unsigned index = 0;
    std::unique_ptr<Backend> backend;
    std::unique_ptr<Rng> rng;
    ByteBudget* budget = nullptr;  // outlives the worker
  };
  explicit Worker(Options options);
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;
  ~Worker();

  // The worker whose turn this thread is taking; nullptr outside. The one thread_local there is.
  static Worker* current();
  // The same where there must be one.
  static Worker& here();

  [[nodiscard]] unsigned index() const { return index_; }
  // The time of this loop turn.
  [[nodiscard]] TimePoint now() const { return now_; }
  [[nodiscard]] Backend& backend() { return *backend_; }
  [[nodiscard]] TimerWheel& timers() { return timers_; }
  [[nodiscard]] BufferPool& buffers() { return buffers_; }
  [[nodiscard]] PipePool& pipes() { return pipes_; }
  [[nodiscard]] FramePool& frames() { return frames_; }
  [[nodiscard]] Rng& rng() { return *rng_; }
  // Owns everything the worker runs; cancelled by shut_down().
  [[nodiscard]] Scope& scope() { return *scope_; }

  // Any thread. Runs `f` on this worker, soon.
  template <class F>
  void post(F f) {
    post_message(new FunctionMessage<F>(std::move(f)));
  }
  void post_message(Message* message);

  // Open flows, as published to other workers for balancing. add_load() from any thread.
  [[nodiscard]] uint32_t load() const { return load_.load(std::memory_order_relaxed); }
  void add_load(int32_t delta) {
    load_.fetch_add(static_cast<uint32_t>(delta), std::memory_order_relaxed);
  }

  // Takes turns until stop(); sets current().
  void run();
  // Any thread.
  void stop();
  // One turn, waiting at most until `until`; false when nothing happened. The caller has entered
  // the worker (see Enter).
  bool turn(TimePoint until);
  // Something waits to be run without any further event.
  [[nodiscard]] bool has_ready() const {
    return !ready_.empty() || !deferred_.empty() || !mailbox_.empty();
  }
  [[nodiscard]] TimePoint next_timer() const { return timers_.next(); }

  // Runs `work` once in the next turn.
  void defer(Deferred& work) {
    if (!work.linked()) deferred_.push_back(&work);
  }

  // Makes a worker current for a block; for run(), tests and the simulator.
  class Enter {
   public:
    explicit Enter(Worker& worker);
    Enter(const Enter&) = delete;
    Enter& operator=(const Enter&) = delete;
    ~Enter();

   private:
    Worker* before_;
  };

  void make_ready(std::coroutine_handle<> handle) { ready_.push_back({handle, false}); }
  void destroy_later(std::coroutine_handle<> handle) { ready_.push_back({handle, true}); }

 private:
  struct Ready {
    std::coroutine_handle<> handle;
    bool destroy;
  };
  size_t run_ready();
  size_t run_deferred();
  void trim();

  const unsigned index_;
  std::unique_ptr<Backend> backend_;
  std::unique_ptr<Rng> rng_;
  TimePoint now_;
  FramePool frames_;
  TimerWheel timers_;
  BufferPool buffers_;
  PipePool pipes_{buffers_};
  Mailbox mailbox_;
  std::vector<Ready> ready_;
  std::vector<Ready> running_;
  IntrusiveList<Deferred> deferred_;
  std::unique_ptr<Scope> scope_;
  TimePoint trim_at_ = kNever;  // when an idle worker gives memory back
  std::atomic<bool> stopping_{false};
  alignas(64) std::atomic<uint32_t> load_{0};
};

}  // namespace culvert::rt
