// Background: one thread for work that blocks (files, compiling, databases). Jobs run in order; the
// queue is bounded, and what does not fit is declined.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

#include "base/result.h"
#include "rt/task.h"

namespace culvert::rt {

class Background {
 public:
  static constexpr size_t kQueueLimit = 1024;
  Background();
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;
  ~Background() { stop(); }

  // Any thread. False when the queue is full or stopped; `job` is then dropped.
  bool submit(std::function<void()> job);
  // Runs what is queued, then ends the thread. Idempotent.
  void stop();

 private:
  void run();
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> jobs_;
  bool stopping_ = false;
  std::thread thread_;
};

class Worker;

// Runs `work` on the background thread and returns on `here`, the caller's own worker, when it is
// done; kExhausted when the queue is full. Whoever waits may be cancelled: the work goes on all the
// same, so what it uses belongs to it or outlives the background thread, and `here` outlives that.
Task<Status> in_background(Background& background, Worker& here, std::function<void()> work);

}  // namespace culvert::rt
