#include "engine/engine.h"

#include <pthread.h>

#include <algorithm>
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
               Surroundings& surroundings, bool threads)
    : control_(control),
      workers_(std::move(workers)),
      surroundings_(surroundings),
      threaded_(threads) {
  surroundings_.set_cores(&cores_);
}

Engine::~Engine() {
  stop();
  surroundings_.set_cores(nullptr);
}

Status Engine::start(GenerationPtr generation, const Choices& remembered,
                     Diagnostics& diagnostics) {
  generation->settle(workers_.size(), surroundings_.directory(), nullptr, remembered);
  started_ = control_.backend().clock().now();
  started_wall_ = control_.backend().clock().wall();
  for (auto& worker : workers_) {
    rt::Worker::Enter enter(*worker);
    cores_.push_back(std::make_unique<WorkerCore>(*worker, surroundings_, cores_));
  }
  size_t failed = 0;
  Status opened = probe(*generation, failed);
  std::vector<Endpoint> at;
  for (const auto& l : generation->listeners) at.push_back(l.at);
  for (size_t i = 0; opened.ok() && i < cores_.size(); ++i) {
    rt::Worker::Enter enter(*workers_[i]);
    opened = cores_[i]->prepare(*generation, at, failed);
  }
  if (!opened.ok()) {
    say_failed(*generation, failed, opened.error(), diagnostics);
    for (size_t i = 0; i < cores_.size(); ++i) {
      rt::Worker::Enter enter(*workers_[i]);
      cores_[i].reset();
    }
    cores_.clear();
    return opened;
  }
  generation_ = std::move(generation);
  listening_at_ = std::move(at);
  for (size_t i = 0; i < cores_.size(); ++i) {
    rt::Worker::Enter enter(*workers_[i]);
    cores_[i]->adopt(*generation_);
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

Status Engine::probe(const Generation& next, size_t& failed) {
  struct Nobody final : rt::Acceptor {
    void accepted(rt::AcceptedSocket) override {}
  } nobody;
  rt::Worker::Enter enter(control_);
  for (failed = 0; failed < next.listeners.size(); ++failed) {
    const Endpoint& at = next.listeners[failed].at;
    // Our own sockets would be in the way of a try at a port that they have.
    const bool ours =
        at.port == 0 || std::ranges::any_of(listening_at_, [&](const Endpoint& other) {
          return other.port == at.port;
        });
    if (ours) continue;
    const auto tried = control_.backend().listen(at, {.reuse_port = false}, nobody);
    if (!tried.ok()) return tried.error();
  }
  return {};
}

void Engine::say_failed(const Generation& next, size_t failed, const Error& why,
                        Diagnostics& diagnostics) const {
  if (failed >= next.listeners.size()) return;
  const Generation::Listener& l = next.listeners[failed];
  const int e = why.os_errno;
  diagnostics.add({Severity::kError, "listener " + l.name, 0, 0, "",
                   format("cannot listen on {}: {}", l.at.to_string(),
                          e != 0 ? std::strerror(e) : std::string(describe(why.code))),
                   ""});
}

// ---------------------------------------------------------------- generations

Task<Status> Engine::apply(GenerationPtr next, Diagnostics& diagnostics) {
  size_t failed = 0;
  Status opened = probe(*next, failed);
  std::vector<Endpoint> at;
  for (const auto& l : next->listeners) at.push_back(l.at);
  size_t prepared = 0;
  while (opened.ok() && prepared < cores_.size()) {
    // One after another: the first finds out what port 0 becomes.
    Task<void> one = on_workers(prepared, prepared + 1, [&](WorkerCore& core) {
      opened = core.prepare(*next, at, failed);
    });
    co_await std::move(one);
    ++prepared;
  }
  if (!opened.ok()) {
    Task<void> all = on_workers(0, prepared, [](WorkerCore& core) { core.abandon(); });
    co_await std::move(all);
    say_failed(*next, failed, opened.error(), diagnostics);
    co_return opened;
  }
  next->settle(workers_.size(), surroundings_.directory(), generation_.get(), {});
  Generation* const adopted = next.get();
  // Every worker is through with the one before when it has passed this point.
  const GenerationPtr before = std::exchange(generation_, std::move(next));
  listening_at_ = std::move(at);
  Task<void> all = on_all([adopted](WorkerCore& core) { core.adopt(*adopted); });
  co_await std::move(all);
  co_return Status();
}

Task<void> Engine::apply_disabled(GenerationPtr next) {
  Generation* const adopted = next.get();
  const GenerationPtr before = std::exchange(generation_, std::move(next));
  Task<void> all = on_all([adopted](WorkerCore& core) { core.adopt_tables(*adopted); });
  co_await std::move(all);
}

Task<void> Engine::on_workers(size_t first, size_t end, std::function<void(WorkerCore&)> f) {
  end = std::min(end, cores_.size());
  if (first >= end) co_return;
  // Belongs to the messages too: stopping may end this wait before them.
  struct Shared {
    Shared(std::function<void(WorkerCore&)> what, rt::Worker& c, size_t workers)
        : f(std::move(what)), control(c), left(workers) {}
    const std::function<void(WorkerCore&)> f;
    rt::Worker& control;
    std::atomic<size_t> left;
    rt::Signal done;
  };
  auto shared = std::make_shared<Shared>(std::move(f), control_, end - first);
  for (size_t i = first; i < end; ++i) {
    WorkerCore& core = *cores_[i];
    core.worker().post([shared, &core] {
      shared->f(core);
      if (shared->left.fetch_sub(1) == 1) shared->control.post([shared] { shared->done.raise(); });
    });
  }
  const Status waited = co_await shared->done.wait(kNever);
  (void)waited;
}

Task<void> Engine::on_all(std::function<void(WorkerCore&)> f) {
  return on_workers(0, cores_.size(), std::move(f));
}

Task<void> Engine::interrupt(stats::FlowId id) {
  return on_all([id](WorkerCore& core) { core.conversations().interrupt(id); });
}

Task<void> Engine::interrupt_all() {
  return on_all([](WorkerCore& core) { core.conversations().interrupt_all(); });
}

Task<void> Engine::interrupt_through(uint32_t target) {
  const uint32_t number = generation_->targets[target].number;
  return on_all([number](WorkerCore& core) { core.conversations().interrupt_through(number); });
}

// ---------------------------------------------------------------- counting

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
  Task<void> closing = on_all([](WorkerCore& core) { core.close_listeners(); });
  co_await std::move(closing);
  const TimePoint limit = control_.now() + grace;
  uint64_t bytes = uploaded() + downloaded();
  while (control_.now() < limit) {
    auto flows = std::make_shared<std::atomic<size_t>>(0);
    Task<void> counting = on_all([flows](WorkerCore& core) { flows->fetch_add(core.flows()); });
    co_await std::move(counting);
    if (flows->load() == 0) co_return;
    const Status slept = co_await rt::sleep_until(control_.now() + kDrainLook);
    if (!slept.ok()) break;
    const uint64_t now = uploaded() + downloaded();
    if (now == bytes) break;
    bytes = now;
  }
  Task<void> aborting = on_all([](WorkerCore& core) { core.abort_all(); });
  co_await std::move(aborting);
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
