#include "protocol/http/inbound.h"

#include <gtest/gtest.h>

#include <deque>

#include "flow/testing/lent_stream.h"
#include "flow/testing/twins.h"
#include "rt/testing/sim.h"

namespace culvert::protocol::http {
namespace {

using namespace std::chrono_literals;
using flow::testing::LentStream;
using flow::testing::MemoryStream;

class HttpInboundTest : public ::testing::Test {
 protected:
  void SetUp() override {
    sink.dial = [this](const flow::FlowMeta&) -> Result<flow::StreamPtr> {
      if (dial_error.code != Errc::kNone) return dial_error;
      return flow::StreamPtr(std::make_unique<LentStream>(origins.emplace_back()));
    };
    flow::BuildContext context;
    inbound = make_inbound(nullptr, context);
    const flow::AcceptInfo info{.source = {IpAddress::v4(0xc0000209), 5000},
                                .inbound_port = 7890,
                                .inbound = 2,
                                .deadline = world.now() + 10s};
    worker.scope().spawn("http", inbound->serve(std::make_unique<LentStream>(client), info, sink));
    settle();
  }
  void TearDown() override {
    worker.scope().cancel();
    settle();
    EXPECT_EQ(worker.scope().running(), 0u);
    sink.relays.abort_all();
    EXPECT_EQ(sink.live_trackers, 0u);
    EXPECT_TRUE(client.closed());
    for (MemoryStream& origin : origins) EXPECT_TRUE(origin.closed());
  }
  void settle() { world.run_until_idle(0s); }

  // The client says something; what it is told.
  std::string say(std::string_view bytes) {
    client.feed(bytes);
    settle();
    return client.take_written();
  }
  // Origin `n` says something; what the client gets of it.
  std::string reply(size_t n, std::string_view bytes) {
    origins.at(n).feed(bytes);
    settle();
    return client.take_written();
  }
  std::string at_origin(size_t n) { return origins.at(n).take_written(); }
  // The answer to a request that ends the connection.
  std::string refusal(std::string_view bytes) {
    const std::string answer = say(bytes);
    EXPECT_TRUE(client.ended());
    world.run_for(2s);
    EXPECT_TRUE(client.closed());
    EXPECT_FALSE(client.aborted());
    EXPECT_NE(answer.find("Connection: close\r\n"), std::string::npos) << answer;
    return answer.substr(0, 12);
  }

  rt::sim::World world{1};
  rt::Worker& worker = world.add_worker();
  rt::Worker::Enter enter{worker};
  MemoryStream client;
  std::deque<MemoryStream> origins;
  Error dial_error;
  flow::testing::TestSink sink;
  std::unique_ptr<flow::Inbound> inbound;
};

const std::string kOk = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

std::string get(std::string_view url, std::string_view fields = "") {
  std::string out = "GET ";
  out += url;
  out += " HTTP/1.1\r\n";
  out += fields;
  out += "\r\n";
  return out;
}

// ---------------------------------------------------------------- CONNECT

TEST_F(HttpInboundTest, ConnectOpensATunnel) {
  EXPECT_EQ(say("CONNECT a.example:443 HTTP/1.1\r\nHost: a.example:443\r\n\r\n"),
            "HTTP/1.1 200 Connection established\r\n\r\n");
  ASSERT_EQ(sink.opened.size(), 1u);
  EXPECT_EQ(sink.opened[0].destination, "a.example:443");
  EXPECT_EQ(sink.opened[0].meta.inbound_type, flow::InboundType::kHttps);
  EXPECT_EQ(sink.opened[0].meta.inbound_port, 7890);
  EXPECT_EQ(sink.opened[0].meta.inbound, 2u);
  EXPECT_EQ(sink.opened[0].meta.source.port, 5000);
  EXPECT_EQ(sink.opened[0].meta.user, flow::kNoUser);
  EXPECT_EQ(say("hello"), "");
  EXPECT_EQ(at_origin(0), "hello");
  EXPECT_EQ(reply(0, "world"), "world");
  client.feed_end();
  EXPECT_TRUE(origins[0].ended());
  origins[0].feed_end();
  EXPECT_TRUE(client.closed());
  EXPECT_EQ(sink.uploaded, 5u);
  EXPECT_EQ(sink.downloaded, 5u);
}

TEST_F(HttpInboundTest, BytesBehindConnectReachTheOrigin) {
  say("CONNECT [2001:db8::1]:443 HTTP/1.1\r\n\r\n\x16\x03\x01 hello");
  EXPECT_EQ(at_origin(0), "\x16\x03\x01 hello");
  EXPECT_EQ(sink.opened[0].meta.destination.port, 443);
}

TEST_F(HttpInboundTest, ConnectThatFails) {
  dial_error = Errc::kRefused;
  EXPECT_EQ(refusal("CONNECT a.example:443 HTTP/1.1\r\n\r\n"), "HTTP/1.1 502");
}

TEST_F(HttpInboundTest, ConnectThatARuleRejects) {
  dial_error = Errc::kRejected;
  EXPECT_EQ(refusal("CONNECT a.example:443 HTTP/1.1\r\n\r\n"), "HTTP/1.1 403");
}

TEST_F(HttpInboundTest, ConnectThatTimesOut) {
  dial_error = Errc::kTimedOut;
  EXPECT_EQ(refusal("CONNECT a.example:443 HTTP/1.1\r\n\r\n"), "HTTP/1.1 504");
}

TEST_F(HttpInboundTest, ConnectToANameThatIsNone) {
  dial_error = Error(Errc::kBadMessage, Side::kClient);
  EXPECT_EQ(refusal("CONNECT a..example:443 HTTP/1.1\r\n\r\n"), "HTTP/1.1 400");
}

TEST_F(HttpInboundTest, AConnectThatIsDroppedGetsNoAnswer) {
  dial_error = Error(Errc::kRejected, Side::kLocal, true);
  EXPECT_EQ(say("CONNECT a.example:443 HTTP/1.1\r\n\r\n"), "");
  EXPECT_TRUE(client.closed());
}

// K20; each on a connection of its own.
class HttpRefusalTest : public HttpInboundTest,
                        public ::testing::WithParamInterface<const char*> {};

TEST_P(HttpRefusalTest, Is400AndDialsNothing) {
  EXPECT_EQ(refusal(std::string(GetParam()) + "\r\n\r\n"), "HTTP/1.1 400");
  EXPECT_TRUE(sink.opened.empty());
}

INSTANTIATE_TEST_SUITE_P(
    Requests, HttpRefusalTest,
    ::testing::Values("CONNECT ::1:443 HTTP/1.1", "CONNECT a.example HTTP/1.1",
                      "CONNECT a.example:0 HTTP/1.1", "CONNECT a.example:70000 HTTP/1.1",
                      "CONNECT u@a.example:443 HTTP/1.1", "CONNECT http://a.example/ HTTP/1.1",
                      "CONNECT a.example:443 HTTP/1.1\r\nContent-Length: x", "GET /x HTTP/1.1",
                      "GET http:///x HTTP/1.1", "GET https://a.example/ HTTP/1.1",
                      "GET ftp://a.example/ HTTP/1.1", "GET a.example:80 HTTP/1.1",
                      "OPTIONS * HTTP/1.1", "\x16\x03\x01 garbage", "GET",
                      "GET http://a.example/ HTTP/1.1\r\nHost: a\r\nHost: b",
                      "POST http://a.example/ HTTP/1.1\r\nContent-Length: 5\r\n"
                      "Transfer-Encoding: chunked",
                      "POST http://a.example/ HTTP/1.1\r\nContent-Length: 5\r\nContent-Length: 6",
                      "GET http://a.example/ HTTP/1.1\r\nA : b"));

TEST_F(HttpInboundTest, ARequestLineOf70Kb) {
  EXPECT_EQ(refusal(get("http://a.example/" + std::string(70'000, 'x'))), "HTTP/1.1 414");
}

TEST_F(HttpInboundTest, AnotherVersion) {
  EXPECT_EQ(refusal("GET http://a.example/ HTTP/2.0\r\n\r\n"), "HTTP/1.1 505");
}

TEST_F(HttpInboundTest, AnotherTransferCoding) {
  EXPECT_EQ(refusal("POST http://a.example/ HTTP/1.1\r\nTransfer-Encoding: gzip\r\n\r\n"),
            "HTTP/1.1 501");
}

// ---------------------------------------------------------------- requests

// K22.
TEST_F(HttpInboundTest, ARequestIsRewrittenForTheOrigin) {
  say(get("http://user:pw@a.example:8080/x?y#z",
          "Host: b.example\r\nProxy-Connection: keep-alive\r\nConnection: X-Drop, keep-alive\r\n"
          "X-Drop: 1\r\nKeep-Alive: 5\r\nTE: trailers\r\nProxy-Authorization: Basic dTpw\r\n"
          "User-Agent: t\r\nUpgrade: h2c\r\nCookie: a=b\r\n"));
  EXPECT_EQ(sink.opened.at(0).destination, "a.example:8080");
  EXPECT_EQ(sink.opened[0].meta.inbound_type, flow::InboundType::kHttp);
  EXPECT_EQ(at_origin(0),
            "GET /x?y HTTP/1.1\r\nHost: a.example:8080\r\nUser-Agent: t\r\nCookie: a=b\r\n\r\n");
  EXPECT_EQ(reply(0,
                  "HTTP/1.1 200 OK\r\nConnection: X-Hop\r\nX-Hop: 1\r\nKeep-Alive: 5\r\n"
                  "Content-Length: 2\r\nX: y\r\n\r\nok"),
            "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nX: y\r\n\r\nok");
}

// K20.
TEST_F(HttpInboundTest, AnIpv6LiteralKeepsItsBracketsInHost) {
  say(get("http://[2001:db8::1]/x"));
  EXPECT_EQ(sink.opened.at(0).meta.destination.port, 80);
  EXPECT_EQ(at_origin(0), "GET /x HTTP/1.1\r\nHost: [2001:db8::1]\r\n\r\n");
}

TEST_F(HttpInboundTest, TheNextRequestUsesTheSameConnections) {
  say(get("http://a.example/1"));
  EXPECT_EQ(reply(0, kOk), kOk);
  at_origin(0);
  say(get("http://a.example/2"));
  ASSERT_EQ(origins.size(), 1u);
  EXPECT_EQ(at_origin(0), "GET /2 HTTP/1.1\r\nHost: a.example\r\n\r\n");
  EXPECT_EQ(reply(0, kOk), kOk);
  EXPECT_FALSE(client.closed());
}

TEST_F(HttpInboundTest, AnotherHostGetsAConnectionOfItsOwn) {
  say(get("http://a.example/"));
  reply(0, kOk);
  say(get("http://b.example/", "Host: a.example\r\n"));
  ASSERT_EQ(origins.size(), 2u);
  EXPECT_TRUE(origins[0].closed());
  EXPECT_EQ(sink.opened[1].destination, "b.example:80");
  EXPECT_EQ(at_origin(1), "GET / HTTP/1.1\r\nHost: b.example\r\n\r\n");
  EXPECT_EQ(reply(1, kOk), kOk);
}

TEST_F(HttpInboundTest, PipelinedRequestsAreAnsweredInOrder) {
  say(get("http://a.example/1") + get("http://a.example/2") + get("http://b.example/3"));
  EXPECT_EQ(at_origin(0), "GET /1 HTTP/1.1\r\nHost: a.example\r\n\r\n");
  EXPECT_EQ(origins.size(), 1u) << "the others wait";
  EXPECT_EQ(reply(0, kOk), kOk);
  EXPECT_EQ(at_origin(0), "GET /2 HTTP/1.1\r\nHost: a.example\r\n\r\n");
  EXPECT_EQ(reply(0, "HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n"),
            "HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n");
  ASSERT_EQ(origins.size(), 2u);
  EXPECT_EQ(at_origin(1), "GET /3 HTTP/1.1\r\nHost: b.example\r\n\r\n");
  EXPECT_EQ(reply(1, kOk), kOk);
}

TEST_F(HttpInboundTest, ABodyWithALength) {
  say("POST http://a.example/ HTTP/1.1\r\nContent-Length: 10\r\n\r\nhello");
  EXPECT_EQ(at_origin(0), "POST / HTTP/1.1\r\nHost: a.example\r\nContent-Length: 10\r\n\r\nhello");
  say("world" + get("http://a.example/next"));
  EXPECT_EQ(at_origin(0), "world");
  EXPECT_EQ(reply(0, kOk), kOk);
  EXPECT_EQ(at_origin(0), "GET /next HTTP/1.1\r\nHost: a.example\r\n\r\n");
}

// K19: trailers are kept, both ways.
TEST_F(HttpInboundTest, ChunkedBodies) {
  const std::string body = "5;x=y\r\nhello\r\n0\r\nX-Sum: 1\r\n\r\n";
  say("POST http://a.example/ HTTP/1.1\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n" +
      body + get("http://a.example/next"));
  EXPECT_EQ(at_origin(0),
            "POST / HTTP/1.1\r\nHost: a.example\r\nTransfer-Encoding: chunked\r\n"
            "Trailer: X-Sum\r\n\r\n" +
                body);
  const std::string response = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + body;
  EXPECT_EQ(reply(0, response), response);
  EXPECT_EQ(at_origin(0), "GET /next HTTP/1.1\r\nHost: a.example\r\n\r\n");
}

TEST_F(HttpInboundTest, ABadChunkEndsTheExchange) {
  say("POST http://a.example/ HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n");
  EXPECT_TRUE(client.closed());
  EXPECT_TRUE(origins[0].aborted());
}

// K19.
TEST_F(HttpInboundTest, Expect100) {
  say("POST http://a.example/ HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n");
  EXPECT_NE(at_origin(0).find("Expect: 100-continue\r\n"), std::string::npos);
  EXPECT_EQ(reply(0, "HTTP/1.1 100 Continue\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
  say("body");
  EXPECT_EQ(at_origin(0), "body");
  EXPECT_EQ(reply(0, kOk), kOk);
  say(get("http://a.example/next"));
  EXPECT_EQ(origins.size(), 1u);
  EXPECT_EQ(reply(0, kOk), kOk);
}

// An origin may answer before it has it all; what is left of the body must not be the next request.
TEST_F(HttpInboundTest, AnAnswerAheadOfTheBodyEndsTheConnection) {
  say("POST http://a.example/ HTTP/1.1\r\nContent-Length: 100\r\n\r\nhello");
  const std::string too_large = "HTTP/1.1 413 Large\r\nContent-Length: 0\r\n\r\n";
  EXPECT_EQ(reply(0, too_large), too_large);
  EXPECT_TRUE(client.ended()) << "in order: a reset could overtake the answer";
  EXPECT_FALSE(client.closed());
  say("world");
  EXPECT_EQ(client.unread(), 0u);
  client.feed_end();
  settle();
  EXPECT_TRUE(client.closed());
  EXPECT_FALSE(client.aborted());
}

TEST_F(HttpInboundTest, AnswersWithoutABody) {
  say("HEAD http://a.example/ HTTP/1.1\r\n\r\n");
  const std::string head = "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n";
  EXPECT_EQ(reply(0, head), head);
  say(get("http://a.example/"));
  const std::string unchanged = "HTTP/1.1 304 Not Modified\r\nContent-Length: 1000\r\n\r\n";
  EXPECT_EQ(reply(0, unchanged), unchanged);
  say(get("http://a.example/"));
  EXPECT_EQ(reply(0, "HTTP/1.1 204 No Content\r\n\r\n"), "HTTP/1.1 204 No Content\r\n\r\n");
  say(get("http://a.example/"));
  EXPECT_EQ(origins.size(), 1u);
  EXPECT_EQ(reply(0, kOk), kOk);
}

// K19.
TEST_F(HttpInboundTest, AnAnswerThatEndsWithTheConnection) {
  say(get("http://a.example/"));
  EXPECT_EQ(reply(0, "HTTP/1.0 200 OK\r\n\r\nabc"),
            "HTTP/1.0 200 OK\r\nConnection: close\r\n\r\nabc");
  EXPECT_EQ(reply(0, "def"), "def");
  EXPECT_FALSE(client.ended());
  origins[0].feed_end();
  settle();
  EXPECT_TRUE(client.ended());
  world.run_for(2s);
  EXPECT_TRUE(client.closed());
  EXPECT_FALSE(client.aborted());
}

TEST_F(HttpInboundTest, AnOriginThatClosesLeavesTheClientAlone) {
  say(get("http://a.example/1"));
  EXPECT_EQ(reply(0, "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok"), kOk);
  EXPECT_TRUE(origins[0].closed());
  say(get("http://a.example/2"));
  ASSERT_EQ(origins.size(), 2u);
  EXPECT_EQ(reply(1, kOk), kOk);
}

TEST_F(HttpInboundTest, AClientThatWantsToCloseIsClosed) {
  say(get("http://a.example/", "Connection: close\r\n"));
  EXPECT_EQ(reply(0, kOk), "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok");
  world.run_for(2s);
  EXPECT_TRUE(client.closed());
  EXPECT_TRUE(origins[0].closed());
}

// K19: a client of HTTP/1.0 stays only when it is told that it may.
TEST_F(HttpInboundTest, KeepAliveOfHttp10) {
  const std::string request =
      "GET http://a.example/ HTTP/1.0\r\nProxy-Connection: keep-alive\r\n\r\n";
  say(request);
  EXPECT_EQ(at_origin(0), "GET / HTTP/1.0\r\nHost: a.example\r\nConnection: keep-alive\r\n\r\n");
  EXPECT_EQ(reply(0, kOk),
            "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: keep-alive\r\n\r\nok");
  say(request);
  ASSERT_EQ(origins.size(), 1u);
  EXPECT_EQ(reply(0, "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nok"),
            "HTTP/1.0 200 OK\r\nContent-Length: 2\r\nConnection: keep-alive\r\n\r\nok");
  EXPECT_FALSE(client.ended());
}

TEST_F(HttpInboundTest, Http10WithoutKeepAliveIsClosed) {
  say("GET http://a.example/ HTTP/1.0\r\n\r\n");
  EXPECT_EQ(at_origin(0), "GET / HTTP/1.0\r\nHost: a.example\r\nConnection: close\r\n\r\n");
  reply(0, kOk);
  EXPECT_TRUE(client.ended());
}

// ---------------------------------------------------------------- faults

TEST_F(HttpInboundTest, AKeptConnectionThatEndedIsNotUsedAgain) {
  say(get("http://a.example/"));
  reply(0, kOk);
  at_origin(0);
  origins[0].feed_end();
  settle();
  say("POST http://a.example/ HTTP/1.1\r\nContent-Length: 2\r\n\r\nhi");
  ASSERT_EQ(origins.size(), 2u);
  EXPECT_EQ(at_origin(0), "");
  EXPECT_EQ(at_origin(1), "POST / HTTP/1.1\r\nHost: a.example\r\nContent-Length: 2\r\n\r\nhi");
  EXPECT_EQ(reply(1, kOk), kOk);
}

TEST_F(HttpInboundTest, WhatNobodyAskedForIsNoAnswer) {
  say(get("http://a.example/1"));
  EXPECT_EQ(reply(0, kOk + "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil"), kOk);
  say(get("http://a.example/2"));
  ASSERT_EQ(origins.size(), 2u);
  EXPECT_EQ(reply(1, kOk), kOk);
}

TEST_F(HttpInboundTest, ARequestOnAConnectionThatJustEndedIsSentOnceMore) {
  say(get("http://a.example/1"));
  reply(0, kOk);
  at_origin(0);
  say(get("http://a.example/2"));
  ASSERT_EQ(at_origin(0), "GET /2 HTTP/1.1\r\nHost: a.example\r\n\r\n");
  origins[0].feed_end();
  settle();
  ASSERT_EQ(origins.size(), 2u);
  EXPECT_EQ(at_origin(1), "GET /2 HTTP/1.1\r\nHost: a.example\r\n\r\n");
  // Once, not for ever.
  origins[1].feed_end();
  settle();
  EXPECT_EQ(origins.size(), 2u);
  EXPECT_EQ(client.take_written().substr(0, 12), "HTTP/1.1 502");
  EXPECT_FALSE(client.ended());
}

// RFC 9110 section 9.2.2: a proxy does not repeat what may not be repeated.
TEST_F(HttpInboundTest, APostIsNeverSentTwice) {
  say(get("http://a.example/1"));
  reply(0, kOk);
  say("POST http://a.example/buy HTTP/1.1\r\nContent-Length: 0\r\n\r\n");
  origins[0].feed_end();
  settle();
  EXPECT_EQ(origins.size(), 1u);
  EXPECT_EQ(client.take_written().substr(0, 12), "HTTP/1.1 502");
}

TEST_F(HttpInboundTest, AnOriginThatSaysNothingIs502) {
  say(get("http://a.example/"));
  origins[0].feed_end();
  settle();
  EXPECT_EQ(client.take_written().substr(0, 12), "HTTP/1.1 502");
  say(get("http://b.example/"));
  EXPECT_EQ(reply(1, kOk), kOk) << "the client may ask for something else";
}

TEST_F(HttpInboundTest, AnAnswerThatIsNoneIs502) {
  say(get("http://a.example/"));
  EXPECT_EQ(reply(0, "SSH-2.0-x\r\n\r\n").substr(0, 12), "HTTP/1.1 502");
  EXPECT_TRUE(origins[0].closed());
}

TEST_F(HttpInboundTest, AnUpgradeNobodyAskedForIs502) {
  say(get("http://a.example/"));
  EXPECT_EQ(reply(0, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n").substr(0, 12),
            "HTTP/1.1 502");
}

TEST_F(HttpInboundTest, ABodyThatIsCutIsCutForTheClientToo) {
  say(get("http://a.example/"));
  reply(0, "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello");
  origins[0].feed_end();
  settle();
  EXPECT_TRUE(client.aborted());
}

TEST_F(HttpInboundTest, ADialThatFailsIsAnsweredAndTheConnectionStays) {
  const struct {
    Error error;
    const char* line;
  } rows[] = {{Errc::kRefused, "HTTP/1.1 502"},
              {Errc::kNoName, "HTTP/1.1 502"},
              {Errc::kRejected, "HTTP/1.1 403"},
              {Errc::kTimedOut, "HTTP/1.1 504"}};
  for (const auto& row : rows) {
    dial_error = row.error;
    EXPECT_EQ(say(get("http://a.example/")).substr(0, 12), row.line);
  }
  // No body belongs to the answer of a HEAD: it would be taken for the next answer.
  const std::string answer = say("HEAD http://a.example/ HTTP/1.1\r\n\r\n");
  EXPECT_EQ(answer.substr(0, 12), "HTTP/1.1 504");
  EXPECT_EQ(answer.find("\r\n\r\n"), answer.size() - 4) << answer;
  dial_error = {};
  say(get("http://a.example/"));
  EXPECT_EQ(reply(0, kOk), kOk);
}

// K22.
TEST_F(HttpInboundTest, AClientThatLeavesTakesItsRequestAlong) {
  say(get("http://a.example/slow"));
  ASSERT_EQ(origins.size(), 1u);
  EXPECT_FALSE(origins[0].closed());
  client.feed_end();
  settle();
  EXPECT_TRUE(origins[0].closed());
  EXPECT_EQ(sink.live_trackers, 0u);
}

TEST_F(HttpInboundTest, ARequestIsNotSentAgainForAClientThatLeft) {
  say(get("http://a.example/1"));
  reply(0, kOk);
  say(get("http://a.example/slow"));
  client.feed_end();
  settle();
  EXPECT_EQ(origins.size(), 1u);
  EXPECT_TRUE(origins[0].closed());
  EXPECT_EQ(client.take_written(), "");
}

TEST_F(HttpInboundTest, AClientThatResetsTakesItsRequestAlong) {
  say(get("http://a.example/slow"));
  client.break_with(Errc::kReset);
  settle();
  EXPECT_TRUE(origins[0].closed());
}

TEST_F(HttpInboundTest, AClientThatIsSlowToReadGetsItAll) {
  say(get("http://a.example/"));
  client.write_room = 10;
  const std::string body(1000, 'x');
  std::string got = reply(0, "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n" + body);
  while (got.size() < 1039) {
    client.add_room(100);
    settle();
    const std::string part = client.take_written();
    ASSERT_FALSE(part.empty());
    got += part;
  }
  EXPECT_EQ(got, "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n" + body);
}

TEST_F(HttpInboundTest, ASilentClientEndsAtTheDeadline) {
  world.run_for(9s);
  EXPECT_FALSE(client.closed());
  world.run_for(2s);
  EXPECT_TRUE(client.closed());
  EXPECT_EQ(client.take_written(), "");
}

TEST_F(HttpInboundTest, TheDeadlineIsNotRenewedByBytes) {
  for (int i = 0; i < 9; ++i) {
    say("x");
    world.run_for(1s);
  }
  EXPECT_FALSE(client.closed());
  world.run_for(2s);
  EXPECT_TRUE(client.closed());
}

TEST_F(HttpInboundTest, AKeptClientMayBeSilentForAMinute) {
  say(get("http://a.example/"));
  reply(0, kOk);
  world.run_for(59s);
  EXPECT_FALSE(client.closed());
  world.run_for(2s);
  EXPECT_TRUE(client.closed());
  EXPECT_TRUE(origins[0].closed());
}

// ---------------------------------------------------------------- upgrades

TEST_F(HttpInboundTest, AnUpgradeBecomesATunnel) {
  say(get("http://a.example/ws",
          "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"));
  EXPECT_EQ(at_origin(0),
            "GET /ws HTTP/1.1\r\nHost: a.example\r\nSec-WebSocket-Version: 13\r\n"
            "Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n");
  EXPECT_EQ(reply(0,
                  "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n"
                  "Connection: Upgrade\r\nSec-WebSocket-Accept: x\r\n\r\nfirst"),
            "HTTP/1.1 101 Switching Protocols\r\nSec-WebSocket-Accept: x\r\n"
            "Connection: Upgrade\r\nUpgrade: websocket\r\n\r\nfirst");
  say("from the client");
  EXPECT_EQ(at_origin(0), "from the client");
  EXPECT_EQ(reply(0, "from the origin"), "from the origin");
  EXPECT_EQ(sink.relays.size(), 1u);
}

TEST_F(HttpInboundTest, AnUpgradeThatIsDeclinedIsAnAnswer) {
  say(get("http://a.example/ws", "Connection: Upgrade\r\nUpgrade: websocket\r\n"));
  EXPECT_EQ(reply(0, kOk), kOk);
  say(get("http://a.example/"));
  EXPECT_EQ(reply(0, kOk), kOk);
}

// ---------------------------------------------------------------- users (K21)

const std::string kU1 = "Proxy-Authorization: Basic dTE6cDox\r\n";  // u1:p:1
const std::string kU2 = "Proxy-Authorization: basic dTI6cDI=\r\n";  // u2:p2

class HttpUsersTest : public HttpInboundTest {
 protected:
  HttpUsersTest() { sink.users.users = {{"u1", "p:1"}, {"u2", "p2"}}; }
};

TEST_F(HttpUsersTest, NobodyAndTheWrongOneAreAsked) {
  for (const std::string_view fields :
       {"", "Proxy-Authorization: Basic dTE6eA==\r\n", "Proxy-Authorization: Basic\r\n",
        "Proxy-Authorization: Basic !!!!\r\n", "Proxy-Authorization: Basic dTE=\r\n",
        "Proxy-Authorization: Bearer dTE6cDox\r\n", "Authorization: Basic dTE6cDox\r\n"}) {
    const std::string answer = say(get("http://a.example/", fields));
    EXPECT_EQ(answer.substr(0, 12), "HTTP/1.1 407") << fields;
    EXPECT_NE(answer.find("Proxy-Authenticate: Basic realm="), std::string::npos);
  }
  EXPECT_TRUE(sink.opened.empty());
  EXPECT_FALSE(client.ended()) << "and may try again";
  say(get("http://a.example/", kU1));
  EXPECT_EQ(at_origin(0), "GET / HTTP/1.1\r\nHost: a.example\r\n\r\n");
  EXPECT_EQ(reply(0, kOk), kOk);
}

// It is no request (RFC 9112 section 3.2), so nobody is asked who they are.
TEST_F(HttpUsersTest, OriginFormWithoutHostIs400) {
  EXPECT_EQ(refusal(get("/x")), "HTTP/1.1 400");
}

TEST_F(HttpUsersTest, TheAnswerToAHeadHasNoBody) {
  const std::string answer = say("HEAD http://a.example/ HTTP/1.1\r\n\r\n");
  EXPECT_EQ(answer.substr(0, 12), "HTTP/1.1 407");
  EXPECT_EQ(answer.find("\r\n\r\n"), answer.size() - 4) << answer;
  EXPECT_FALSE(client.ended());
}

TEST_F(HttpUsersTest, ABodyThatWasNotAskedForEndsTheConnection) {
  EXPECT_EQ(refusal("POST http://a.example/ HTTP/1.1\r\nContent-Length: 2\r\n\r\nhi"),
            "HTTP/1.1 407");
}

TEST_F(HttpUsersTest, Http10IsClosed) {
  EXPECT_EQ(refusal("GET http://a.example/ HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"),
            "HTTP/1.1 407");
}

TEST_F(HttpUsersTest, EachRequestIsJudgedByItsOwn) {
  say(get("http://a.example/", kU1));
  reply(0, kOk);
  say(get("http://a.example/", kU2));
  ASSERT_EQ(origins.size(), 2u) << "no connection is shared by users";
  reply(1, kOk);
  EXPECT_EQ(sink.opened[0].meta.user, 0u);
  EXPECT_EQ(sink.opened[1].meta.user, 1u);
  EXPECT_EQ(say(get("http://a.example/")).substr(0, 12), "HTTP/1.1 407");
}

TEST_F(HttpUsersTest, ConnectToo) {
  EXPECT_EQ(say("CONNECT a.example:443 HTTP/1.1\r\n\r\n").substr(0, 12), "HTTP/1.1 407");
  EXPECT_EQ(say("CONNECT a.example:443 HTTP/1.1\r\n" + kU2 + "\r\n").substr(0, 12), "HTTP/1.1 200");
  EXPECT_EQ(sink.opened.at(0).meta.user, 1u);
}

}  // namespace
}  // namespace culvert::protocol::http
