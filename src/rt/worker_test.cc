#include "rt/worker.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "rt/await.h"
#include "rt/background.h"
#include "rt/cpus.h"
#include "rt/epoll_backend.h"

namespace culvert::rt {
namespace {

using namespace std::chrono_literals;

std::unique_ptr<Worker> make_worker(ByteBudget& budget) {
  return std::make_unique<Worker>(
      Worker::Options{0, make_epoll_backend(), std::make_unique<SystemRng>(), &budget});
}

// Four threads post while the worker runs: every message runs once, each sender's in order.
TEST(RtWorker, MailboxKeepsEverySendersOrder) {
  constexpr int kSenders = 4, kEach = 5000;
  ByteBudget budget(1 << 20);
  auto worker = make_worker(budget);
  std::vector<std::vector<int>> got(kSenders);
  std::atomic<int> received{0};
  std::thread loop([&] { worker->run(); });
  std::vector<std::thread> senders;
  for (int s = 0; s < kSenders; ++s) {
    senders.emplace_back([&, s] {
      for (int i = 0; i < kEach; ++i) {
        worker->post([&, s, i] {
          got[static_cast<size_t>(s)].push_back(i);
          if (++received == kSenders * kEach) worker->stop();
        });
      }
    });
  }
  for (auto& t : senders) t.join();
  loop.join();
  for (const auto& list : got) {
    ASSERT_EQ(list.size(), static_cast<size_t>(kEach));
    for (int i = 0; i < kEach; ++i) ASSERT_EQ(list[static_cast<size_t>(i)], i);
  }
}

TEST(RtWorker, WorkersHandConnectionsToEachOther) {
  ByteBudget budget(1 << 20);
  auto a = make_worker(budget);
  auto b = make_worker(budget);
  struct Pass final : Acceptor {
    explicit Pass(Worker& w) : to(w) {}
    void accepted(AcceptedSocket socket) override {
      to.post([s = std::move(socket), this]() mutable {
        auto stream = Worker::here().backend().adopt(std::move(s));
        if (stream.ok()) {
          const Result<size_t> n = (*stream)->write(as_bytes("from b"));
          adopted_by = n.ok() ? &Worker::here() : nullptr;
        }
      });
    }
    Worker& to;
    std::atomic<Worker*> adopted_by{nullptr};
  } pass(*b);
  std::unique_ptr<Listener> listener;
  std::unique_ptr<Stream> client;
  {
    Worker::Enter enter(*a);
    auto l = a->backend().listen({IpAddress::v4(0x7f000001), 0}, {}, pass);
    ASSERT_TRUE(l.ok());
    listener = *std::move(l);
    auto c = a->backend().connect(listener->local(), {});
    ASSERT_TRUE(c.ok());
    client = *std::move(c);
  }
  std::thread tb([&] { b->run(); });
  std::string got;
  {
    Worker::Enter enter(*a);
    const TimePoint limit = system_clock().now() + 20s;
    while (got.size() < 6 && system_clock().now() < limit) {
      a->turn(system_clock().now() + 50ms);
      if (const auto bytes = client->lend(); bytes.ok()) {
        got += as_text(*bytes);
        client->consume(bytes->size());
      }
    }
    client.reset();
    listener.reset();
  }
  b->stop();
  tb.join();
  EXPECT_EQ(got, "from b");
  EXPECT_EQ(pass.adopted_by.load(), b.get());
}

TEST(RtWorker, AnIdleWorkerSleeps) {
  ByteBudget budget(1 << 20);
  auto worker = make_worker(budget);
  Worker::Enter enter(*worker);
  EXPECT_EQ(worker->next_timer(), kNever);
  EXPECT_FALSE(worker->has_ready());
  const TimePoint before = system_clock().now();
  EXPECT_FALSE(worker->turn(before + 20ms));
  EXPECT_GE(system_clock().now(), before + 20ms);
}

TEST(RtBufferPool, StaysInsideTheBudgetAndWakesParkedReaders) {
  ByteBudget budget(4 << 20);
  auto worker = make_worker(budget);
  Worker::Enter enter(*worker);
  BufferPool& pool = worker->buffers();
  EXPECT_EQ(pool.suggest(BufferPool::kLargest), BufferPool::kLargest);
  std::vector<Buffer> held;
  for (;;) {
    Buffer b = pool.try_acquire(BufferPool::kLargest);
    if (!b) break;
    held.push_back(b);
  }
  EXPECT_LE(pool.in_use(), budget.limit());
  EXPECT_GE(pool.in_use(), budget.limit() / 10 * 8);
  EXPECT_LT(pool.suggest(BufferPool::kLargest), BufferPool::kLargest) << "reads shrink";
  struct Wake : Waiter {
    Wake() : Waiter(&Wake::on) {}
    static void on(Waiter& w) { ++static_cast<Wake&>(w).fired; }
    int fired = 0;
  } wake;
  BufferPool::Parked parked;
  parked.waiter = &wake;
  pool.park(parked);
  for (Buffer& b : held) pool.release(b);
  const TimePoint limit = system_clock().now() + 10s;
  while (wake.fired == 0 && system_clock().now() < limit) worker->turn(system_clock().now() + 20ms);
  EXPECT_EQ(wake.fired, 1);
  pool.trim();
  EXPECT_EQ(pool.cached(), 0u);
  EXPECT_EQ(budget.leased(), 0u);
}

TEST(RtBackground, RunsInOrderAndDrainsOnStop) {
  std::vector<int> got;
  {
    Background background;
    for (int i = 0; i < 100; ++i) {
      ASSERT_TRUE(background.submit([&got, i] { got.push_back(i); }));
    }
    background.stop();
    EXPECT_FALSE(background.submit([] {}));
  }
  ASSERT_EQ(got.size(), 100u);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(got[static_cast<size_t>(i)], i);
}

TEST(RtCpus, AtLeastOne) {
  EXPECT_GE(usable_cpus(), 1u);
}

}  // namespace
}  // namespace culvert::rt
