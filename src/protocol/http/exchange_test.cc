#include "protocol/http/exchange.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>

#include "flow/testing/lent_stream.h"
#include "flow/testing/twins.h"
#include "rt/testing/sim.h"

namespace culvert::protocol::http {
namespace {

using namespace std::chrono_literals;
using flow::testing::LentStream;
using flow::testing::MemoryStream;
using Kind = wire::BodyFraming::Kind;

// ---------------------------------------------------------------- heads

std::string request(const std::string& text) {
  const auto head = std::make_unique<wire::HttpHead>();
  EXPECT_EQ(wire::parse_request_head(as_bytes(text), *head), wire::HttpError::kNone) << text;
  const auto target = wire::parse_absolute_target(head->target);
  EXPECT_TRUE(target.has_value()) << text;
  return target ? rewrite_request(*head, *target) : "";
}

std::string response(const std::string& text, bool close, uint8_t client_minor = 1) {
  const auto head = std::make_unique<wire::HttpHead>();
  EXPECT_EQ(wire::parse_response_head(as_bytes(text), *head), wire::HttpError::kNone) << text;
  return rewrite_response(*head, close, client_minor);
}

// RFC 9112 section 3.2.1 and 3.2.4.
TEST(HttpRewrite, Targets) {
  const struct {
    std::string_view line, out;
  } rows[] = {
      {"GET http://a.example HTTP/1.1", "GET / HTTP/1.1"},
      {"GET http://a.example/ HTTP/1.1", "GET / HTTP/1.1"},
      {"GET http://a.example?q HTTP/1.1", "GET /?q HTTP/1.1"},
      {"GET http://u:p@a.example/b/../c;d?e=f%20#g HTTP/1.1", "GET /b/../c;d?e=f%20 HTTP/1.1"},
      {"OPTIONS http://a.example HTTP/1.1", "OPTIONS * HTTP/1.1"},
      {"OPTIONS http://a.example/ HTTP/1.1", "OPTIONS / HTTP/1.1"},
      {"PATCH http://a.example/x HTTP/1.3", "PATCH /x HTTP/1.1"},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(request(std::string(row.line) + "\r\n\r\n"),
              std::string(row.out) + "\r\nHost: a.example\r\n\r\n");
  }
}

TEST(HttpRewrite, NothingIsAddedButHost) {
  EXPECT_EQ(request("GET http://a.example:81/ HTTP/1.1\r\nhOST: x\r\nB: 1\r\nA: 2\r\nB: 3\r\n\r\n"),
            "GET / HTTP/1.1\r\nHost: a.example:81\r\nB: 1\r\nA: 2\r\nB: 3\r\n\r\n");
}

TEST(HttpRewrite, UpgradesOfHttp10AreNone) {
  EXPECT_EQ(request("GET http://a.example/ HTTP/1.0\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n"),
            "GET / HTTP/1.0\r\nHost: a.example\r\nConnection: close\r\n\r\n");
}

TEST(HttpRewrite, Responses) {
  EXPECT_EQ(response("HTTP/1.1 200 Fine by me\r\nA: b\r\n\r\n", false),
            "HTTP/1.1 200 Fine by me\r\nA: b\r\n\r\n");
  EXPECT_EQ(response("HTTP/1.1 200 OK\r\nA : b\r\nC\t: d\r\n\r\n", false),
            "HTTP/1.1 200 OK\r\nA: b\r\nC: d\r\n\r\n");
  EXPECT_EQ(response("HTTP/1.1 404\r\n\r\n", true), "HTTP/1.1 404 \r\nConnection: close\r\n\r\n");
  EXPECT_EQ(response("HTTP/1.0 200 OK\r\n\r\n", false),
            "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\n\r\n");
  EXPECT_EQ(response("HTTP/1.1 200 OK\r\n\r\n", false, 0),
            "HTTP/1.1 200 OK\r\nConnection: keep-alive\r\n\r\n");
  EXPECT_EQ(response("HTTP/1.1 200 OK\r\nConnection: close, X\r\nX: 1\r\nProxy-Authenticate: y\r\n"
                     "\r\n",
                     false),
            "HTTP/1.1 200 OK\r\n\r\n");
  EXPECT_EQ(response("HTTP/1.1 100 Continue\r\n\r\n", false), "HTTP/1.1 100 Continue\r\n\r\n");
}

// ---------------------------------------------------------------- exchanges

rt::Task<void> exchange(flow::Stream& client, flow::Upstream& upstream,
                        const ExchangeRequest& request, std::optional<Outcome>* out) {
  const Outcome outcome = co_await run_exchange(client, upstream, request);
  *out = outcome;
}

class ExchangeTest : public ::testing::Test {
 protected:
  void SetUp() override {
    request.head = "GET / HTTP/1.1\r\nHost: a.example\r\n\r\n";
    sink.dial = [this](const flow::FlowMeta&) -> Result<flow::StreamPtr> {
      return flow::StreamPtr(std::make_unique<LentStream>(origin));
    };
    worker.scope().spawn("open", open());
    settle();
    ASSERT_NE(upstream.stream, nullptr);
  }
  void TearDown() override {
    worker.scope().cancel();
    settle();
    EXPECT_EQ(worker.scope().running(), 0u);
  }
  rt::Task<void> open() {
    flow::FlowMeta meta;
    meta.set_host("a.example");
    Result<flow::Upstream> opened = co_await sink.open(meta);
    if (opened.ok()) upstream = *std::move(opened);
  }
  void settle() { world.run_until_idle(0s); }
  void begin() {
    outcome.reset();
    worker.scope().spawn("exchange", exchange(client, upstream, request, &outcome));
    settle();
  }
  void answer(std::string_view bytes) {
    origin.feed(bytes);
    settle();
  }

  rt::sim::World world{1};
  rt::Worker& worker = world.add_worker();
  rt::Worker::Enter enter{worker};
  MemoryStream client;
  MemoryStream origin;
  flow::testing::TestSink sink;
  flow::Upstream upstream;
  ExchangeRequest request;
  std::optional<Outcome> outcome;
};

const std::string kOk = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
const std::string kChunked =
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;x\r\nhello\r\n0\r\nA: b\r\n\r\n";

TEST_F(ExchangeTest, Outcomes) {
  const struct {
    std::string response;
    bool end, keep_alive;
    Outcome outcome;
  } rows[] = {
      {kOk, false, true, Outcome::kReusable},
      {kOk, false, false, Outcome::kFinished},
      {kChunked, false, true, Outcome::kReusable},
      {"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n", false, true,
       Outcome::kClientOnly},
      {"HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n", false, true, Outcome::kClientOnly},
      {"HTTP/1.1 204 No Content\r\n\r\n", false, true, Outcome::kReusable},
      {"HTTP/1.1 103 Early Hints\r\n\r\n" + kOk, false, true, Outcome::kReusable},
  };
  for (const auto& row : rows) {
    request.keep_alive = row.keep_alive;
    begin();
    EXPECT_FALSE(outcome.has_value());
    answer(row.response);
    ASSERT_TRUE(outcome.has_value()) << row.response;
    EXPECT_EQ(*outcome, row.outcome) << row.response;
    EXPECT_EQ(origin.unread(), 0u);
    EXPECT_EQ(origin.take_written(), request.head);
  }
}

TEST_F(ExchangeTest, AResponseByteByByteToASlowClient) {
  for (const std::string& response : {kOk, kChunked}) {
    origin.read_limit = 1;
    client.write_room = 0;
    begin();
    answer(response + "next");
    std::string got;
    for (int i = 0; i < 1000 && !outcome; ++i) {
      client.add_room(1);
      settle();
      got += client.take_written();
    }
    ASSERT_EQ(outcome, Outcome::kReusable);
    EXPECT_EQ(got, response);
    EXPECT_EQ(origin.unread(), 4u) << "what is behind the answer is not part of it";
    origin.consume(4);
    client.add_room(SIZE_MAX);
  }
}

TEST_F(ExchangeTest, AResponseThatIsCutAtEveryByte) {
  const size_t head = kOk.find("\r\n\r\n") + 4;
  for (size_t n = 0; n < kOk.size(); ++n) {
    MemoryStream cut;
    upstream.stream = std::make_unique<LentStream>(cut);
    begin();
    cut.feed(kOk.substr(0, n));
    cut.feed_end();
    settle();
    ASSERT_EQ(outcome, n < head ? Outcome::kNoAnswer : Outcome::kBroken) << n;
    EXPECT_EQ(client.take_written(), n < head ? "" : kOk.substr(0, n));
    upstream.stream.reset();
  }
}

TEST_F(ExchangeTest, ResponsesThatAreRefused) {
  for (const std::string_view response :
       {"HTTP/1.1 200 OK\nA: b\n\n", "HTTP/2.0 200 OK\r\n\r\n", "hello\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxx",
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\nx",
        "HTTP/1.1 101 Switching Protocols\r\n\r\n", "HTTP/1.1 200 OK\r\n A: b\r\n\r\n"}) {
    MemoryStream bad;
    upstream.stream = std::make_unique<LentStream>(bad);
    begin();
    bad.feed(response);
    settle();
    EXPECT_EQ(outcome, Outcome::kNoAnswer) << response;
    EXPECT_EQ(client.take_written(), "");
    upstream.stream.reset();
  }
}

TEST_F(ExchangeTest, ABadChunkBreaksIt) {
  begin();
  answer("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n");
  EXPECT_EQ(outcome, Outcome::kBroken);
}

TEST_F(ExchangeTest, AnUpgradeLeavesWhatIsBehindIt) {
  request.upgrade = true;
  begin();
  answer("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\nearly");
  EXPECT_EQ(outcome, Outcome::kUpgraded);
  EXPECT_EQ(origin.unread(), 5u);
}

// RFC 9110 section 15.2.
TEST_F(ExchangeTest, Http10GetsNoInterimAnswers) {
  request.minor = 0;
  request.keep_alive = false;
  begin();
  answer("HTTP/1.1 100 Continue\r\n\r\n" + kOk);
  EXPECT_EQ(client.take_written(),
            "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello");
}

TEST_F(ExchangeTest, AnOriginThatResets) {
  begin();
  origin.break_with(Errc::kReset);
  settle();
  EXPECT_EQ(outcome, Outcome::kNoAnswer);
  begin();
  EXPECT_EQ(outcome, Outcome::kNoAnswer) << "not even the request goes out";
}

TEST_F(ExchangeTest, AClientThatResetsWhileItIsAnswered) {
  client.write_room = 20;
  begin();
  answer(kOk);
  EXPECT_FALSE(outcome.has_value());
  client.break_with(Errc::kReset);
  settle();
  EXPECT_EQ(outcome, Outcome::kBroken);
}

TEST_F(ExchangeTest, AClientThatLeavesWithinItsBody) {
  request.body = {Kind::kLength, 10, wire::HttpError::kNone};
  client.feed("hello");
  begin();
  EXPECT_EQ(origin.take_written(), request.head + "hello");
  client.feed_end();
  settle();
  EXPECT_EQ(outcome, Outcome::kBroken);
}

TEST_F(ExchangeTest, SilenceEndsIt) {
  begin();
  world.run_for(kBodyIdle - 1s);
  EXPECT_FALSE(outcome.has_value());
  world.run_for(2s);
  EXPECT_EQ(outcome, Outcome::kNoAnswer);
}

TEST_F(ExchangeTest, BytesAreCounted) {
  request.body = {Kind::kLength, 3, wire::HttpError::kNone};
  client.feed("abc");
  begin();
  answer(kOk);
  ASSERT_EQ(outcome, Outcome::kReusable);
  upstream.tracker.reset();
  EXPECT_EQ(sink.uploaded, request.head.size() + 3);
  EXPECT_EQ(sink.downloaded, kOk.size());
}

}  // namespace
}  // namespace culvert::protocol::http
