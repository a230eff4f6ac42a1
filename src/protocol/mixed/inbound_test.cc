#include "protocol/mixed/inbound.h"

#include <gtest/gtest.h>

#include <string>

#include "flow/testing/twins.h"
#include "rt/testing/sim.h"

namespace culvert::protocol::mixed {
namespace {

using namespace std::chrono_literals;
using flow::testing::MemoryStream;

// What reached which of the two inbounds.
struct Served {
  std::string by;
  std::string unread;
  flow::AcceptInfo info;
  flow::FlowSink* sink = nullptr;
};
std::vector<Served> served;

class FakeInbound final : public flow::Inbound {
 public:
  explicit FakeInbound(const char* name) : name_(name) {}
  flow::Task<void> serve(flow::StreamPtr stream, flow::AcceptInfo info,
                         flow::FlowSink& sink) override {
    const Result<MutableBytes> bytes = co_await rt::read_some(*stream, info.deadline);
    served.push_back({name_, bytes.ok() ? std::string(as_text(*bytes)) : "", info, &sink});
  }

 private:
  const char* name_;
};

std::unique_ptr<flow::Inbound> make_fake_socks(const flow::Options*, const flow::BuildContext&) {
  return std::make_unique<FakeInbound>("socks");
}
std::unique_ptr<flow::Inbound> make_fake_http(const flow::Options*, const flow::BuildContext&) {
  return std::make_unique<FakeInbound>("http");
}

class MixedInboundTest : public ::testing::Test {
 protected:
  MixedInboundTest() {
    served.clear();
    registry.add(flow::InboundKind{.name = "http", .make = &make_fake_http});
    registry.add(flow::InboundKind{.name = "socks", .make = &make_fake_socks});
    context.registry = &registry;
    inbound = make_inbound(nullptr, context);
  }
  ~MixedInboundTest() override {
    worker.scope().cancel();
    settle();
  }
  MemoryStream* connect() {
    auto stream = std::make_unique<MemoryStream>();
    MemoryStream* client = stream.get();
    flow::AcceptInfo info;
    info.inbound_port = 7890;
    info.inbound = 2;
    info.deadline = world.now() + 10s;
    worker.scope().spawn("serve", inbound->serve(std::move(stream), info, sink));
    return client;
  }
  void settle() {
    while (worker.turn(TimePoint::min())) {
    }
  }
  rt::sim::World world{1};
  rt::Worker& worker = world.add_worker();
  rt::Worker::Enter enter{worker};
  flow::Registry registry;
  flow::BuildContext context;
  std::unique_ptr<flow::Inbound> inbound;
  flow::testing::TestSink sink;
};

TEST_F(MixedInboundTest, TheFirstByteTells) {
  for (int byte = 0; byte < 256; ++byte) {
    served.clear();
    MemoryStream* client = connect();
    EXPECT_TRUE(served.empty());
    client->feed(std::string(1, static_cast<char>(byte)));
    settle();
    ASSERT_EQ(served.size(), 1u);
    EXPECT_EQ(served[0].by, byte == 4 || byte == 5 ? "socks" : "http") << byte;
    EXPECT_EQ(served[0].unread, std::string(1, static_cast<char>(byte))) << "it stays unread";
  }
  EXPECT_EQ(worker.scope().running(), 0u);
}

TEST_F(MixedInboundTest, AllThatIsKnownGoesOn) {
  MemoryStream* client = connect();
  const TimePoint deadline = world.now() + 10s;
  client->feed("GET / HTTP/1.1\r\n");
  settle();
  ASSERT_EQ(served.size(), 1u);
  EXPECT_EQ(served[0].unread, "GET / HTTP/1.1\r\n");
  EXPECT_EQ(served[0].info.inbound_port, 7890);
  EXPECT_EQ(served[0].info.inbound, 2u);
  EXPECT_EQ(served[0].info.deadline, deadline);
  EXPECT_EQ(served[0].sink, &sink);
}

TEST_F(MixedInboundTest, SilenceEndsAtTheDeadline) {
  connect();
  world.run_for(9900ms);
  EXPECT_EQ(worker.scope().running(), 1u);
  world.run_for(200ms);
  EXPECT_EQ(worker.scope().running(), 0u);
  EXPECT_TRUE(served.empty());
}

TEST_F(MixedInboundTest, AClientThatLeavesIsServedByNobody) {
  MemoryStream* client = connect();
  client->feed_end();
  settle();
  EXPECT_EQ(worker.scope().running(), 0u);
  EXPECT_TRUE(served.empty());
}

TEST(MixedInbound, NeedsBothKinds) {
  flow::Registry registry;
  flow::BuildContext context;
  context.registry = &registry;
  EXPECT_EQ(make_inbound(nullptr, context), nullptr);
  registry.add(flow::InboundKind{.name = "socks", .make = &make_fake_socks});
  EXPECT_EQ(make_inbound(nullptr, context), nullptr);
  registry.add(flow::InboundKind{.name = "http", .make = &make_fake_http});
  EXPECT_NE(make_inbound(nullptr, context), nullptr);
  register_protocol(registry);
  ASSERT_NE(registry.inbound("mixed"), nullptr);
  EXPECT_EQ(registry.inbound("mixed")->make, &make_inbound);
}

}  // namespace
}  // namespace culvert::protocol::mixed
