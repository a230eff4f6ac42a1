// deadline_refresh: the idle timer of a session is touched. As the sessions do it: the time of the
// turn is stored, and the timer looks at it when it fires. The second row moves the timer itself.
#include "rt/timer.h"

#include <benchmark/benchmark.h>

#include "bench/micro/per_operation.h"
#include "rt/testing/sim.h"

namespace culvert::rt {
namespace {

struct Session {
  void touch() {
    if (idle.armed()) last = Worker::here().now();
  }
  Timer idle{[](Timer&) {}};
  TimePoint last{};
};

constexpr Duration kIdle = std::chrono::seconds(300);

void touch(benchmark::State& state) {
  sim::World world(1);
  Worker& worker = world.add_worker();
  Worker::Enter enter(worker);
  Session session;
  worker.timers().arm(session.idle, worker.now() + kIdle);
  bench::PerOperation cost(state);
  for (auto _ : state) {
    session.touch();
    benchmark::DoNotOptimize(session);
    benchmark::ClobberMemory();
  }
}
BENCHMARK(touch)->Name("deadline_refresh");

void move(benchmark::State& state) {
  sim::World world(1);
  Worker& worker = world.add_worker();
  Worker::Enter enter(worker);
  Session session;
  TimePoint due = worker.now() + kIdle;
  bench::PerOperation cost(state);
  for (auto _ : state) {
    due += std::chrono::milliseconds(1);
    worker.timers().arm(session.idle, due);
    benchmark::ClobberMemory();
  }
}
BENCHMARK(move)->Name("deadline_refresh/moved");

}  // namespace
}  // namespace culvert::rt
