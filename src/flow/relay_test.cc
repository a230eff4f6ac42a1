#include "flow/relay.h"

#include <gtest/gtest.h>

#include <csignal>

#include "flow/testing/twins.h"
#include "rt/testing/net.h"
#include "rt/testing/sim.h"

namespace culvert::flow {
namespace {

using namespace std::chrono_literals;
using testing::MemoryStream;

class RelayTest : public ::testing::Test {
 protected:
  void start() {
    auto c = std::make_unique<MemoryStream>();
    auto u = std::make_unique<MemoryStream>();
    client = c.get();
    upstream = u.get();
    relays.start(std::move(c), Upstream{std::move(u), nullptr});
  }
  rt::sim::World world{1};
  rt::Worker& worker = world.add_worker();
  rt::Worker::Enter enter{worker};
  Relays relays;
  MemoryStream* client = nullptr;
  MemoryStream* upstream = nullptr;
};

TEST_F(RelayTest, MovesBytesBothWays) {
  start();
  EXPECT_EQ(worker.load(), 1u);
  client->feed("up");
  upstream->feed("down");
  EXPECT_EQ(upstream->take_written(), "up");
  EXPECT_EQ(client->take_written(), "down");
}

TEST_F(RelayTest, SendsWhatWasAlreadyThere) {
  auto c = std::make_unique<MemoryStream>();
  auto u = std::make_unique<MemoryStream>();
  c->feed("early data");
  upstream = u.get();
  relays.start(std::move(c), Upstream{std::move(u), nullptr});
  EXPECT_EQ(upstream->take_written(), "early data");
}

TEST_F(RelayTest, PassesOneEndOnAndGoesOnWithTheOther) {
  start();
  client->feed("request");
  client->feed_end();
  EXPECT_EQ(upstream->take_written(), "request");
  EXPECT_TRUE(upstream->ended());
  EXPECT_FALSE(client->ended());
  upstream->feed("the whole answer");
  EXPECT_EQ(client->take_written(), "the whole answer");
  EXPECT_EQ(relays.size(), 1u);
  upstream->feed_end();
  EXPECT_EQ(relays.size(), 0u);
  EXPECT_EQ(worker.load(), 0u);
}

// K26, second part: the client is gone, the origin neither sends nor closes.
TEST_F(RelayTest, AHalfClosedRelayLingersForThirtySilentSeconds) {
  start();
  client->feed_end();
  world.run_for(29s);
  ASSERT_EQ(relays.size(), 1u);
  upstream->feed("x");  // counted anew from every byte
  world.run_for(29s);
  ASSERT_EQ(relays.size(), 1u);
  world.run_for(2s);
  EXPECT_EQ(relays.size(), 0u);
}

TEST_F(RelayTest, AnOpenRelayHasNoTimer) {
  start();
  EXPECT_EQ(worker.next_timer(), kNever);
  world.run_for(100h);
  EXPECT_EQ(relays.size(), 1u);
}

TEST_F(RelayTest, AResetOnEitherSideResetsBoth) {
  start();
  client->break_with(Errc::kReset);
  EXPECT_EQ(relays.size(), 0u);
  start();
  upstream->break_with(Errc::kReset);
  EXPECT_EQ(relays.size(), 0u);
}

TEST_F(RelayTest, AShortWriteKeepsTheRest) {
  start();
  upstream->write_room = 3;
  client->feed("abcdef");
  EXPECT_EQ(upstream->take_written(), "abc");
  EXPECT_EQ(client->unread(), 3u) << "the rest stays where it was";
  upstream->add_room(100);
  EXPECT_EQ(upstream->take_written(), "def");
  client->feed_end();
  EXPECT_TRUE(upstream->ended());
}

TEST_F(RelayTest, TheEndWaitsForBytesBeforeIt) {
  start();
  upstream->write_room = 0;
  client->feed("last");
  client->feed_end();
  EXPECT_FALSE(upstream->ended());
  upstream->add_room(100);
  EXPECT_EQ(upstream->take_written(), "last");
  EXPECT_TRUE(upstream->ended());
}

TEST_F(RelayTest, AFatFlowYields) {
  start();
  client->read_limit = 64 << 10;
  client->feed(std::string(3 << 20, 'x'));
  // One turn moves a bounded amount; the rest follows by itself.
  EXPECT_EQ(upstream->take_written().size(), size_t{1} << 20);
  world.run_until_idle(1s);
  EXPECT_EQ(upstream->take_written().size(), size_t{2} << 20);
}

TEST_F(RelayTest, CountsForItsTracker) {
  testing::TestSink sink;
  FlowMeta meta;
  struct Run {
    static Task<void> go(testing::TestSink& s, FlowMeta& m, MemoryStream** client) {
      Result<Upstream> up = co_await s.open(m);
      auto c = std::make_unique<MemoryStream>();
      *client = c.get();
      s.relay(std::move(c), *std::move(up));
    }
  };
  worker.scope().spawn("open", Run::go(sink, meta, &client));
  client->feed("12345");
  sink.upstream(0)->feed("123");
  EXPECT_EQ(sink.live_trackers, 1u);
  client->feed_end();
  sink.upstream(0)->feed_end();
  EXPECT_EQ(sink.live_trackers, 0u);
  EXPECT_EQ(sink.uploaded, 5u);
  EXPECT_EQ(sink.downloaded, 3u);
}

// ---------------------------------------------------------------- over the simulated network

struct Ends {
  std::string up_got, down_got;
  Errc up_end{}, down_end{}, sent{}, answered{};
};

Task<void> answer_after_request(Stream& s, std::string answer, Ends* ends) {
  co_await rt::testing::read_all(s, &ends->up_got, &ends->up_end, kNever);
  co_await rt::testing::send_all(s, std::move(answer), true, &ends->answered, kNever);
}

// A relay between two simulated hosts, under faults: either everything arrives whole and in order,
// or the break is seen; and nothing leaks.
void run_scenario(uint64_t seed, double reset, bool* broken) {
  rt::sim::Faults faults;
  faults.short_read = 0.3;
  faults.short_write = 0.3;
  faults.reset = reset;
  faults.window = 20'000;
  rt::sim::World world(seed, faults);
  rt::Worker& worker = world.add_worker();
  rt::Worker::Enter enter(worker);
  const Endpoint proxy(IpAddress::v4(0x0a000002), 1), origin(IpAddress::v4(0x0a000003), 2);
  rt::testing::Accepted at_proxy(worker), at_origin(worker);
  auto l1 = worker.backend().listen(proxy, {}, at_proxy);
  auto l2 = worker.backend().listen(origin, {}, at_origin);
  ASSERT_TRUE(l1.ok() && l2.ok());
  auto client = *worker.backend().connect(proxy, {});
  auto outgoing = *worker.backend().connect(origin, {});
  ASSERT_TRUE(world.run_until(
      [&] {
        return !at_proxy.streams.empty() && !at_origin.streams.empty() && outgoing->opened().ok();
      },
      1h));
  Relays relays;
  relays.start(std::move(at_proxy.streams[0]), Upstream{std::move(outgoing), nullptr});
  const std::string request = rt::testing::pattern(70'000, seed);
  const std::string answer = rt::testing::pattern(300'000, seed + 1);
  Ends ends;
  worker.scope().spawn("client writes",
                       rt::testing::send_all(*client, request, true, &ends.sent, kNever));
  worker.scope().spawn("client reads", rt::testing::read_slowly(*client, 5'000, 3ms, &ends.down_got,
                                                                &ends.down_end));
  worker.scope().spawn("origin", answer_after_request(*at_origin.streams[0], answer, &ends));
  ASSERT_TRUE(world.run_until([&] { return worker.scope().running() == 0; }, 24h))
      << "seed " << seed;
  if (ends.down_end == Errc::kEndOfStream) {
    EXPECT_TRUE(ends.down_got == answer)
        << "seed " << seed << ": an orderly end after a broken answer";
    EXPECT_TRUE(ends.up_got == request) << "seed " << seed;
  } else {
    *broken = true;
    EXPECT_EQ(ends.down_end, Errc::kReset) << "seed " << seed;
    EXPECT_EQ(answer.compare(0, ends.down_got.size(), ends.down_got), 0) << "seed " << seed;
  }
  client.reset();
  at_origin.streams.clear();
  world.run_until_idle(10min);
  EXPECT_EQ(relays.size(), 0u) << "seed " << seed;
  EXPECT_EQ(world.open_streams(), 0u) << "seed " << seed;
  EXPECT_EQ(worker.buffers().in_use(), 0u) << "seed " << seed;
}

TEST(RelaySim, IsFaithfulUnderFaults) {
  int broken = 0;
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    bool b = false;
    run_scenario(seed, seed % 2 == 0 ? 0.002 : 0, &b);
    broken += b ? 1 : 0;
    if (seed % 2 == 1) {
      EXPECT_FALSE(b) << "seed " << seed;
    }
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(broken, 3) << "the faults were never injected";
}

// Bytes that were received for a copy and wait for room come before those that a pipe would carry.
class SpliceableStream final : public MemoryStream {
 public:
  // What was received, as a socket has it, and not all that was fed.
  Result<MutableBytes> lend() override {
    Result<MutableBytes> bytes = MemoryStream::lend();
    unread_ = bytes.ok() ? bytes->size() : 0;
    return bytes;
  }
  void consume(size_t n) override {
    unread_ -= n;
    MemoryStream::consume(n);
  }
  size_t unread() const override { return unread_; }
  bool can_splice() const override { return true; }
  Result<size_t> splice_in(rt::Pipe&) override {
    EXPECT_EQ(unread(), 0u) << "the pipe overtakes bytes that wait";
    ++fills;
    return Errc::kWouldBlock;
  }
  int fills = 0;

 private:
  size_t unread_ = 0;
};

TEST_F(RelayTest, APipeOvertakesNoBytesThatWaitForRoom) {
  auto c = std::make_unique<SpliceableStream>();
  auto u = std::make_unique<SpliceableStream>();
  SpliceableStream* from = c.get();
  SpliceableStream* to = u.get();
  relays.start(std::move(c), Upstream{std::move(u), nullptr});
  from->read_limit = 64 << 10;
  // Room for one read, which makes the direction bulk, and for half of the next.
  to->write_room = 96 << 10;
  const std::string bulk = rt::testing::pattern(128 << 10, 5);
  from->feed(bulk);
  EXPECT_EQ(from->fills, 0);
  to->add_room(1 << 20);
  EXPECT_TRUE(to->take_written() == bulk);
  // Once nothing waits, the pipe is next.
  from->feed("more");
  EXPECT_EQ(from->fills, 1);
}

// ---------------------------------------------------------------- over the kernel's sockets

// client <-> relay <-> origin, each connection over loopback; bulk goes through pipes.
class RelayPipes : public ::testing::Test {
 protected:
  void SetUp() override {
    std::signal(SIGPIPE, SIG_IGN);
    rt::Worker::Enter enter(worker());
    tracker_.meta.outbound = 0;
    tracker_.end = [](FlowTracker&) {};
    connect(client_, inner_);
    connect(outer_, origin_);
    tracker_.cell = &cell_;
    relays_.start(std::move(inner_), Upstream{std::move(outer_), TrackerPtr(&tracker_)});
  }
  void TearDown() override {
    rt::Worker::Enter enter(worker());
    relays_.abort_all();
    client_.reset();
    origin_.reset();
    worker().pipes().trim();
    EXPECT_EQ(worker().pipes().lent(), 0u);
    EXPECT_EQ(worker().buffers().in_use(), 0u);
  }
  rt::Worker& worker() { return net_->worker(); }
  void connect(StreamPtr& dialled, StreamPtr& taken) {
    rt::testing::Accepted accepted(worker());
    auto listener = worker().backend().listen(net_->loopback(), {}, accepted);
    ASSERT_TRUE(listener.ok());
    auto stream = worker().backend().connect((*listener)->local(), {});
    ASSERT_TRUE(stream.ok());
    dialled = *std::move(stream);
    ASSERT_TRUE(
        net_->run_until([&] { return !accepted.streams.empty() && dialled->opened().ok(); }));
    taken = std::move(accepted.streams.front());
  }
  void spawn(Task<void> task) {
    rt::Worker::Enter enter(worker());
    worker().scope().spawn("end", std::move(task));
  }

  std::unique_ptr<rt::testing::Net> net_ = rt::testing::make_net("epoll");
  Relays relays_;
  TrafficSum cell_;
  FlowTracker tracker_;
  StreamPtr client_, inner_, outer_, origin_;
};

TEST_F(RelayPipes, CarryBulkBothWaysWholeAndCounted) {
  const std::string up = rt::testing::pattern(20'000'001, 1);
  const std::string down = rt::testing::pattern(30'000'003, 2);
  std::string got_up, got_down;
  Errc end_up{}, end_down{}, sent_up{}, sent_down{};
  size_t most_lent = 0;
  spawn(rt::testing::send_all(*client_, up, true, &sent_up, kNever));
  spawn(rt::testing::send_all(*origin_, down, true, &sent_down, kNever));
  spawn(rt::testing::read_all(*origin_, &got_up, &end_up, kNever));
  spawn(rt::testing::read_all(*client_, &got_down, &end_down, kNever));
  ASSERT_TRUE(net_->run_until([&] {
    most_lent = std::max(most_lent, worker().pipes().lent() + worker().pipes().cached());
    return worker().scope().running() == 0;
  }));
  EXPECT_TRUE(got_up == up);
  EXPECT_TRUE(got_down == down);
  EXPECT_EQ(end_up, Errc::kEndOfStream);
  EXPECT_EQ(end_down, Errc::kEndOfStream);
  EXPECT_EQ(tracker_.upload.value(), up.size());
  EXPECT_EQ(tracker_.download.value(), down.size());
  EXPECT_GE(most_lent, 1u) << "no byte went through a pipe";
  EXPECT_EQ(relays_.size(), 0u);
}

TEST_F(RelayPipes, AreGivenBackWhenAFlowPauses) {
  const std::string bulk = rt::testing::pattern(8'000'000, 3);
  std::string got;
  Errc sent{};
  spawn(rt::testing::send_all(*client_, bulk, false, &sent, kNever));
  struct Read {
    static Task<void> some(Stream& s, size_t n, std::string* out) {
      while (out->size() < n) {
        const Result<MutableBytes> bytes = s.lend();
        if (bytes.ok()) {
          out->append(reinterpret_cast<const char*>(bytes->data()), bytes->size());
          s.consume(bytes->size());
        } else {
          const Status more = co_await rt::readable(s, kNever);
          if (!more.ok()) co_return;
        }
      }
    }
  };
  spawn(Read::some(*origin_, bulk.size(), &got));
  ASSERT_TRUE(net_->run_until([&] { return worker().scope().running() == 0; }));
  EXPECT_TRUE(got == bulk);
  net_->settle();
  EXPECT_EQ(worker().pipes().lent(), 0u);
  EXPECT_EQ(worker().buffers().in_use(), 0u);
  EXPECT_EQ(relays_.size(), 1u);

  // Small bytes still pass, in both directions and in order.
  for (int i = 0; i < 40; ++i) {
    got.clear();
    const std::string ping = "ping " + std::to_string(i);
    spawn(rt::testing::send_all(*client_, ping, false, &sent, kNever));
    spawn(Read::some(*origin_, ping.size(), &got));
    ASSERT_TRUE(net_->run_until([&] { return worker().scope().running() == 0; }));
    EXPECT_EQ(got, ping);
  }
}

TEST_F(RelayPipes, ABrokenReaderBreaksTheOtherSideWhateverIsInThePipe) {
  Errc sent{};
  spawn(rt::testing::send_all(*client_, rt::testing::pattern(64 << 20, 4), false, &sent, kNever));
  // The origin reads nothing: the pipe fills, and stays filled.
  ASSERT_TRUE(net_->run_until([&] { return worker().pipes().lent() == 1; }));
  net_->settle();
  EXPECT_EQ(worker().pipes().lent(), 1u);
  EXPECT_GE(worker().buffers().in_use(), rt::Pipe::kCapacity);
  {
    rt::Worker::Enter enter(worker());
    origin_->abort();
  }
  ASSERT_TRUE(net_->run_until([&] { return worker().scope().running() == 0; }));
  EXPECT_EQ(sent, Errc::kReset);
  EXPECT_EQ(relays_.size(), 0u);
  EXPECT_EQ(worker().pipes().lent(), 0u);
}

}  // namespace
}  // namespace culvert::flow
