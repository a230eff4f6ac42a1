// The suite that every backend passes.
#include <gtest/gtest.h>

#include "rt/await.h"
#include "rt/testing/net.h"

namespace culvert::rt::testing {
namespace {

using namespace std::chrono_literals;

class RtBackend : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override { net_ = make_net(GetParam()); }
  Worker& worker() { return net_->worker(); }

  // A connected pair: [0] dialled, [1] accepted.
  void connect_pair() {
    Worker::Enter enter(worker());
    accepted_ = std::make_unique<Accepted>(worker());
    auto listener = worker().backend().listen(net_->loopback(), {}, *accepted_);
    ASSERT_TRUE(listener.ok());
    listener_ = *std::move(listener);
    auto stream = worker().backend().connect(listener_->local(), {});
    ASSERT_TRUE(stream.ok());
    client_ = *std::move(stream);
    ASSERT_TRUE(
        net_->run_until([&] { return !accepted_->streams.empty() && client_->opened().ok(); }));
    server_ = std::move(accepted_->streams.front());
    accepted_->streams.clear();
  }
  void TearDown() override {
    Worker::Enter enter(worker());
    worker().scope().cancel();
    EXPECT_TRUE(net_->run_until([&] { return worker().scope().running() == 0; }));
    client_.reset();
    server_.reset();
    listener_.reset();
    EXPECT_EQ(worker().buffers().in_use(), 0u);
  }
  template <class T>
  void spawn(T task) {
    Worker::Enter enter(worker());
    worker().scope().spawn("test", std::move(task));
  }

  std::unique_ptr<Net> net_;
  std::unique_ptr<Accepted> accepted_;
  std::unique_ptr<Listener> listener_;
  std::unique_ptr<Stream> client_, server_;
};

TEST_P(RtBackend, MovesBytesBothWaysAndEndsInOrder) {
  connect_pair();
  EXPECT_EQ(accepted_->remote.front(), client_->local());
  EXPECT_EQ(server_->local(), listener_->local());
  const std::string up = pattern(3'000'000, 1), down = pattern(1'000'001, 2);
  std::string got_up, got_down;
  Errc end_up{}, end_down{}, sent_up = Errc::kIo, sent_down = Errc::kIo;
  spawn(send_all(*client_, up, true, &sent_up, kNever));
  spawn(send_all(*server_, down, true, &sent_down, kNever));
  spawn(read_all(*server_, &got_up, &end_up, kNever));
  spawn(read_all(*client_, &got_down, &end_down, kNever));
  ASSERT_TRUE(net_->run_until([&] { return end_up != Errc{} && end_down != Errc{}; }));
  EXPECT_EQ(end_up, Errc::kEndOfStream);
  EXPECT_EQ(end_down, Errc::kEndOfStream);
  EXPECT_EQ(sent_up, Errc::kNone);
  EXPECT_EQ(sent_down, Errc::kNone);
  EXPECT_TRUE(got_up == up);
  EXPECT_TRUE(got_down == down);
}

TEST_P(RtBackend, OneDirectionEndsAndTheOtherGoesOn) {
  connect_pair();
  std::string got, answer;
  Errc end{}, sent = Errc::kIo;
  spawn(send_all(*client_, "request", true, &sent, kNever));
  spawn(read_all(*server_, &got, &end, kNever));
  ASSERT_TRUE(net_->run_until([&] { return end != Errc{}; }));
  EXPECT_EQ(got, "request");
  Errc answered = Errc::kIo, answer_end{};
  spawn(send_all(*server_, pattern(500'000, 3), true, &answered, kNever));
  spawn(read_all(*client_, &answer, &answer_end, kNever));
  ASSERT_TRUE(net_->run_until([&] { return answer_end != Errc{}; }));
  EXPECT_EQ(answer, pattern(500'000, 3));
  EXPECT_EQ(client_->write(as_bytes("more")).code(), Errc::kReset) << "our direction has ended";
}

TEST_P(RtBackend, AbortIsSeenAsAReset) {
  connect_pair();
  std::string got;
  Errc end{};
  spawn(read_all(*server_, &got, &end, kNever));
  {
    Worker::Enter enter(worker());
    client_->abort();
  }
  ASSERT_TRUE(net_->run_until([&] { return end != Errc{}; }));
  EXPECT_EQ(end, Errc::kReset);
  EXPECT_FALSE(server_->write(as_bytes("x")).ok());
}

TEST_P(RtBackend, CloseIsSeenAsAnEnd) {
  connect_pair();
  std::string got;
  Errc end{}, sent = Errc::kIo;
  spawn(send_all(*client_, "last words", false, &sent, kNever));
  {
    Worker::Enter enter(worker());
    client_->close();
    client_->close();
    EXPECT_FALSE(client_->lend().ok());
    EXPECT_FALSE(client_->write(as_bytes("x")).ok());
  }
  spawn(read_all(*server_, &got, &end, kNever));
  ASSERT_TRUE(net_->run_until([&] { return end != Errc{}; }));
  EXPECT_EQ(end, Errc::kEndOfStream);
  EXPECT_EQ(got, "last words");
}

TEST_P(RtBackend, ASlowReaderStopsTheWriterAndLosesNothing) {
  connect_pair();
  // Far more than the buffers in between hold.
  const std::string data = pattern(16 << 20, 4);
  std::string got;
  Errc end{}, sent = Errc::kIo;
  spawn(send_all(*client_, data, true, &sent, kNever));
  // Nobody reads: the writer stops before it is through.
  net_->settle();
  EXPECT_EQ(sent, Errc::kIo);
  spawn(read_all(*server_, &got, &end, kNever));
  ASSERT_TRUE(net_->run_until([&] { return end != Errc{}; }));
  EXPECT_EQ(sent, Errc::kNone);
  EXPECT_TRUE(got == data);
}

TEST_P(RtBackend, BytesStayUntilConsumed) {
  connect_pair();
  Errc sent = Errc::kIo;
  spawn(send_all(*client_, "abcdef", false, &sent, kNever));
  Worker::Enter enter(worker());
  ASSERT_TRUE(net_->run_until([&] { return server_->lend().ok(); }));
  EXPECT_EQ(as_text(*server_->lend()).substr(0, 1), "a");
  server_->consume(1);
  EXPECT_EQ(as_text(*server_->lend()).substr(0, 1), "b");
  EXPECT_EQ(server_->unread(), server_->lend()->size());
}

TEST_P(RtBackend, RefusedConnectionsSaySo) {
  Worker::Enter enter(worker());
  // A port that was just free and has no listener any more.
  Accepted nobody(worker());
  auto listener = worker().backend().listen(net_->loopback(), {}, nobody);
  ASSERT_TRUE(listener.ok());
  const Endpoint dead = (*listener)->local();
  { auto gone = *std::move(listener); }
  auto stream = worker().backend().connect(dead, {});
  Errc code = stream.code();
  if (stream.ok()) {
    ASSERT_TRUE(net_->run_until([&] { return (*stream)->opened().code() != Errc::kWouldBlock; }));
    code = (*stream)->opened().code();
    EXPECT_FALSE((*stream)->lend().ok());
  }
  EXPECT_EQ(code, Errc::kRefused);
}

TEST_P(RtBackend, DeadlineAndCancellationEndARead) {
  connect_pair();
  std::string got;
  Errc timed{}, cancelled{};
  spawn(read_all(*server_, &got, &timed, worker().now() + 30ms));
  ASSERT_TRUE(net_->run_until([&] { return timed != Errc{}; }));
  EXPECT_EQ(timed, Errc::kTimedOut);
  Worker::Enter enter(worker());
  Scope scope(&worker().scope());
  scope.spawn("read", read_all(*server_, &got, &cancelled, kNever));
  scope.cancel();
  ASSERT_TRUE(net_->run_until([&] { return scope.running() == 0; }));
  EXPECT_EQ(cancelled, Errc::kCancelled);
  // The stream is as good as before.
  Errc sent = Errc::kIo, end{};
  worker().scope().spawn("send", send_all(*client_, "still here", true, &sent, kNever));
  worker().scope().spawn("read", read_all(*server_, &got, &end, kNever));
  ASSERT_TRUE(net_->run_until([&] { return end != Errc{}; }));
  EXPECT_EQ(got, "still here");
}

TEST_P(RtBackend, AStreamMayEndInsideItsOwnEvent) {
  connect_pair();
  struct Ender : Waiter {
    explicit Ender(std::unique_ptr<Stream>& s) : Waiter(&Ender::on_ready), stream(s) {}
    static void on_ready(Waiter& w) { static_cast<Ender&>(w).stream.reset(); }
    std::unique_ptr<Stream>& stream;
  };
  Worker::Enter enter(worker());
  Ender reader(server_), writer(server_);
  server_->wait_readable(&reader);
  server_->wait_writable(&writer);
  client_->abort();  // one event for both directions
  ASSERT_TRUE(net_->run_until([&] { return server_ == nullptr; }));
}

TEST_P(RtBackend, DatagramsKeepTheirBoundaries) {
  Worker::Enter enter(worker());
  auto server = worker().backend().open_datagram(net_->loopback(), {});
  ASSERT_TRUE(server.ok());
  auto client = worker().backend().open_datagram({}, (*server)->local());
  ASSERT_TRUE(client.ok());
  std::string one = "one", two = "twotwo";
  Datagram out[2];
  out[0].payload = MutableBytes(reinterpret_cast<uint8_t*>(one.data()), one.size());
  out[1].payload = MutableBytes(reinterpret_cast<uint8_t*>(two.data()), two.size());
  EXPECT_EQ(*(*client)->send(out), 2u);
  std::vector<std::string> got;
  Endpoint from;
  ASSERT_TRUE(net_->run_until([&] {
    Datagram in[8];
    const Result<size_t> n = (*server)->receive(in);
    for (size_t i = 0; n.ok() && i < *n; ++i) {
      got.emplace_back(as_text(in[i].payload));
      from = in[i].peer;
    }
    return got.size() == 2;
  }));
  std::sort(got.begin(), got.end());
  EXPECT_EQ(got, (std::vector<std::string>{"one", "twotwo"}));
  EXPECT_EQ(from.port, (*client)->local().port);
  server->reset();
  client->reset();
}

INSTANTIATE_TEST_SUITE_P(Each, RtBackend, ::testing::Values("epoll", "sim"),
                         [](const auto& p) { return std::string(p.param); });

}  // namespace
}  // namespace culvert::rt::testing
