// The same ten million as in task_test.cc, in a unit that is always compiled without optimisation
// (tests/CMakeLists.txt): that is where g++ 12 turns symmetric transfer into recursion.
#include <gtest/gtest.h>

#include "rt/task.h"
#include "rt/testing/sim.h"

namespace culvert::rt {
namespace {

Task<int> one() {
  co_return 1;
}

Task<int> two() {
  const int a = co_await one();
  const int b = co_await one();
  co_return a + b;
}

Task<void> many(int count, int64_t* sum) {
  for (int i = 0; i < count; ++i) {
    const int v = co_await two();
    *sum += v;
  }
}

TEST(RtTaskUnoptimised, TenMillionReadyAwaits) {
  sim::World world(1);
  Worker& w = world.add_worker();
  Worker::Enter enter(w);
  int64_t sum = 0;
  w.scope().spawn("awaits", many(3'333'334, &sum));  // three awaits each
  EXPECT_EQ(sum, 2 * 3'333'334);
  world.run_until_idle(std::chrono::seconds(1));
}

}  // namespace
}  // namespace culvert::rt
