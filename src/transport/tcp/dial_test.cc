#include "transport/tcp/dial.h"

#include <gtest/gtest.h>

#include "rt/testing/net.h"
#include "rt/testing/sim.h"

namespace culvert::transport {
namespace {

using namespace std::chrono_literals;

IpAddress ip(const char* text) {
  return *IpAddress::parse(text);
}

flow::AddressList list(std::initializer_list<const char*> items) {
  flow::AddressList out;
  for (const char* i : items) out.add(ip(i));
  return out;
}

rt::Task<void> dial(flow::AddressList addresses, TimePoint deadline, Errc* code, Endpoint* won,
                    TimePoint* when) {
  Result<flow::StreamPtr> stream =
      co_await dial_any(addresses, 80, rt::ConnectOptions(), kAttemptDelay, deadline);
  *code = stream.code();
  if (stream.ok()) *won = (*stream)->remote();
  *when = rt::Worker::here().now();
}

class DialTest : public ::testing::Test {
 protected:
  void listen(const char* address) {
    auto l = worker.backend().listen(Endpoint(ip(address), 80), {}, accepted);
    ASSERT_TRUE(l.ok());
    listeners.push_back(*std::move(l));
  }
  void run(const flow::AddressList& addresses, Duration limit = 5s) {
    begun = world.now();
    code = Errc::kWouldBlock;
    worker.scope().spawn("dial", dial(addresses, worker.now() + limit, &code, &won, &when));
    ASSERT_TRUE(world.run_until([&] { return code != Errc::kWouldBlock; }, 1min));
  }
  rt::sim::World world{3};
  rt::Worker& worker = world.add_worker();
  rt::Worker::Enter enter{worker};
  rt::testing::Accepted accepted{worker};
  std::vector<std::unique_ptr<rt::Listener>> listeners;
  Errc code{};
  Endpoint won;
  TimePoint begun, when;
};

TEST(Interleave, FamiliesAlternateFromTheFirst) {
  const flow::AddressList in = list({"2001:db8::1", "2001:db8::2", "192.0.2.1", "192.0.2.2"});
  std::string out;
  const flow::AddressList mixed = interleave(in);
  for (const IpAddress& a : mixed.view()) out += a.to_string() + " ";
  EXPECT_EQ(out, "2001:db8::1 192.0.2.1 2001:db8::2 192.0.2.2 ");
  EXPECT_EQ(interleave({}).size(), 0u);
}

TEST_F(DialTest, ARefusedAddressIsFollowedAtOnce) {
  listen("192.0.2.2");
  run(list({"192.0.2.1", "192.0.2.2"}));
  EXPECT_EQ(code, Errc::kNone);
  EXPECT_EQ(won.ip, ip("192.0.2.2"));
  EXPECT_LT(when - begun, 100ms);
}

TEST_F(DialTest, ASilentAddressIsFollowedAfter250ms) {
  world.faults().blackhole = 1;  // the first attempt
  listen("192.0.2.2");
  begun = world.now();
  code = Errc::kWouldBlock;
  worker.scope().spawn(
      "dial", dial(list({"192.0.2.1", "192.0.2.2"}), worker.now() + 5s, &code, &won, &when));
  world.faults().blackhole = 0;
  ASSERT_TRUE(world.run_until([&] { return code != Errc::kWouldBlock; }, 1min));
  EXPECT_EQ(code, Errc::kNone);
  EXPECT_EQ(won.ip, ip("192.0.2.2"));
  EXPECT_GE(when - begun, kAttemptDelay);
  EXPECT_LT(when - begun, kAttemptDelay + 50ms);
  accepted.streams.clear();
  world.run_until_idle(1min);
  EXPECT_EQ(world.open_streams(), 0u) << "the loser was cancelled";
}

TEST_F(DialTest, AllRefusedIsRefusedAndAllSilentTimesOut) {
  run(list({"192.0.2.1", "192.0.2.2", "2001:db8::1"}));
  EXPECT_EQ(code, Errc::kRefused);
  world.faults().blackhole = 1;
  run(list({"192.0.2.1", "192.0.2.2"}), 2s);
  EXPECT_EQ(code, Errc::kTimedOut);
  EXPECT_GE(when - begun, 2s);
  EXPECT_LT(when - begun, 2100ms);
  EXPECT_EQ(world.open_streams(), 0u);
}

TEST_F(DialTest, CancellationEndsTheRace) {
  world.faults().blackhole = 1;
  rt::Scope scope(&worker.scope());
  code = Errc::kWouldBlock;
  scope.spawn("dial",
              dial(list({"192.0.2.1", "192.0.2.2"}), worker.now() + 5s, &code, &won, &when));
  world.run_for(300ms);
  EXPECT_EQ(world.open_streams(), 2u);
  scope.cancel();
  ASSERT_TRUE(world.run_until([&] { return scope.running() == 0; }, 1s));
  EXPECT_EQ(code, Errc::kCancelled);
  EXPECT_EQ(world.open_streams(), 0u);
}

}  // namespace
}  // namespace culvert::transport
