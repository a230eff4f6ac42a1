#include "rt/task.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "rt/await.h"
#include "rt/testing/sim.h"

namespace culvert::rt {
namespace {

using namespace std::chrono_literals;

Task<int> ready_value(int v) {
  co_return v;
}

Task<void> many_ready_awaits(int count, int64_t* sum) {
  for (int i = 0; i < count; ++i) {
    const int v = co_await ready_value(1);
    *sum += v;
  }
}

// Symmetric transfer overflows the stack here on g++ 12 at -O0, -O1 and under sanitizers.
TEST(RtTask, TenMillionReadyAwaits) {
  sim::World world(1);
  Worker& w = world.add_worker();
  Worker::Enter enter(w);
  int64_t sum = 0;
  w.scope().spawn("awaits", many_ready_awaits(10'000'000, &sum));
  EXPECT_EQ(sum, 10'000'000);
  world.run_until_idle(1s);
}

Task<int> nested(int depth, TimePoint until) {
  if (depth == 0) {
    const Status slept = co_await sleep_until(until);
    co_return slept.ok() ? 1 : 0;
  }
  const int below = co_await nested(depth - 1, until);
  co_return below + 1;
}

Task<void> store_nested(int depth, TimePoint until, int* out) {
  *out = co_await nested(depth, until);
}

TEST(RtTask, DeepChainsUnwindThroughTheReadyQueue) {
  sim::World world(1);
  Worker& w = world.add_worker();
  int out = 0;
  {
    Worker::Enter enter(w);
    w.scope().spawn("nested", store_nested(2000, w.now() + 1s, &out));
  }
  EXPECT_EQ(out, 0);
  EXPECT_TRUE(world.run_until([&] { return out != 0; }, 2s));
  EXPECT_EQ(out, 2001);
}

Task<void> wait_for(TimePoint when, Errc* out, Duration* waited) {
  const TimePoint begin = Worker::here().now();
  const Status s = co_await sleep_until(when);
  *out = s.code();
  *waited = Worker::here().now() - begin;
}

TEST(RtScope, CancellationIsAnOrdinaryErrorAndSticks) {
  sim::World world(1);
  Worker& w = world.add_worker();
  Worker::Enter enter(w);
  Errc first = Errc::kIo, second = Errc::kIo;
  Duration waited{};
  Scope child(&w.scope());
  Scope grandchild(&child);
  grandchild.spawn("sleeper", wait_for(w.now() + 1h, &first, &waited));
  EXPECT_EQ(grandchild.running(), 1u);
  child.cancel();
  EXPECT_TRUE(grandchild.cancelled());
  world.run_until_idle(1s);
  EXPECT_EQ(first, Errc::kCancelled);
  EXPECT_EQ(grandchild.running(), 0u);
  grandchild.spawn("late", wait_for(w.now() + 1h, &second, &waited));
  EXPECT_EQ(second, Errc::kCancelled) << "an await under a cancelled scope does not wait";
  EXPECT_FALSE(w.scope().cancelled());
  world.run_until_idle(1s);
}

TEST(RtScope, AwaitsPastTheirDeadlineDoNotWait) {
  sim::World world(1);
  Worker& w = world.add_worker();
  Worker::Enter enter(w);
  Signal never;
  Errc out = Errc::kNone;
  struct Fn {
    static Task<void> run(Signal& s, TimePoint deadline, Errc* result) {
      const Status status = co_await s.wait(deadline);
      *result = status.code();
    }
  };
  w.scope().spawn("late", Fn::run(never, w.now(), &out));
  EXPECT_EQ(out, Errc::kTimedOut);
  w.scope().spawn("later", Fn::run(never, w.now() + 5ms, &out));
  out = Errc::kNone;
  world.run_for(4ms);
  EXPECT_EQ(out, Errc::kNone);
  world.run_for(2ms);
  EXPECT_EQ(out, Errc::kTimedOut);
}

Task<void> join_then(Scope& scope, std::vector<std::string>* log) {
  co_await scope.join();
  log->push_back("joined");
}
Task<void> work(TimePoint when, std::vector<std::string>* log) {
  const Status s = co_await sleep_until(when);
  log->push_back(s.ok() ? "worked" : "cancelled");
}

TEST(RtScope, JoinWaitsForAll) {
  sim::World world(1);
  Worker& w = world.add_worker();
  Worker::Enter enter(w);
  std::vector<std::string> log;
  Scope scope(&w.scope());
  scope.spawn("a", work(w.now() + 10ms, &log));
  scope.spawn("b", work(w.now() + 20ms, &log));
  w.scope().spawn("join", join_then(scope, &log));
  world.run_until_idle(1s);
  EXPECT_EQ(log, (std::vector<std::string>{"worked", "worked", "joined"}));
}

TEST(RtFramePool, ReusesBlocksOfAClass) {
  FramePool pool;
  void* a = pool.allocate(100);
  pool.free(a, 100);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  EXPECT_EQ(pool.cached_bytes(), 128u);
  EXPECT_EQ(pool.allocate(128), a);
  pool.free(a, 128);
#endif
  void* big = pool.allocate(100'000);
  pool.free(big, 100'000);
  pool.trim();
  EXPECT_EQ(pool.cached_bytes(), 0u);
  EXPECT_EQ(pool.largest(), 100'000u);
}

}  // namespace
}  // namespace culvert::rt
