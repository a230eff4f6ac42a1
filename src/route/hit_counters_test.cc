#include "route/hit_counters.h"

#include <gtest/gtest.h>

#include <array>
#include <thread>

namespace culvert::route {
namespace {

std::vector<RuleHits> sum(std::initializer_list<const HitCounters*> workers, uint32_t rules) {
  return sum_hits(std::span(workers.begin(), workers.size()), rules);
}

void expect(const RuleHits& found, const RuleHits& expected, const char* what) {
  EXPECT_EQ(found.hits, expected.hits) << what;
  EXPECT_EQ(found.hit_at, expected.hit_at) << what;
  EXPECT_EQ(found.misses, expected.misses) << what;
  EXPECT_EQ(found.missed_at, expected.missed_at) << what;
}

TEST(HitCounters, NothingYet) {
  const HitCounters counters(130), none(0);
  for (const RuleHits& rule : sum({&counters}, 130)) expect(rule, {}, "untouched");
  EXPECT_TRUE(sum({&none}, 0).empty());
  EXPECT_EQ(sum({}, 3).size(), 3u);
}

TEST(HitCounters, AddsWorkersUpAndDerivesMisses) {
  HitCounters a(200), b(200);
  a.hit(0, 1000);
  a.hit(70, 1005);
  a.hit(70, 1010);
  b.hit(70, 1007);
  b.hit(199, 1020);
  a.no_match(1015);
  b.no_match(1001);
  const auto rules = sum({&a, &b}, 200);
  expect(rules[0], {1, 1000, 6, 1020}, "the first is missed by all others");
  expect(rules[1], {0, 0, 6, 1020}, "never hit");
  expect(rules[69], {0, 0, 6, 1020}, "before");
  expect(rules[70], {3, 1010, 3, 1020}, "hit on both workers");
  expect(rules[71], {0, 0, 3, 1020}, "behind");
  expect(rules[199], {1, 1020, 2, 1015}, "missed only by what no rule decides");
}

TEST(HitCounters, PassedFlowsCountOnce) {
  HitCounters counters(4);
  counters.pass(1, 10);
  counters.hit(3, 10);
  counters.hit(3, 20);
  counters.pass(1, 30);
  counters.pass(2, 30);
  counters.no_match(30);
  const auto rules = sum({&counters}, 4);
  expect(rules[0], {0, 0, 3, 30}, "three flows came by");
  expect(rules[1], {2, 30, 1, 30}, "two of them fell under it");
  expect(rules[2], {1, 30, 2, 30}, "one of them");
  expect(rules[3], {2, 20, 1, 30}, "decided two");
}

TEST(HitCounters, APassThatHasNotEndedIsNoMiss) {
  HitCounters counters(2);
  counters.pass(0, 10);
  expect(sum({&counters}, 2)[0], {1, 10, 0, 0}, "on its way");
}

TEST(HitCounters, IsReadWhileItCounts) {
  constexpr uint32_t kRules = 1000;
  constexpr uint64_t kRounds = 50;
  HitCounters counters(kRules);
  std::thread worker([&] {
    for (uint64_t round = 0; round < kRounds; ++round) {
      for (uint32_t i = 0; i < kRules; i += 3) counters.hit(i, 5);
    }
  });
  uint64_t seen = 0;
  for (int i = 0; i < 20; ++i) {
    uint64_t total = 0;
    for (const RuleHits& rule : sum({&counters}, kRules)) total += rule.hits;
    EXPECT_GE(total, seen);
    seen = total;
  }
  worker.join();
  uint64_t total = 0;
  for (const RuleHits& rule : sum({&counters}, kRules)) total += rule.hits;
  EXPECT_EQ(total, kRounds * ((kRules + 2) / 3));
}

}  // namespace
}  // namespace culvert::route
