#include "rt/background.h"

#include <pthread.h>

#include <memory>
#include <utility>

#include "rt/await.h"
#include "rt/worker.h"

namespace culvert::rt {

Background::Background() : thread_([this] { run(); }) {}

bool Background::submit(std::function<void()> job) {
  {
    std::lock_guard lock(mutex_);
    if (stopping_ || jobs_.size() >= kQueueLimit) return false;
    jobs_.push_back(std::move(job));
  }
  changed_.notify_one();
  return true;
}

void Background::stop() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void Background::run() {
  pthread_setname_np(pthread_self(), "background");
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return stopping_ || !jobs_.empty(); });
    if (jobs_.empty()) return;
    std::function<void()> job = std::move(jobs_.front());
    jobs_.pop_front();
    lock.unlock();
    job();
    job = nullptr;
    lock.lock();
  }
}

Task<Status> in_background(Background& background, Worker& here, std::function<void()> work) {
  auto done = std::make_shared<Signal>();
  const bool taken = background.submit([done, &here, w = std::move(work)]() mutable {
    w();
    w = nullptr;
    here.post([done] { done->raise(); });
  });
  if (!taken) co_return Errc::kExhausted;
  co_return co_await done->wait(kNever);
}

}  // namespace culvert::rt
