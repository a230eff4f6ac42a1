#include "rt/timer.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <vector>

#include "base/rng.h"

namespace culvert::rt {
namespace {

using namespace std::chrono_literals;

struct Probe : Timer {
  Probe() : Timer(&Probe::on_fire) {}
  static void on_fire(Timer& t) {
    auto& self = static_cast<Probe&>(t);
    ++self.fired;
    self.at = *self.clock;
  }
  int fired = 0;
  TimePoint at{};
  const TimePoint* clock = nullptr;
};

TEST(RtTimer, FiresOnceNotEarlyAndCanBeCancelled) {
  TimePoint now{1000s};
  TimerWheel wheel(now);
  Probe a, b;
  a.clock = b.clock = &now;
  wheel.arm(a, now + 10ms);
  wheel.arm(b, now + 10ms);
  EXPECT_EQ(wheel.next(), now + 10ms);
  b.cancel();
  EXPECT_FALSE(b.armed());
  EXPECT_EQ(wheel.advance(now + 9ms), 0u);
  now += 10ms;
  EXPECT_EQ(wheel.advance(now), 1u);
  EXPECT_EQ(a.fired, 1);
  EXPECT_EQ(b.fired, 0);
  EXPECT_EQ(wheel.next(), kNever);
  wheel.arm(a, now - 1s);  // the past fires at the next opportunity
  now += 2ms;
  wheel.advance(now);
  EXPECT_EQ(a.fired, 2);
}

// Against a sorted map: random arming, re-arming and cancelling over spans from 1 ms to 100 days.
TEST(RtTimer, AgreesWithASortedList) {
  SeededRng rng(42);
  TimePoint now{12345s + 678us};
  TimerWheel wheel(now);
  constexpr size_t kCount = 300;
  std::vector<std::unique_ptr<Probe>> probes;
  std::map<size_t, TimePoint> expected;
  for (size_t i = 0; i < kCount; ++i) {
    probes.push_back(std::make_unique<Probe>());
    probes.back()->clock = &now;
  }
  for (int round = 0; round < 20000; ++round) {
    const size_t i = rng.below(kCount);
    switch (rng.below(4)) {
      case 0: {
        const uint64_t span = uint64_t{1} << rng.below(34);  // ms
        const TimePoint when = now + std::chrono::milliseconds(1 + rng.below(span)) +
                               std::chrono::microseconds(rng.below(1000));
        wheel.arm(*probes[i], when);
        expected[i] = when;
        break;
      }
      case 1:
        probes[i]->cancel();
        expected.erase(i);
        break;
      default: {
        // Time passes: to the wheel's next moment or somewhere before it.
        const TimePoint next = wheel.next();
        if (next == kNever) break;
        ASSERT_GT(next, now - 1ms);
        const Duration gap = next > now ? next - now : Duration(0);
        now +=
            rng.below(2) == 0
                ? gap
                : Duration(static_cast<int64_t>(rng.below(static_cast<uint64_t>(gap.count()) + 1)));
        std::map<size_t, int> before;
        for (auto& [k, when] : expected) before[k] = probes[k]->fired;
        wheel.advance(now);
        for (auto it = expected.begin(); it != expected.end();) {
          const bool fired = probes[it->first]->fired != before[it->first];
          if (it->second + 1ms <= now) {
            ASSERT_TRUE(fired) << "due but silent";
          }
          if (fired) {
            ASSERT_LE(it->second, now) << "early";
            it = expected.erase(it);
          } else {
            ++it;
          }
        }
        break;
      }
    }
    ASSERT_EQ(wheel.size(), expected.size());
  }
}

TEST(RtTimer, ATimerMayEndAnother) {
  TimePoint now{1s};
  TimerWheel wheel(now);
  struct Killer : Timer {
    Killer() : Timer(&Killer::on_fire) {}
    static void on_fire(Timer& t) { static_cast<Killer&>(t).victim.reset(); }
    std::unique_ptr<Probe> victim = std::make_unique<Probe>();
  } killer;
  killer.victim->clock = &now;
  wheel.arm(killer, now + 5ms);
  wheel.arm(*killer.victim, now + 5ms);
  now += 5ms;
  EXPECT_EQ(wheel.advance(now), 1u);
  EXPECT_EQ(killer.victim, nullptr);
  EXPECT_EQ(wheel.size(), 0u);
}

}  // namespace
}  // namespace culvert::rt
