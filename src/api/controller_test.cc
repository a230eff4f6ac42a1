#include "api/controller.h"

#include <gtest/gtest.h>

#include "api/testing/controller_fixture.h"
#include "wire/http1.h"

namespace culvert::api {
namespace {

using namespace std::chrono_literals;
using namespace testing;

class ControllerTest : public ControllerFixture {};

TEST_F(ControllerTest, AnswersAndKeepsTheConnection) {
  start();
  Client c = connect();
  send(c, "GET / HTTP/1.1\r\n" + kHost + "\r\nGET /version HTTP/1.1\r\n" + kHost + "\r\n");
  ASSERT_TRUE(wait_for(c, R"("version")"));
  EXPECT_NE(c.got.find(R"({"hello":"mihomo"})"), std::string::npos);
  EXPECT_NE(c.got.find(R"({"meta":true,"version":")"), std::string::npos);
  EXPECT_NE(c.got.find("Content-Type: application/json\r\n"), std::string::npos);
  EXPECT_EQ(c.end, Errc::kNone);
  send(c, "GET / HTTP/1.1\r\n" + kHost + "Connection: close\r\n\r\n");
  EXPECT_TRUE(wait_for_end(c, 1s));
  EXPECT_EQ(c.end, Errc::kEndOfStream);
}

TEST_F(ControllerTest, Refusals) {
  start();
  EXPECT_EQ(status(get("/nothing")), "404");
  EXPECT_EQ(status(get("/ui/../config.yaml")), "404");
  EXPECT_EQ(status(get("/", "Host: evil.example\r\n")), "403");
  const std::string post = ask("POST /version HTTP/1.1\r\n" + kHost + "\r\n");
  EXPECT_EQ(status(post), "405");
  EXPECT_NE(post.find("Allow: GET\r\n"), std::string::npos);
  EXPECT_EQ(
      status(ask("PATCH /configs HTTP/1.1\r\n" + kHost + "Content-Length: 1073741824\r\n\r\n")),
      "413");
  EXPECT_EQ(status(ask("POST / HTTP/1.1\r\n" + kHost +
                       "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n")),
            "400");
  EXPECT_EQ(status(ask("garbage\r\n\r\n")), "400");
  EXPECT_EQ(status(get("/logs?level=loud")), "400");
  EXPECT_EQ(status(ask("GET /" + std::string(wire::kMaxHttpHead - 5, 'x'))), "414");
}

// RFC 9112 section 3.2.
TEST_F(ControllerTest, ARequestOfHttp11NamesItsHost) {
  start("s3cret");
  const std::string bearer = "Authorization: Bearer s3cret\r\n";
  EXPECT_EQ(status(get("/version", bearer)), "400");
  EXPECT_EQ(status(get("/version", kHost + kHost + bearer)), "400");
  EXPECT_EQ(status(ask("GET /version HTTP/1.0\r\n" + bearer + "\r\n")), "200");
}

// RFC 9112 section 9.3: a client of HTTP/1.0 that asks for it has to be told.
TEST_F(ControllerTest, KeepsAClientOfHttp10) {
  start();
  Client c = connect();
  const std::string request =
      "GET /version HTTP/1.0\r\n" + kHost + "Connection: keep-alive\r\n\r\n";
  for (int i = 0; i < 2; ++i) {
    send(c, request);
    ASSERT_TRUE(wait_for(c, R"("version")"));
    EXPECT_NE(c.got.find("\r\nConnection: keep-alive\r\n"), std::string::npos) << c.got;
    EXPECT_EQ(c.end, Errc::kNone);
    c.got.clear();
  }
  const std::string closed = ask("GET /version HTTP/1.0\r\n" + kHost + "\r\n");
  EXPECT_NE(closed.find("\r\nConnection: close\r\n"), std::string::npos);
  EXPECT_EQ(get("/version").find("keep-alive"), std::string::npos);
}

TEST_F(ControllerTest, TheAnswerToAHeadHasNoBody) {
  start();
  for (const std::string_view target : {"/", "/nothing"}) {
    const std::string answer =
        ask("HEAD " + std::string(target) + " HTTP/1.1\r\n" + kHost + "\r\n");
    EXPECT_EQ(answer.find("HTTP/1.1 40"), 0u);
    EXPECT_EQ(body(answer), "");
  }
}

TEST_F(ControllerTest, TheSecret) {
  start("s3cret");
  const std::string denied = get("/version");
  EXPECT_EQ(status(denied), "401");
  EXPECT_EQ(body(denied), R"({"message":"Unauthorized"})");
  EXPECT_EQ(status(get("/version", kHost + "Authorization: Bearer wrong\r\n")), "401");
  EXPECT_EQ(status(get("/version?token=s3cret")), "401") << "tokens are for upgrades";
  EXPECT_EQ(status(get("/version", kHost + "Authorization: bearer s3cret\r\n")), "200");
  EXPECT_EQ(status(ask(upgrade("/traffic?token=s3cret"))), "101");
  EXPECT_EQ(status(ask(upgrade("/traffic?token=wrong"))), "401");
  EXPECT_EQ(status(ask("OPTIONS /version HTTP/1.1\r\n" + kHost +
                       "Origin: https://a.example\r\n"
                       "Access-Control-Request-Method: GET\r\n\r\n")),
            "204")
      << "preflights carry no secret";
}

TEST_F(ControllerTest, DoesNotOpenToOthersWithoutASecret) {
  const Endpoint any{IpAddress::v4(0), 9090};
  start("", any);
  EXPECT_FALSE(controller->listening_at().has_value());
  controller.reset();
  start("s", any);
  EXPECT_TRUE(controller->listening_at().has_value());
}

TEST_F(ControllerTest, ASilentClientIsClosed) {
  start();
  Client c = connect();
  send(c, "GET / HT");
  world.run_for(Controller::Options().head_time - 1s);
  c.read();
  EXPECT_EQ(c.end, Errc::kNone);
  EXPECT_TRUE(wait_for_end(c, 2s));
}

TEST_F(ControllerTest, AClientThatDoesNotReadIsClosed) {
  start();
  Client c = connect();
  // Many answers, none of them taken.
  std::string many;
  while (many.size() < 60'000) many += "GET /version HTTP/1.1\r\n" + kHost + "\r\n";
  send(c, many);
  const size_t before = world.open_streams();
  world.run_for(Controller::kWriteTime + 5s);
  EXPECT_LT(world.open_streams(), before);
}

TEST_F(ControllerTest, AsManyClientsAsThereMayBe) {
  start();
  std::vector<Client> clients;
  for (size_t i = 0; i < Controller::kMaxClients; ++i) clients.push_back(connect());
  world.run_for(100ms);
  Client more = connect();
  EXPECT_TRUE(wait_for_end(more, 1s));
  clients.pop_back();
  world.run_for(100ms);
  EXPECT_EQ(status(get("/")), "200");
}

TEST_F(ControllerTest, StopsWithClientsConnected) {
  start();
  Client c = connect();
  send(c, upgrade("/traffic"));
  Client idle = connect();
  ASSERT_TRUE(wait_for(c, "101"));
  controller->stop();
  EXPECT_TRUE(wait_for_end(c, 1s));
  EXPECT_TRUE(wait_for_end(idle, 1s));
  controller.reset();
}

}  // namespace
}  // namespace culvert::api
