#include "engine/engine.h"

#include <pthread.h>

#include <atomic>
#include <cstring>

#include "base/format.h"
#include "rt/await.h"

namespace culvert::engine {

using rt::Task;

namespace {

constexpr Duration kDrainLook = std::chrono::milliseconds(250);

}  // namespace

Engine::Engine(rt::Worker& control, std::vector<std::unique_ptr<rt::Worker>> workers,
               flow::Resolver& resolver, bool threads)
    : control_(control), workers_(std::move(workers)), resolver_(resolver), threaded_(threads) {}

Engine::~Engine() {
  stop();
}

Status Engine::start(std::unique_ptr<Generation> generation, Diagnostics& diagnostics) {
  generation_ = std::move(generation);
  started_ = control_.backend().clock().now();
  started_wall_ = control_.backend().clock().wall();
  for (auto& worker : workers_) {
    rt::Worker::Enter enter(*worker);
    cores_.push_back(std::make_unique<WorkerCore>(*worker, resolver_, *generation_, cores_));
  }
  size_t failed = 0;
  Status opened;
  // With SO_REUSEPORT a port that another process of the same user listens on can be bound, and
  // connections would be shared with it: a first try without finds that out.
  {
    struct Nobody final : rt::Acceptor {
      void accepted(rt::AcceptedSocket) override {}
    } nobody;
    rt::Worker::Enter enter(*workers_.front());
    for (failed = 0; failed < generation_->listeners.size(); ++failed) {
      const auto probe = workers_.front()->backend().listen(generation_->listeners[failed].at,
                                                            {.reuse_port = false}, nobody);
      if (!probe.ok()) {
        opened = probe.error();
        break;
      }
    }
  }
  for (size_t i = 0; opened.ok() && i < cores_.size(); ++i) {
    rt::Worker::Enter enter(*workers_[i]);
    opened = cores_[i]->open_listeners(failed);
  }
  if (!opened.ok()) {
    const Generation::ListenerSpec& spec = generation_->listeners[failed];
    const int e = opened.error().os_errno;
    diagnostics.add({Severity::kError, "listener " + spec.name, 0, 0, "",
                     format("cannot listen on {}: {}", spec.at.to_string(),
                            e != 0 ? std::strerror(e) : std::string(describe(opened.code()))),
                     ""});
    for (size_t i = 0; i < cores_.size(); ++i) {
      rt::Worker::Enter enter(*workers_[i]);
      cores_[i].reset();
    }
    cores_.clear();
    return opened;
  }
  if (!threaded_) return {};
  for (auto& worker : workers_) {
    threads_.emplace_back([w = worker.get()] {
      const std::string name = format("worker-{}", w->index());
      pthread_setname_np(pthread_self(), name.c_str());
      w->run();
    });
  }
  return {};
}

std::vector<Endpoint> Engine::listening_at() const {
  std::vector<Endpoint> out;
  for (size_t i = 0; i < generation_->listeners.size(); ++i) {
    out.push_back(cores_.front()->listening_at(i));
  }
  return out;
}

void Engine::on_all(std::function<void(WorkerCore&)> f, std::function<void()> done) {
  struct Shared {
    std::function<void(WorkerCore&)> f;
    std::function<void()> done;
    std::atomic<size_t> left;
  };
  auto shared = std::make_shared<Shared>();
  shared->f = std::move(f);
  shared->done = std::move(done);
  shared->left = cores_.size();
  for (auto& core : cores_) {
    core->worker().post([this, shared, c = core.get()] {
      shared->f(*c);
      if (shared->left.fetch_sub(1) == 1) control_.post([shared] { shared->done(); });
    });
  }
}

uint64_t Engine::uploaded() const {
  uint64_t sum = 0;
  for (const auto& core : cores_) sum += core->conversations().uploaded();
  return sum;
}

uint64_t Engine::downloaded() const {
  uint64_t sum = 0;
  for (const auto& core : cores_) sum += core->conversations().downloaded();
  return sum;
}

// ---------------------------------------------------------------- stopping

Task<void> Engine::drain(Duration grace) {
  rt::Signal done;
  on_all([](WorkerCore& core) { core.close_listeners(); }, [&done] { done.raise(); });
  co_await done.wait(kNever);
  const TimePoint limit = control_.now() + grace;
  uint64_t bytes = uploaded() + downloaded();
  while (control_.now() < limit) {
    auto flows = std::make_shared<std::atomic<size_t>>(0);
    done.reset();
    on_all([flows](WorkerCore& core) { flows->fetch_add(core.flows()); },
           [&done] { done.raise(); });
    co_await done.wait(kNever);
    if (flows->load() == 0) co_return;
    const Status slept = co_await rt::sleep_until(control_.now() + kDrainLook);
    if (!slept.ok()) break;
    const uint64_t now = uploaded() + downloaded();
    if (now == bytes) break;
    bytes = now;
  }
  done.reset();
  on_all([](WorkerCore& core) { core.abort_all(); }, [&done] { done.raise(); });
  co_await done.wait(kNever);
}

void Engine::stop() {
  for (auto& worker : workers_) worker->stop();
  for (std::thread& t : threads_) t.join();
  threads_.clear();
  // Nothing runs any more: what is left is ended here, on behalf of each worker.
  for (size_t i = 0; i < cores_.size(); ++i) {
    rt::Worker::Enter enter(*workers_[i]);
    cores_[i]->close_listeners();
    cores_[i]->abort_all();
    while (cores_[i]->scope().running() != 0) workers_[i]->turn(TimePoint::min());
    cores_[i].reset();
  }
  cores_.clear();
}

}  // namespace culvert::engine
