#include "protocol/http/outbound.h"

#include <gtest/gtest.h>

#include <string>

#include "flow/testing/outbound_trial.h"
#include "protocol/http/inbound.h"

namespace culvert::protocol::http {
namespace {

using namespace std::chrono_literals;

struct Trial : flow::testing::OutboundTrial {
  explicit Trial(const std::string& keys = "server: proxy.example, port: 3128")
      : OutboundTrial(&register_protocol, "http", "{" + keys + "}") {}
};

const std::string kOk = "HTTP/1.1 200 Connection established\r\n\r\n";

// RFC 9110 section 9.3.6.
TEST(HttpOutbound, Connects) {
  const std::pair<const char*, std::string> cases[] = {
      {"a.example:443", "CONNECT a.example:443 HTTP/1.1\r\nHost: a.example:443\r\n\r\n"},
      {"192.0.2.33:80", "CONNECT 192.0.2.33:80 HTTP/1.1\r\nHost: 192.0.2.33:80\r\n\r\n"},
      {"[2001:db8::1]:8443",
       "CONNECT [2001:db8::1]:8443 HTTP/1.1\r\nHost: [2001:db8::1]:8443\r\n\r\n"}};
  for (const auto& [to, request] : cases) {
    Trial t;
    t.dial(to);
    EXPECT_EQ(t.dialled, std::vector<std::string>{"proxy.example:3128"});
    EXPECT_EQ(t.sent(), request);
    EXPECT_FALSE(t.over());
    t.feed(kOk);
    ASSERT_TRUE(t.open());
    EXPECT_EQ(t.sent(), "");
    EXPECT_EQ(t.outbound->type(), "Http");
  }
}

TEST(HttpOutbound, Credentials) {
  // RFC 7617 section 2: "Aladdin" and "open sesame"; section 2.1: "test" and "123" with a pound
  // sign.
  const std::pair<const char*, const char*> cases[] = {
      {"username: Aladdin, password: open sesame", "QWxhZGRpbjpvcGVuIHNlc2FtZQ=="},
      {"username: test, password: 123\u00a3", "dGVzdDoxMjPCow=="}};
  for (const auto& [keys, encoded] : cases) {
    Trial t(std::string("server: a.example, port: 1, ") + keys);
    ASSERT_EQ(t.said, "");
    t.dial("a.example:443");
    EXPECT_EQ(t.sent(),
              "CONNECT a.example:443 HTTP/1.1\r\nHost: a.example:443\r\n"
              "Proxy-Authorization: Basic " +
                  std::string(encoded) + "\r\n\r\n");
  }
}

TEST(HttpOutbound, FieldsOfItsOwn) {
  Trial t(
      "server: a.example, port: 1, username: u, password: p, "
      "headers: {User-Agent: x/1, X-Token: 'a: b'}");
  ASSERT_EQ(t.said, "");
  t.dial("b.example:80");
  EXPECT_EQ(t.sent(),
            "CONNECT b.example:80 HTTP/1.1\r\nHost: b.example:80\r\n"
            "Proxy-Authorization: Basic dTpw\r\nUser-Agent: x/1\r\nX-Token: a: b\r\n\r\n");
}

// As mihomo has it: what a profile says of these two counts more than what a request would say.
TEST(HttpOutbound, HostAndCredentialsMayBeGivenAsFields) {
  Trial t(
      "server: a.example, port: 1, "
      "headers: {host: front.example, Proxy-Authorization: 'Bearer x'}");
  ASSERT_EQ(t.said, "");
  t.dial("b.example:80");
  EXPECT_EQ(t.sent(),
            "CONNECT b.example:80 HTTP/1.1\r\nhost: front.example\r\n"
            "Proxy-Authorization: Bearer x\r\n\r\n");
}

TEST(HttpOutbound, TheTunnelBeginsBehindASuccess) {
  const std::string heads[] = {
      kOk,
      "HTTP/1.0 200 OK\r\n\r\n",
      "HTTP/1.1 204 No Content\r\n\r\n",
      "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
      "HTTP/1.1 100 Continue\r\n\r\n" + kOk,
      "HTTP/1.1 103 Early Hints\r\nLink: <x>\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n" + kOk,
      "HTTP/1.1 200 OK\r\nX: " + std::string(60'000, 'x') + "\r\n\r\n",
  };
  for (const std::string& head : heads) {
    Trial t;
    t.dial("a.example:443");
    t.feed(head + "5\r\nhello");
    ASSERT_TRUE(t.open()) << head.substr(0, 60);
    const Result<MutableBytes> rest = (**t.result)->lend();
    ASSERT_TRUE(rest.ok());
    EXPECT_EQ(as_text(*rest), "5\r\nhello");

    Trial slow;
    slow.dial("a.example:443");
    slow.server.read_limit = 1;
    slow.feed(head + "payload");
    ASSERT_TRUE(slow.open()) << head.substr(0, 60);
    EXPECT_EQ(slow.server.unread(), 7u);
  }
}

TEST(HttpOutbound, Refusals) {
  const std::pair<const char*, Errc> cases[] = {
      {"407 Proxy Authentication Required", Errc::kUnauthorized},
      {"400 Bad Request", Errc::kRefused},
      {"403 Forbidden", Errc::kRefused},
      {"301 Moved", Errc::kRefused},
      {"500 Oops", Errc::kRefused},
      {"502 Bad Gateway", Errc::kUnreachable},
      {"503 Service Unavailable", Errc::kUnreachable},
      {"504 Gateway Timeout", Errc::kTimedOut}};
  for (const auto& [line, code] : cases) {
    Trial t;
    t.dial("a.example:443");
    t.feed(std::string("HTTP/1.1 ") + line + "\r\nContent-Length: 2\r\n\r\nno");
    ASSERT_TRUE(t.over()) << line;
    EXPECT_EQ(t.error().code, code) << line;
    EXPECT_EQ(t.error().side, Side::kUpstream);
    EXPECT_TRUE(t.server.closed());
  }
}

TEST(HttpOutbound, Garbage) {
  std::string many;
  for (int i = 0; i < 40; ++i) many += "HTTP/1.1 100 Continue\r\n\r\n";
  const std::string cases[] = {
      "\x05\xff\r\n\r\n",
      "HTTP/2 200 OK\r\n\r\n",
      "HTTP/1.1 200 OK\n\n",
      "HTTP/1.1 20 OK\r\n\r\n",
      "SSH-2.0-OpenSSH_9.2\r\n\r\n",
      "HTTP/1.1 101 Switching Protocols\r\n\r\n",
      // More than wire::kMaxHttpHead, and then more interim responses than anybody sends.
      "HTTP/1.1 200 OK\r\nX: " + std::string(70'000, 'x') + "\r\n\r\n",
      many + kOk,
  };
  for (const std::string& bad : cases) {
    Trial t;
    t.dial("a.example:443");
    t.feed(bad);
    ASSERT_TRUE(t.over()) << bad.substr(0, 60);
    EXPECT_EQ(t.error().code, Errc::kBadMessage) << bad.substr(0, 60);
    EXPECT_EQ(t.error().side, Side::kUpstream);
    EXPECT_TRUE(t.server.closed());
  }
}

TEST(HttpOutbound, EarlyEnds) {
  for (size_t n = 0; n < kOk.size(); ++n) {
    Trial t;
    t.dial("a.example:443");
    t.feed(kOk.substr(0, n));
    EXPECT_FALSE(t.over()) << n;
    t.server.feed_end();
    t.settle();
    ASSERT_TRUE(t.over()) << n;
    EXPECT_EQ(t.error().code, Errc::kBadMessage) << n;
    EXPECT_EQ(t.error().side, Side::kUpstream);
  }
  Trial t;
  t.dial("a.example:443");
  t.server.break_with(Error(Errc::kReset));
  t.settle();
  ASSERT_TRUE(t.over());
  EXPECT_EQ(t.error(), Error(Errc::kReset, Side::kUpstream));
}

TEST(HttpOutbound, SilenceEndsWithTheDeadline) {
  for (const std::string& part : {std::string(), kOk.substr(0, 9), kOk.substr(0, kOk.size() - 1)}) {
    Trial t;
    t.dial("a.example:443", 3s);
    t.feed(part);
    t.world.run_for(2900ms);
    EXPECT_FALSE(t.over());
    t.world.run_for(200ms);
    ASSERT_TRUE(t.over());
    EXPECT_EQ(t.error(), Error(Errc::kTimedOut, Side::kUpstream));
    EXPECT_TRUE(t.server.closed());
  }
}

TEST(HttpOutbound, KeysOfTlsChangeNothingWithoutIt) {
  const std::string node = "server: a.example, port: 1, ";
  for (const char* keys : {"tls: false, skip-cert-verify: true, sni: x", "fingerprint: x"}) {
    const Trial t(node + keys);
    EXPECT_EQ(t.said, "") << keys;
    EXPECT_EQ(t.unsupported_reason, "") << keys;
    EXPECT_NE(t.outbound, nullptr);
  }
  EXPECT_EQ(Trial(node + "tls: true, sni: x").unsupported_reason,
            "tls: not supported in this version");
}

TEST(HttpOutbound, Reads) {
  const auto refused = [](const std::string& keys) {
    const Trial t("server: a.example, port: 1, " + keys);
    return t.said;
  };
  EXPECT_EQ(Trial("server: a.example").said, "c.yaml:1:1: error: no port\n");
  EXPECT_NE(refused("username: 'a:b', password: p").find("c.yaml:1:40: error: username: "),
            std::string::npos);
  for (const char* name : {"Content-Length", "transfer-encoding", "'a b'", "''", "'x\\u00e9'"}) {
    const std::string said = refused(std::string("headers: {") + name + ": x}");
    EXPECT_NE(said.find("c.yaml:1:40: error: headers"), std::string::npos) << said;
  }
  EXPECT_EQ(refused("username: u, headers: {proxy-authorization: x}"),
            "c.yaml:1:53: warning: headers.proxy-authorization: left out: username and password "
            "count\n");
  const std::string secret = refused("headers: {X: \"s3cret\\r\\nY: z\"}");
  EXPECT_NE(secret.find("error: headers.X: "), std::string::npos) << secret;
  EXPECT_EQ(secret.find("s3cret"), std::string::npos) << "values may be secrets";
  EXPECT_NE(refused("headers: {X: [a]}").find("error: headers.X: "), std::string::npos);
  EXPECT_NE(refused("headers: [a]").find("error: headers: "), std::string::npos);
}

}  // namespace
}  // namespace culvert::protocol::http
