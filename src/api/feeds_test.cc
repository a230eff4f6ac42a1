#include "api/feeds.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "api/testing/controller_fixture.h"
#include "base/log.h"
#include "wire/http1.h"

namespace culvert::api {
namespace {

using namespace std::chrono_literals;
using namespace testing;

class FeedsTest : public ControllerFixture {};

TEST_F(FeedsTest, TrafficIsALineASecond) {
  start();
  Client c = connect();
  send(c, "GET /traffic HTTP/1.1\r\n" + kHost + "\r\n");
  world.run_for(500ms);
  c.read();
  EXPECT_NE(c.got.find("Transfer-Encoding: chunked\r\n"), std::string::npos);
  EXPECT_EQ(body(c.got), "");
  Client flow = connect(kProxy);
  send(flow, "hello");
  world.run_for(3s);
  c.read();
  wire::ChunkedScanner chunks;
  const std::string lines = body(c.got);
  EXPECT_EQ(chunks.advance(as_bytes(lines)), lines.size());
  EXPECT_FALSE(chunks.failed());
  EXPECT_EQ(std::count(lines.begin(), lines.end(), '{'), 3);
  EXPECT_NE(lines.find(R"({"up":5,"down":0,"upTotal":5,"downTotal":0})"), std::string::npos)
      << lines;
}

TEST_F(FeedsTest, AWebSocketAnswersPingsAndCloses) {
  start();
  Client c = connect();
  send(c, upgrade("/memory"));
  ASSERT_TRUE(wait_for(c, "\"inuse\":0"));
  // RFC 6455 section 1.3.
  EXPECT_NE(c.got.find("Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"),
            std::string::npos);
  EXPECT_EQ(body(c.got)[0], '\x81');
  send(c, std::string("\x89\x82\0\0\0\0hi", 8));
  EXPECT_TRUE(wait_for(c, "\x8a\x02hi"));
  send(c, std::string("\x88\x82\0\0\0\0\x03\xe8", 8));
  EXPECT_TRUE(wait_for(c, "\x88\x02\x03\xe8"));
  EXPECT_TRUE(wait_for_end(c, 1s));
}

// RFC 6455 section 4.4 and, for what is no handshake, 4.2.1.
TEST_F(FeedsTest, AWebSocketHandshakeThatIsNoneIsTold) {
  start("s3cret");
  const std::string good = upgrade("/traffic?token=s3cret");
  const std::string version = "Sec-WebSocket-Version: 13\r\n";
  const size_t at = good.find(version);
  for (const std::string_view other : {"Sec-WebSocket-Version: 8\r\n", ""}) {
    std::string request = good;
    const std::string answer = ask(request.replace(at, version.size(), other));
    EXPECT_EQ(status(answer), "426") << other;
    EXPECT_NE(answer.find("\r\nSec-WebSocket-Version: 13\r\n"), std::string::npos);
    EXPECT_NE(answer.find("\r\nUpgrade: websocket\r\n"), std::string::npos);
  }
  std::string two = good;
  two.insert(at, "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n");
  EXPECT_EQ(status(ask(two)), "400");
  two = good;
  two.insert(at, version);
  EXPECT_EQ(status(ask(two)), "400");
  std::string elsewhere = good;
  elsewhere.replace(at, version.size(), "Sec-WebSocket-Version: 8\r\n");
  elsewhere.replace(elsewhere.find("/traffic"), 8, "/version");
  EXPECT_EQ(status(ask(elsewhere)), "200") << "an upgrade may be declined";
}

TEST_F(FeedsTest, AWebSocketThatBreaksTheRulesIsTold) {
  start();
  Client c = connect();
  send(c, upgrade("/connections?interval=1000"));
  ASSERT_TRUE(wait_for(c, "\"connections\""));
  send(c, "\x81\x02hi");  // not masked
  EXPECT_TRUE(wait_for(c, "\x88\x02\x03\xea"));
  EXPECT_TRUE(wait_for_end(c, 1s));
}

TEST_F(FeedsTest, LogsArePassedOn) {
  start();
  Client c = connect();
  send(c, "GET /logs?level=warning HTTP/1.1\r\n" + kHost + "\r\n");
  ASSERT_TRUE(wait_for(c, "\r\n\r\n"));
  CULVERT_LOG(kWarning, "for the \"client\"");
  EXPECT_TRUE(wait_for(c, R"({"type":"warning","payload":"for the \"client\""})"));
}

}  // namespace
}  // namespace culvert::api
