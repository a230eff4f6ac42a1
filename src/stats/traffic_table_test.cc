#include "stats/traffic_table.h"

#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <thread>

#include "base/rng.h"

namespace culvert::stats {
namespace {

Traffic all_of(const std::vector<Traffic>& sums) {
  Traffic out;
  for (const Traffic& t : sums) {
    out.upload += t.upload;
    out.download += t.download;
  }
  return out;
}

TEST(TrafficTable, OneCellForEachCombinationInUse) {
  TrafficTable table;
  EXPECT_EQ(table.cells(), 64u) << "none for those not in use";
  TrafficTable::Cell* a = table.take(0, 1, 2);
  EXPECT_EQ(table.take(0, 1, 2), a);
  std::set<TrafficTable::Cell*> others = {table.take(1, 1, 2), table.take(0, 2, 2),
                                          table.take(0, 1, 1), table.take(1, 2, 0)};
  EXPECT_EQ(others.size(), 4u);
  EXPECT_EQ(others.count(a), 0u);
  for (const TrafficTable::Cell* c : others) EXPECT_EQ(reinterpret_cast<uintptr_t>(c) % 64, 0u);
  a->upload.add(7);
  table.give_back(a);
  table.give_back(a);
  EXPECT_EQ(table.take(0, 1, 2), a) << "kept for the next flow";
  EXPECT_EQ(table.sums(Dimension::kUser)[1], (Traffic{7, 0}));
}

// Never more cells than combinations, up to a chunk of 64, whatever comes and goes.
TEST(TrafficTable, CombinationsBoundTheCells) {
  TrafficTable table;
  for (uint32_t i = 0; i < 10'000; ++i) table.give_back(table.take(i % 2, i / 2 % 10, i / 20 % 5));
  EXPECT_EQ(table.cells(), 128u);
}

TEST(TrafficTable, FoldsCellsWithoutFlowsPastTheBound) {
  constexpr uint32_t kUsers = 10'000;
  TrafficTable table;
  TrafficTable::Cell* held = table.take(0, 5, 1);
  for (uint32_t round = 1; round <= 3; ++round) {
    for (uint32_t u = 0; u < kUsers; ++u) {
      TrafficTable::Cell* c = table.take(0, u, 0);
      c->upload.add(u);
      c->download.add(1);
      table.give_back(c);
      held->upload.add(1);  // stays where it is, and counted
    }
    EXPECT_EQ(table.cells(), TrafficTable::kBound);
    const std::vector<Traffic> users = table.sums(Dimension::kUser);
    for (uint32_t u = 0; u < kUsers; ++u) {
      const uint64_t more = u == 5 ? uint64_t{round} * kUsers : 0;
      ASSERT_EQ(users[u], (Traffic{uint64_t{u} * round + more, round})) << u;
    }
    EXPECT_EQ(table.sums(Dimension::kOutbound)[1].upload, uint64_t{round} * kUsers);
    EXPECT_EQ(all_of(users), table.total());
  }
}

// Live flows keep their cells, so the table grows with them, and no further.
TEST(TrafficTable, GrowsPastTheBoundWithLiveFlowsOnly) {
  constexpr uint32_t kUsers = 20'000;
  TrafficTable table;
  std::vector<TrafficTable::Cell*> live;
  for (uint32_t u = 0; u < 8'000; ++u) {
    live.push_back(table.take(0, u, 0));
    live.back()->upload.add(1);
  }
  for (uint32_t u = 0; u < 10 * kUsers; ++u) {
    TrafficTable::Cell* c = table.take(0, u % kUsers, 1);
    c->download.add(1);
    table.give_back(c);
  }
  EXPECT_LE(table.cells(), 8'000u * 8 / 7 + 2 * 64);
  for (TrafficTable::Cell* c : live) c->upload.add(1);
  const std::vector<Traffic> users = table.sums(Dimension::kUser);
  for (uint32_t u = 0; u < kUsers; ++u) {
    ASSERT_EQ(users[u], (Traffic{u < 8'000 ? 2u : 0u, 10u})) << u;
  }
}

// Flows come, count and go at random; each dimension's sums are those of the flows' own bytes.
TEST(TrafficTable, SumsAgreeWithTheFlows) {
  for (uint64_t seed = 1; seed <= 8; ++seed) {
    SeededRng rng(seed);
    const std::array<uint32_t, 3> sizes = {1 + static_cast<uint32_t>(rng.below(4)),
                                           seed % 2 == 0 ? 9'000u : 3u,
                                           1 + static_cast<uint32_t>(rng.below(6))};
    TrafficTable table;
    std::array<std::vector<Traffic>, 3> expected;
    for (size_t d = 0; d < 3; ++d) expected[d].resize(sizes[d]);
    struct Flow {
      std::array<uint32_t, 3> at;
      TrafficTable::Cell* cell;
    };
    std::vector<Flow> flows;
    for (int step = 0; step < 60'000; ++step) {
      const uint64_t what = rng.below(4);
      if (what == 0 || flows.empty()) {
        Flow f{};
        for (size_t d = 0; d < 3; ++d) f.at[d] = static_cast<uint32_t>(rng.below(sizes[d]));
        f.cell = table.take(f.at[0], f.at[1], f.at[2]);
        flows.push_back(f);
        continue;
      }
      Flow& f = flows[rng.below(flows.size())];
      if (what == 1 && flows.size() > rng.below(2'000)) {
        table.give_back(f.cell);
        f = flows.back();
        flows.pop_back();
        continue;
      }
      const uint64_t up = rng.below(1'500), down = rng.below(100'000);
      f.cell->upload.add(up);
      f.cell->download.add(down);
      for (size_t d = 0; d < 3; ++d) {
        expected[d][f.at[d]].upload += up;
        expected[d][f.at[d]].download += down;
      }
    }
    for (const Dimension d : {Dimension::kInbound, Dimension::kUser, Dimension::kOutbound}) {
      std::vector<Traffic> sums = table.sums(d);
      // Those that no flow had yet are not there.
      sums.resize(expected[static_cast<size_t>(d)].size());
      ASSERT_EQ(sums, expected[static_cast<size_t>(d)]) << seed;
    }
    ASSERT_EQ(table.total(), all_of(expected[0])) << seed;
  }
}

// Another thread reads while flows of many users come and go and cells are folded: nothing goes
// backwards, and nothing is there twice: every byte counted so far is known to be at most what the
// writer has announced.
TEST(TrafficTable, IsReadFromAnotherThreadWhileCounting) {
  constexpr uint32_t kUsers = 6'000, kRounds = 40;
  TrafficTable table;
  std::atomic<uint64_t> begun{0}, counted{0};
  std::atomic<bool> over{false};
  std::thread reader([&] {
    std::array<std::vector<Traffic>, 3> before;
    for (const Dimension d : {Dimension::kInbound, Dimension::kUser, Dimension::kOutbound}) {
      before[static_cast<size_t>(d)] = table.sums(d);
    }
    Traffic total_before;
    for (bool last = false; !last;) {
      last = over.load(std::memory_order_acquire);
      for (const Dimension d : {Dimension::kInbound, Dimension::kUser, Dimension::kOutbound}) {
        const uint64_t at_least = counted.load(std::memory_order_acquire);
        const std::vector<Traffic> now = table.sums(d);
        const uint64_t sum = all_of(now).upload;
        ASSERT_GE(sum, at_least);
        ASSERT_LE(sum, begun.load(std::memory_order_acquire));
        std::vector<Traffic>& then = before[static_cast<size_t>(d)];
        ASSERT_GE(now.size(), then.size());
        then.resize(now.size());
        for (size_t i = 0; i < now.size(); ++i) {
          ASSERT_GE(now[i].upload, then[i].upload);
          ASSERT_GE(now[i].download, then[i].download);
        }
        then = now;
      }
      const uint64_t at_least = counted.load(std::memory_order_acquire);
      const Traffic total = table.total();
      ASSERT_GE(total.upload, at_least);
      ASSERT_LE(total.upload, begun.load(std::memory_order_acquire));
      ASSERT_GE(total.upload, total_before.upload);
      ASSERT_GE(total.download, total_before.download);
      total_before = total;
    }
  });
  uint64_t bytes = 0;
  for (uint32_t round = 0; round < kRounds; ++round) {
    for (uint32_t u = 0; u < kUsers; ++u) {
      TrafficTable::Cell* c = table.take(u % 2, u, round % 3);
      for (uint32_t packet = 0; packet < 4; ++packet) {
        begun.store(bytes + 1500, std::memory_order_release);
        c->upload.add(1500);
        c->download.add(40);
        bytes += 1500;
        counted.store(bytes, std::memory_order_release);
      }
      table.give_back(c);
    }
  }
  over.store(true, std::memory_order_release);
  reader.join();
  EXPECT_EQ(table.cells(), TrafficTable::kBound);
  EXPECT_EQ(table.total(), (Traffic{bytes, bytes / 1500 * 40}));
  for (const Traffic& t : table.sums(Dimension::kUser)) {
    ASSERT_EQ(t, (Traffic{uint64_t{kRounds} * 4 * 1500, uint64_t{kRounds} * 4 * 40}));
  }
}

}  // namespace
}  // namespace culvert::stats
