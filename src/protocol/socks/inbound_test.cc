#include "protocol/socks/inbound.h"

#include <gtest/gtest.h>

#include <string>

#include "flow/testing/twins.h"
#include "rt/testing/sim.h"

namespace culvert::protocol::socks {
namespace {

using namespace std::chrono_literals;
using namespace std::string_literals;
using flow::testing::MemoryStream;

const std::string kGreeting = "\x05\x01\x00"s;
const std::string kConnect = "\x05\x01\x00\x03\x09"s + "a.example" + "\x00\x50"s;
const std::string kZeroBound = "\x00\x01\x00\x00\x00\x00\x00\x00"s;
const std::string kGranted4 = "\x00\x5a\x00\x00\x00\x00\x00\x00"s;
const std::string kRefused4 = "\x00\x5b\x00\x00\x00\x00\x00\x00"s;

std::string reply5(char code) {
  return "\x05"s + code + kZeroBound;
}

// The client is played by the test. Its stream is gone once the connection is over, so what was
// written is kept here.
class ClientStream final : public flow::Stream {
 public:
  struct Log {
    std::string written;
    bool gone = false;
    MemoryStream* stream = nullptr;
  };
  explicit ClientStream(Log* log) : log_(log) { log_->stream = &inner_; }
  ~ClientStream() override {
    log_->gone = true;
    log_->stream = nullptr;
  }
  Status opened() override { return inner_.opened(); }
  Result<MutableBytes> lend() override { return inner_.lend(); }
  void consume(size_t n) override { inner_.consume(n); }
  size_t unread() const override { return inner_.unread(); }
  Result<size_t> write(std::span<const iovec> data) override {
    Result<size_t> n = inner_.write(data);
    log_->written += inner_.take_written();
    return n;
  }
  Status shutdown_write() override { return inner_.shutdown_write(); }
  void close() override { inner_.close(); }
  void abort() override { inner_.abort(); }
  void wait_readable(rt::Waiter* w) override { inner_.wait_readable(w); }
  void wait_writable(rt::Waiter* w) override { inner_.wait_writable(w); }
  Endpoint local() const override { return inner_.local(); }
  Endpoint remote() const override { return inner_.remote(); }

 private:
  Log* log_;
  MemoryStream inner_;
};

class SocksInboundTest : public ::testing::Test {
 protected:
  SocksInboundTest() { inbound = make_inbound(nullptr, context); }
  ~SocksInboundTest() override {
    worker.scope().cancel();
    settle();
  }
  void connect() {
    client = {};
    auto stream = std::make_unique<ClientStream>(&client);
    flow::AcceptInfo info;
    info.source = Endpoint(*IpAddress::parse("192.0.2.100"), 4711);
    info.inbound_port = 1080;
    info.inbound = 3;
    info.deadline = world.now() + 10s;
    worker.scope().spawn("serve", inbound->serve(std::move(stream), info, sink));
  }
  void feed(std::string_view bytes) {
    ASSERT_NE(client.stream, nullptr) << "the connection is over";
    client.stream->feed(bytes);
    settle();
  }
  // Waiters resume their coroutines in the next turn; no virtual time passes.
  void settle() {
    while (worker.turn(TimePoint::min())) {
    }
  }
  std::string take() { return std::exchange(client.written, {}); }
  void fail_dials_with(Error error) {
    sink.dial = [error](const flow::FlowMeta&) { return Result<flow::StreamPtr>(error); };
  }
  [[nodiscard]] bool over() const { return client.gone && worker.scope().running() == 0; }

  rt::sim::World world{1};
  rt::Worker& worker = world.add_worker();
  rt::Worker::Enter enter{worker};
  flow::BuildContext context;
  std::unique_ptr<flow::Inbound> inbound;
  ClientStream::Log client;
  flow::testing::TestSink sink;
};

// ---------------------------------------------------------------- SOCKS5

TEST_F(SocksInboundTest, ConnectsByName) {
  connect();
  feed(kGreeting);
  EXPECT_EQ(take(), "\x05\x00"s);
  EXPECT_TRUE(sink.opened.empty());
  feed(kConnect);
  EXPECT_EQ(take(), reply5(0));
  ASSERT_EQ(sink.opened.size(), 1u);
  EXPECT_EQ(sink.opened[0].destination, "a.example:80");
  const flow::FlowMeta& meta = sink.opened[0].meta;
  EXPECT_EQ(meta.source.to_string(), "192.0.2.100:4711");
  EXPECT_EQ(meta.inbound_type, flow::InboundType::kSocks5);
  EXPECT_EQ(meta.network, flow::Network::kTcp);
  EXPECT_EQ(meta.inbound_port, 1080);
  EXPECT_EQ(meta.inbound, 3u);
  EXPECT_EQ(meta.user, flow::kNoUser);
  feed("up");
  EXPECT_EQ(sink.upstream(0)->take_written(), "up");
  sink.upstream(0)->feed("down");
  EXPECT_EQ(take(), "down");
  EXPECT_EQ(worker.scope().running(), 0u) << "the relay needs no coroutine";
}

TEST_F(SocksInboundTest, ConnectsByAddress) {
  connect();
  feed(kGreeting);
  feed("\x05\x01\x00\x01\xc6\x33\x64\x07\x01\xbb"s);
  EXPECT_EQ(take(), "\x05\x00"s + reply5(0));
  EXPECT_EQ(sink.opened.at(0).destination, "198.51.100.7:443");
  connect();
  feed(kGreeting);
  feed("\x05\x01\x00\x04\x20\x01\x0d\xb8"s + std::string(11, '\0') + "\x01\x01\xbb"s);
  EXPECT_EQ(take(), "\x05\x00"s + reply5(0));
  EXPECT_EQ(sink.opened.at(1).destination, "[2001:db8::1]:443");
}

TEST_F(SocksInboundTest, TheLongestNameFits) {
  connect();
  feed(kGreeting + "\x05\x01\x00\x03\xff"s + std::string(255, 'h') + "\x00\x50"s);
  EXPECT_EQ(take(), "\x05\x00"s + reply5(0));
  EXPECT_EQ(sink.opened.at(0).destination, std::string(255, 'h') + ":80");
}

TEST_F(SocksInboundTest, EveryByteMayComeAlone) {
  connect();
  for (const char c : kGreeting + kConnect) feed({&c, 1});
  EXPECT_EQ(take(), "\x05\x00"s + reply5(0));
  EXPECT_EQ(sink.opened.at(0).destination, "a.example:80");
}

TEST_F(SocksInboundTest, EveryByteMayBeShownAlone) {
  connect();
  client.stream->read_limit = 1;
  feed(kGreeting + kConnect + "payload");
  EXPECT_EQ(take(), "\x05\x00"s + reply5(0));
  EXPECT_EQ(sink.upstream(0)->take_written(), "payload");
}

TEST_F(SocksInboundTest, PipelinedPayloadReachesTheUpstream) {
  connect();
  feed(kGreeting + kConnect + "GET / HTTP/1.1\r\n\r\n");
  EXPECT_EQ(take(), "\x05\x00"s + reply5(0));
  EXPECT_EQ(sink.upstream(0)->take_written(), "GET / HTTP/1.1\r\n\r\n");
}

TEST_F(SocksInboundTest, OtherCommandsAreAnswered07) {
  for (const char command : {'\x02', '\x03', '\x00', '\x7f'}) {
    connect();
    feed(kGreeting + "\x05"s + command + "\x00\x01\xc6\x33\x64\x07\x01\xbb"s);
    EXPECT_EQ(take(), "\x05\x00"s + reply5(7));
    EXPECT_TRUE(over());
  }
  EXPECT_TRUE(sink.opened.empty());
}

TEST_F(SocksInboundTest, AnUnknownAddressTypeIsAnswered08) {
  for (const char type : {'\x00', '\x02', '\x05', '\xff'}) {
    connect();
    feed(kGreeting + "\x05\x01\x00"s + type + "\x00\x00\x00\x00\x00\x50"s);
    EXPECT_EQ(take(), "\x05\x00"s + reply5(8));
    EXPECT_TRUE(over());
  }
  EXPECT_TRUE(sink.opened.empty());
}

TEST_F(SocksInboundTest, AMalformedRequestIsAnswered01) {
  for (const std::string& bad : {"\x05\x01\x00\x03\x00\x00\x50"s, "\x05\x01\x01\x01"s, "GET /"s}) {
    connect();
    feed(kGreeting + bad);
    EXPECT_EQ(take(), "\x05\x00"s + reply5(1));
    EXPECT_TRUE(over());
  }
  EXPECT_TRUE(sink.opened.empty());
}

TEST_F(SocksInboundTest, FailuresHaveTheirReplies) {
  const std::pair<Errc, char> cases[] = {
      {Errc::kRejected, 2}, {Errc::kUnreachable, 3}, {Errc::kNoName, 4}, {Errc::kTimedOut, 4},
      {Errc::kRefused, 5},  {Errc::kReset, 1},       {Errc::kIo, 1},     {Errc::kExhausted, 1},
  };
  for (const auto& [code, reply] : cases) {
    fail_dials_with(Error(code, Side::kUpstream));
    connect();
    feed(kGreeting + kConnect);
    EXPECT_EQ(take(), "\x05\x00"s + reply5(reply)) << describe(code);
    EXPECT_TRUE(over());
  }
}

TEST_F(SocksInboundTest, RejectDropClosesWithoutAReply) {
  fail_dials_with(Error(Errc::kRejected, Side::kLocal, true));
  connect();
  feed(kGreeting + kConnect);
  EXPECT_EQ(take(), "\x05\x00"s);
  EXPECT_TRUE(over());
  connect();
  feed("\x04\x01\x00\x50\xc6\x33\x64\x07\x00"s);
  EXPECT_EQ(take(), "");
  EXPECT_TRUE(over());
}

// ---------------------------------------------------------------- users

TEST_F(SocksInboundTest, WithoutUsersTheClientIsNotAsked) {
  connect();
  feed("\x05\x02\x00\x02"s);
  EXPECT_EQ(take(), "\x05\x00"s);
}

TEST_F(SocksInboundTest, WithoutUsersAnyCredentialsDo) {
  connect();
  feed("\x05\x01\x02"s);
  EXPECT_EQ(take(), "\x05\x02"s);
  feed("\x01\x05"s + "alice" + "\x01"s + "x");
  EXPECT_EQ(take(), "\x01\x00"s);
  feed(kConnect);
  EXPECT_EQ(take(), reply5(0));
  EXPECT_EQ(sink.opened.at(0).meta.user, flow::kNoUser);
}

// K21: a client whose address is exempt may do without, and is asked all the same when it offers to
// say who it is.
TEST_F(SocksInboundTest, WhoeverNeedsNoneIsAskedWhereThereAreUsers) {
  sink.users.users = {{"bob", "b"}, {"alice", "secret"}};
  sink.users.exempt = true;
  connect();
  feed("\x05\x02\x00\x02"s);
  EXPECT_EQ(take(), "\x05\x02"s);
  feed("\x01\x05"s + "alice" + "\x06"s + "secret");
  EXPECT_EQ(take(), "\x01\x00"s);
  feed(kConnect);
  EXPECT_EQ(take(), reply5(0));
  EXPECT_EQ(sink.opened.at(0).meta.user, 1u);
  // Wrong ones do no harm, and no offer is needed.
  connect();
  feed("\x05\x02\x00\x02"s + "\x01\x05"s + "alice" + "\x05"s + "wrong" + kConnect);
  EXPECT_EQ(take(), "\x05\x02\x01\x00"s + reply5(0));
  EXPECT_EQ(sink.opened.at(1).meta.user, flow::kNoUser);
  connect();
  feed("\x05\x01\x00"s + kConnect);
  EXPECT_EQ(take(), "\x05\x00"s + reply5(0));
  EXPECT_EQ(sink.opened.at(2).meta.user, flow::kNoUser);
}

TEST_F(SocksInboundTest, RightCredentialsAreNoted) {
  sink.users.users = {{"bob", "b"}, {"alice", "secret"}};
  connect();
  feed("\x05\x02\x00\x02"s);
  EXPECT_EQ(take(), "\x05\x02"s);
  feed("\x01\x05"s + "alice" + "\x06"s + "secret");
  EXPECT_EQ(take(), "\x01\x00"s);
  feed(kConnect);
  EXPECT_EQ(take(), reply5(0));
  EXPECT_EQ(sink.opened.at(0).meta.user, 1u);
}

TEST_F(SocksInboundTest, AWholeHandshakeMayBePipelined) {
  sink.users.users = {{"alice", "secret"}};
  connect();
  client.stream->read_limit = 3;
  feed("\x05\x01\x02"s + "\x01\x05"s + "alice" + "\x06"s + "secret" + kConnect + "payload");
  EXPECT_EQ(take(), "\x05\x02\x01\x00"s + reply5(0));
  EXPECT_EQ(sink.upstream(0)->take_written(), "payload");
}

TEST_F(SocksInboundTest, TheLongestCredentialsFit) {
  sink.users.users = {{std::string(255, 'u'), std::string(255, 'p')}};
  connect();
  feed("\x05\x01\x02\x01\xff"s + std::string(255, 'u') + "\xff"s + std::string(255, 'p') +
       kConnect);
  EXPECT_EQ(take(), "\x05\x02\x01\x00"s + reply5(0));
}

TEST_F(SocksInboundTest, WrongCredentialsAreRefused) {
  sink.users.users = {{"alice", "secret"}};
  for (const std::string& bad :
       {"\x01\x05"s + "alice" + "\x05"s + "wrong", "\x01\x03"s + "bob" + "\x06"s + "secret",
        "\x01\x05"s + "alice" + "\x00"s}) {
    connect();
    feed("\x05\x01\x02"s + bad + kConnect);
    EXPECT_EQ(take(), "\x05\x02\x01\x01"s);
    EXPECT_TRUE(over());
  }
  EXPECT_TRUE(sink.opened.empty());
}

TEST_F(SocksInboundTest, MissingCredentialsAreRefused) {
  sink.users.users = {{"alice", "secret"}};
  connect();
  feed(kGreeting + kConnect);
  EXPECT_EQ(take(), "\x05\xff"s);
  EXPECT_TRUE(over());
  connect();
  feed("\x04\x01\x00\x50\xc6\x33\x64\x07"s + "alice\0"s);
  EXPECT_EQ(take(), kRefused4) << "SOCKS4 has no password";
  EXPECT_TRUE(over());
  EXPECT_TRUE(sink.opened.empty());
}

TEST_F(SocksInboundTest, MethodsNobodyHasAreRefused) {
  connect();
  feed("\x05\x02\x01\x80"s);
  EXPECT_EQ(take(), "\x05\xff"s);
  EXPECT_TRUE(over());
}

TEST_F(SocksInboundTest, MalformedCredentialsEndTheConnection) {
  sink.users.users = {{"alice", "secret"}};
  connect();
  feed("\x05\x01\x02"s + kConnect);
  EXPECT_EQ(take(), "\x05\x02"s);
  EXPECT_TRUE(over());
}

// ---------------------------------------------------------------- SOCKS4

TEST_F(SocksInboundTest, Socks4Connects) {
  connect();
  feed("\x04\x01\x00\x50\xc6\x33\x64\x07"s + "fred\0"s + "early");
  EXPECT_EQ(take(), kGranted4);
  EXPECT_EQ(sink.opened.at(0).destination, "198.51.100.7:80");
  EXPECT_EQ(sink.opened.at(0).meta.inbound_type, flow::InboundType::kSocks4);
  EXPECT_EQ(sink.upstream(0)->take_written(), "early");
}

TEST_F(SocksInboundTest, Socks4aConnectsByName) {
  connect();
  for (const char c : "\x04\x01\x01\xbb\x00\x00\x00\x01"s + "fred\0"s + "a.example\0"s) {
    feed({&c, 1});
  }
  EXPECT_EQ(take(), kGranted4);
  EXPECT_EQ(sink.opened.at(0).destination, "a.example:443");
  feed("up");
  EXPECT_EQ(sink.upstream(0)->take_written(), "up");
}

TEST_F(SocksInboundTest, TheLongestSocks4aRequestFits) {
  connect();
  feed("\x04\x01\x01\xbb\x00\x00\x00\x01"s + std::string(255, 'u') + '\0' + std::string(255, 'h') +
       '\0' + "x");
  EXPECT_EQ(take(), kGranted4);
  EXPECT_EQ(sink.opened.at(0).destination, std::string(255, 'h') + ":443");
  EXPECT_EQ(sink.upstream(0)->take_written(), "x");
}

TEST_F(SocksInboundTest, Socks4RefusesOtherCommandsAndFailures) {
  connect();
  feed("\x04\x02\x00\x50\xc6\x33\x64\x07\x00"s);
  EXPECT_EQ(take(), kRefused4);
  EXPECT_TRUE(over());
  EXPECT_TRUE(sink.opened.empty());
  fail_dials_with(Error(Errc::kRefused, Side::kUpstream));
  connect();
  feed("\x04\x01\x00\x50\xc6\x33\x64\x07\x00"s);
  EXPECT_EQ(take(), kRefused4);
  EXPECT_TRUE(over());
}

// ---------------------------------------------------------------- bad clients

TEST_F(SocksInboundTest, GarbageEndsTheConnectionWithoutAWord) {
  for (const std::string& bad : {"GET / HTTP/1.1\r\n\r\n"s, "\x16\x03\x01"s, "\0"s, "\x05\x00"s,
                                 "\x04\x01\x00\x50\xc6\x33\x64\x07"s + std::string(600, 'u'),
                                 "\x04\x01\x00\x50\x00\x00\x00\x01\x00\x00"s}) {
    connect();
    feed(bad);
    EXPECT_EQ(take(), "");
    EXPECT_TRUE(over()) << testing::PrintToString(bad);
  }
  EXPECT_TRUE(sink.opened.empty());
}

TEST_F(SocksInboundTest, SilenceEndsAtTheDeadline) {
  sink.users.users = {{"alice", "secret"}};
  const std::string whole = "\x05\x01\x02\x01\x05"s + "alice" + "\x06"s + "secret" + kConnect;
  for (size_t n = 0; n < whole.size(); ++n) {
    connect();
    if (n != 0) feed(whole.substr(0, n));
    world.run_for(9900ms);
    ASSERT_FALSE(over()) << "after " << n;
    world.run_for(200ms);
    ASSERT_TRUE(over()) << "after " << n;
    worker.turn(TimePoint::min());
  }
  EXPECT_TRUE(sink.opened.empty());
}

TEST_F(SocksInboundTest, BytesDoNotRenewTheDeadline) {
  connect();
  feed("\x05\xff"s);
  for (int i = 0; i < 9; ++i) {
    world.run_for(1s);
    feed("\x01");
  }
  ASSERT_FALSE(over());
  world.run_for(1s);
  EXPECT_TRUE(over());
}

TEST_F(SocksInboundTest, AClientThatLeavesEndsTheHandshake) {
  const std::string whole = kGreeting + kConnect;
  for (size_t n = 0; n < whole.size(); ++n) {
    connect();
    if (n != 0) feed(whole.substr(0, n));
    client.stream->feed_end();
    settle();
    EXPECT_TRUE(over()) << n;
    connect();
    if (n != 0) feed(whole.substr(0, n));
    client.stream->break_with(Errc::kReset);
    settle();
    EXPECT_TRUE(over()) << n;
  }
  EXPECT_TRUE(sink.opened.empty());
}

TEST_F(SocksInboundTest, AClientThatTakesNoReplyIsLetGo) {
  connect();
  feed(kGreeting);
  client.stream->write_room = 0;
  feed(kConnect);
  EXPECT_EQ(sink.opened.size(), 1u);
  EXPECT_EQ(sink.live_trackers, 1u);
  world.run_for(6s);
  EXPECT_TRUE(over());
  EXPECT_EQ(sink.live_trackers, 0u);
}

TEST_F(SocksInboundTest, CancellationEndsTheHandshake) {
  connect();
  feed(kGreeting);
  worker.scope().cancel();
  settle();
  EXPECT_TRUE(over());
}

}  // namespace
}  // namespace culvert::protocol::socks
