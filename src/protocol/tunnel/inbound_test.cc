#include "protocol/tunnel/inbound.h"

#include <gtest/gtest.h>

#include "flow/testing/lent_stream.h"
#include "flow/testing/twins.h"
#include "flow/tunnel_options.h"
#include "rt/testing/sim.h"

namespace culvert::protocol::tunnel {
namespace {

using namespace std::chrono_literals;
using flow::testing::LentStream;
using flow::testing::MemoryStream;

class TunnelInboundTest : public ::testing::Test {
 protected:
  ~TunnelInboundTest() override {
    worker.scope().cancel();
    settle();
    sink.relays.abort_all();
  }
  void connect() { connect(client); }
  void connect(MemoryStream& stream) {
    flow::Registry registry;
    register_protocol(registry);
    inbound = registry.inbound("tunnel")->make(&target, {});
    flow::AcceptInfo info;
    info.source = Endpoint(*IpAddress::parse("192.0.2.100"), 4711);
    info.inbound_port = 6553;
    info.inbound = 3;
    info.deadline = world.now() + 10s;
    worker.scope().spawn("serve", inbound->serve(std::make_unique<LentStream>(stream), info, sink));
    settle();
  }
  void settle() {
    while (worker.turn(TimePoint::min())) {
    }
  }

  rt::sim::World world{1};
  rt::Worker& worker = world.add_worker();
  rt::Worker::Enter enter{worker};
  flow::TunnelTarget target;
  std::unique_ptr<flow::Inbound> inbound;
  MemoryStream client;
  flow::testing::TestSink sink;
};

TEST_F(TunnelInboundTest, LeadsToAName) {
  target.host = "a.example";
  target.port = 53;
  client.feed("early");
  connect();
  ASSERT_EQ(sink.opened.size(), 1u);
  EXPECT_EQ(sink.opened[0].destination, "a.example:53");
  const flow::FlowMeta& meta = sink.opened[0].meta;
  EXPECT_EQ(meta.inbound_type, flow::InboundType::kTunnel);
  EXPECT_EQ(meta.source.to_string(), "192.0.2.100:4711");
  EXPECT_EQ(meta.inbound_port, 6553);
  EXPECT_EQ(meta.inbound, 3u);
  EXPECT_EQ(meta.user, flow::kNoUser);
  EXPECT_FALSE(meta.destination.ip.valid());
  EXPECT_EQ(sink.upstream(0)->take_written(), "early");
  sink.upstream(0)->feed("answer");
  settle();
  EXPECT_EQ(client.take_written(), "answer");
  EXPECT_FALSE(client.closed());
}

TEST_F(TunnelInboundTest, LeadsToAnAddress) {
  target.ip = *IpAddress::parse("2001:db8::1");
  target.port = 443;
  connect();
  ASSERT_EQ(sink.opened.size(), 1u);
  EXPECT_EQ(sink.opened[0].destination, "[2001:db8::1]:443");
  EXPECT_EQ(sink.opened[0].meta.host_length, 0);
}

// The flow does not begin with the client's first byte: some servers speak first.
TEST_F(TunnelInboundTest, OpensBeforeTheClientSpeaks) {
  target.host = "a.example";
  target.port = 22;
  connect();
  ASSERT_EQ(sink.opened.size(), 1u);
  sink.upstream(0)->feed("SSH-2.0-x\r\n");
  settle();
  EXPECT_EQ(client.take_written(), "SSH-2.0-x\r\n");
}

TEST_F(TunnelInboundTest, AFailureIsAReset) {
  target.host = "a.example";
  target.port = 22;
  for (const Error error : {Error(Errc::kRefused, Side::kUpstream), Error(Errc::kRejected)}) {
    auto fresh = std::make_unique<MemoryStream>();
    sink.dial = [error](const flow::FlowMeta&) { return Result<flow::StreamPtr>(error); };
    connect(*fresh);
    EXPECT_TRUE(fresh->aborted());
    EXPECT_EQ(fresh->take_written(), "");
  }
  EXPECT_EQ(sink.live_trackers, 0u);
}

// REJECT-DROP: whoever waited in silence is let go without a word.
TEST_F(TunnelInboundTest, SilenceEndsInOrder) {
  target.host = "a.example";
  target.port = 22;
  sink.dial = [](const flow::FlowMeta&) {
    return Result<flow::StreamPtr>(Error(Errc::kRejected, Side::kLocal, true));
  };
  connect();
  EXPECT_FALSE(client.aborted());
  EXPECT_TRUE(client.closed());
}

TEST_F(TunnelInboundTest, ATargetIsNeeded) {
  EXPECT_EQ(make_inbound(nullptr, {}), nullptr);
}

}  // namespace
}  // namespace culvert::protocol::tunnel
