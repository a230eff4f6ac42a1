#include "protocol/socks/outbound.h"

#include <gtest/gtest.h>

#include <string>

#include "flow/testing/outbound_trial.h"
#include "protocol/socks/inbound.h"

namespace culvert::protocol::socks {
namespace {

using namespace std::chrono_literals;
using namespace std::string_literals;

struct Trial : flow::testing::OutboundTrial {
  explicit Trial(const std::string& keys = "server: proxy.example, port: 1080")
      : OutboundTrial(&register_protocol, "socks5", "{" + keys + "}") {}
};

// RFC 1928 section 3: version 5, one method, no authentication.
const std::string kGreeting = "\x05\x01\x00"s;
const std::string kNoAuth = "\x05\x00"s;
const std::string kAskUser = "\x05\x02"s;
const std::string kUserKeys = "server: 192.0.2.7, port: 1080, username: u1, password: 'p:1'";
const std::string kGreetingWithUser = "\x05\x02\x00\x02"s;
// RFC 1929 section 2.
const std::string kCredentials = "\x01\x02u1\x03p:1"s;
const std::string kRequestName = "\x05\x01\x00\x03\x09"s + "a.example" + "\x01\xbb"s;
const std::string kGranted = "\x05\x00\x00\x01\xc0\x00\x02\x07\x12\x34"s;

TEST(SocksOutbound, ConnectsByName) {
  Trial t;
  t.dial("a.example:443");
  EXPECT_EQ(t.dialled, std::vector<std::string>{"proxy.example:1080"});
  EXPECT_EQ(t.sent(), kGreeting);
  t.feed(kNoAuth);
  EXPECT_EQ(t.sent(), kRequestName);
  EXPECT_FALSE(t.over());
  t.feed(kGranted);
  ASSERT_TRUE(t.open());
  EXPECT_EQ(t.sent(), "");
  EXPECT_EQ(t.outbound->name(), "N");
  EXPECT_EQ(t.outbound->type(), "Socks5");
}

TEST(SocksOutbound, ConnectsByAddress) {
  const std::pair<const char*, std::string> cases[] = {
      {"192.0.2.33:80", "\x05\x01\x00\x01\xc0\x00\x02\x21\x00\x50"s},
      {"[2001:db8::1]:8443",
       "\x05\x01\x00\x04\x20\x01\x0d\xb8\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01\x20\xfb"s}};
  for (const auto& [to, request] : cases) {
    Trial t("server: '[2001:db8::7]', port: 1080");
    t.dial(to);
    EXPECT_EQ(t.dialled, std::vector<std::string>{"[2001:db8::7]:1080"});
    t.feed(kNoAuth);
    EXPECT_EQ(t.sent(), kGreeting + request);
    t.feed(kGranted);
    EXPECT_TRUE(t.open());
  }
}

TEST(SocksOutbound, TheLongestName) {
  const std::string name = std::string(63, 'a') + "." + std::string(63, 'b') + "." +
                           std::string(63, 'c') + "." + std::string(63, 'd');
  ASSERT_EQ(name.size(), 255u);
  Trial t;
  t.dial(name + ":80");
  t.feed(kNoAuth);
  EXPECT_EQ(t.sent(), kGreeting + "\x05\x01\x00\x03\xff"s + name + "\x00\x50"s);
  t.feed(kGranted);
  EXPECT_TRUE(t.open());
}

TEST(SocksOutbound, ShowsCredentialsToWhoAsks) {
  Trial t(kUserKeys);
  t.dial("a.example:443");
  EXPECT_EQ(t.sent(), kGreetingWithUser);
  t.feed(kAskUser);
  EXPECT_EQ(t.sent(), kCredentials);
  t.feed("\x01\x00"s);
  EXPECT_EQ(t.sent(), kRequestName);
  t.feed(kGranted);
  EXPECT_TRUE(t.open());

  Trial free(kUserKeys);
  free.dial("a.example:443");
  free.feed(kNoAuth);
  EXPECT_EQ(free.sent(), kGreetingWithUser + kRequestName) << "the server does not ask";
}

TEST(SocksOutbound, TheLongestCredentials) {
  const std::string user(255, 'u'), password(255, 'p');
  Trial t("server: a.example, port: 1, username: " + user + ", password: " + password);
  ASSERT_EQ(t.said, "");
  t.dial("a.example:443");
  t.feed(kAskUser);
  EXPECT_EQ(t.sent(), kGreetingWithUser + "\x01\xff"s + user + "\xff"s + password);
}

TEST(SocksOutbound, RefusedMethodsAndCredentials) {
  struct Case {
    std::string keys;
    std::string answer;
    Errc code;
  };
  const std::string plain = "server: a.example, port: 1";
  const Case cases[] = {
      {plain, "\x05\xff"s, Errc::kUnauthorized},
      {kUserKeys, "\x05\xff"s, Errc::kUnauthorized},
      {plain, kAskUser, Errc::kUnauthorized},  // it was not offered
      {kUserKeys, "\x05\x01"s, Errc::kUnauthorized},
      {kUserKeys, kAskUser + "\x01\x01"s, Errc::kUnauthorized},
      {kUserKeys, kAskUser + "\x01\xff"s, Errc::kUnauthorized},
      {plain, "\x04\x00"s, Errc::kBadMessage},
      {plain, "HTTP/1.1 400 Bad Request\r\n\r\n", Errc::kBadMessage},
  };
  for (const Case& c : cases) {
    Trial t(c.keys);
    t.dial("a.example:443");
    t.feed(c.answer);
    ASSERT_TRUE(t.over());
    EXPECT_EQ(t.error().code, c.code) << c.keys;
    EXPECT_EQ(t.error().side, Side::kUpstream);
    EXPECT_TRUE(t.server.closed());
  }
}

// RFC 1928 section 6.
TEST(SocksOutbound, EveryReplyCode) {
  for (int code = 1; code < 256; ++code) {
    Trial t;
    t.dial("a.example:443");
    t.feed(kNoAuth);
    t.feed("\x05"s + static_cast<char>(code) + "\x00\x01\x00\x00\x00\x00\x00\x00"s);
    ASSERT_TRUE(t.over()) << code;
    const Errc wanted = code == 3 || code == 4 ? Errc::kUnreachable
                        : code == 6            ? Errc::kTimedOut
                                               : Errc::kRefused;
    EXPECT_EQ(t.error().code, wanted) << code;
    EXPECT_EQ(t.error().side, Side::kUpstream);
    EXPECT_TRUE(t.server.closed());
  }
}

// Some servers leave the address out where there is nothing to say.
TEST(SocksOutbound, ARefusalMayBeCutShort) {
  Trial t;
  t.dial("a.example:443");
  t.feed(kNoAuth);
  t.server.feed("\x05\x04"s);
  t.server.feed_end();
  t.settle();
  ASSERT_TRUE(t.over());
  EXPECT_EQ(t.error().code, Errc::kUnreachable);
}

TEST(SocksOutbound, BoundAddressesOfEveryType) {
  const std::string name255 = "\x05\x00\x00\x03\xff"s + std::string(255, 'n') + "\x00\x50"s;
  const std::string replies[] = {
      kGranted,
      "\x05\x00\x00\x01\x00\x00\x00\x00\x00\x00"s,
      "\x05\x00\x00\x03\x01x\x00\x50"s,
      "\x05\x00\x00\x03\x00\x00\x50"s,
      name255,
      "\x05\x00\x00\x04"s + std::string(16, '\x20') + "\x00\x50"s,
  };
  for (const std::string& reply : replies) {
    for (const bool bytewise : {false, true}) {
      Trial t;
      t.dial("a.example:443");
      if (bytewise) {
        for (const char c : kNoAuth + reply) {
          EXPECT_FALSE(t.over());
          t.feed(std::string(1, c));
        }
      } else {
        // What the server says at once behind its reply is the flow's.
        t.feed(kNoAuth + reply + "payload");
      }
      ASSERT_TRUE(t.open()) << reply.size();
      EXPECT_EQ(t.server.unread(), bytewise ? 0u : 7u);
      if (!bytewise) {
        const Result<MutableBytes> rest = (**t.result)->lend();
        ASSERT_TRUE(rest.ok());
        EXPECT_EQ(as_text(*rest), "payload");
      }
    }
  }
}

TEST(SocksOutbound, GarbageAndEarlyEnds) {
  const std::string whole = kNoAuth + kGranted;
  for (size_t n = 0; n < whole.size(); ++n) {
    Trial t;
    t.dial("a.example:443");
    t.feed(whole.substr(0, n));
    EXPECT_FALSE(t.over()) << n;
    t.server.feed_end();
    t.settle();
    ASSERT_TRUE(t.over()) << n;
    EXPECT_EQ(t.error().code, Errc::kBadMessage) << n;
    EXPECT_EQ(t.error().side, Side::kUpstream);
  }
  for (const std::string& bad : {"\x04\x00\x00\x01"s, "\x05\x00\x00\x02"s, "\x05\x00\x00\x00"s}) {
    Trial t;
    t.dial("a.example:443");
    t.feed(kNoAuth + bad + std::string(8, '\0'));
    ASSERT_TRUE(t.over());
    EXPECT_EQ(t.error().code, Errc::kBadMessage);
    EXPECT_TRUE(t.server.closed());
  }
  Trial t;
  t.dial("a.example:443");
  t.feed(kNoAuth);
  t.server.break_with(Error(Errc::kReset));
  t.settle();
  ASSERT_TRUE(t.over());
  EXPECT_EQ(t.error().code, Errc::kReset);
  EXPECT_EQ(t.error().side, Side::kUpstream);
}

TEST(SocksOutbound, SilenceEndsWithTheDeadline) {
  const std::string parts[] = {"", kNoAuth, kNoAuth + kGranted.substr(0, 4),
                               kNoAuth + kGranted.substr(0, 9)};
  for (const std::string& part : parts) {
    Trial t;
    t.dial("a.example:443", 3s);
    t.feed(part);
    t.world.run_for(2900ms);
    EXPECT_FALSE(t.over());
    t.world.run_for(200ms);
    ASSERT_TRUE(t.over());
    EXPECT_EQ(t.error().code, Errc::kTimedOut);
    EXPECT_EQ(t.error().side, Side::kUpstream);
    EXPECT_TRUE(t.server.closed());
  }
}

TEST(SocksOutbound, AServerThatTakesNothingIsLetGo) {
  Trial t;
  t.server.write_room = 2;
  t.dial("a.example:443", 3s);
  t.world.run_for(3100ms);
  ASSERT_TRUE(t.over());
  EXPECT_EQ(t.error().code, Errc::kTimedOut);
}

TEST(SocksOutbound, AnUnreachableServerIsToldAsItIs) {
  Trial t;
  t.unreachable = Error(Errc::kRefused, Side::kUpstream);
  t.dial("a.example:443");
  ASSERT_TRUE(t.over());
  EXPECT_EQ(t.error(), t.unreachable);
  Trial zoned("server: 'fe80::1%no_such_if0', port: 1");
  zoned.dial("a.example:443");
  ASSERT_TRUE(zoned.over());
  EXPECT_EQ(zoned.error().code, Errc::kUnreachable);
  EXPECT_TRUE(zoned.dialled.empty());
}

// What the profile names may be anywhere, whatever the client may reach.
TEST(SocksOutbound, ItsServerIsNamedByTheProfile) {
  Trial t("server: 127.0.0.1, port: 1080");
  t.dial("a.example:443");
  ASSERT_EQ(t.asked.size(), 1u);
  EXPECT_TRUE(t.asked[0].address_named);
  EXPECT_EQ(t.asked[0].source.to_string(), "192.0.2.100:4711");
}

TEST(SocksOutbound, KeysThatChangeNothingForTcp) {
  const std::string node = "server: a.example, port: 1, ";
  for (const char* keys : {"udp: true", "udp: false", "tls: false, skip-cert-verify: true",
                           "skip-cert-verify: true, fingerprint: x"}) {
    const Trial t(node + keys);
    EXPECT_EQ(t.said, "") << keys;
    EXPECT_EQ(t.unsupported_reason, "") << keys;
    EXPECT_NE(t.outbound, nullptr);
  }
  for (const char* keys : {"tls: true", "tls: true, skip-cert-verify: true"}) {
    const Trial t(node + keys);
    EXPECT_EQ(t.said, "") << keys;
    EXPECT_EQ(t.unsupported_reason, "tls: not supported in this version") << keys;
  }
}

TEST(SocksOutbound, Reads) {
  EXPECT_EQ(Trial("server: a.example, port: 1, username: u").said, "");
  EXPECT_EQ(Trial("server: a.example, port: 0").said,
            "c.yaml:1:27: error: port: found '0', expected a port from 1 to 65535\n");
  EXPECT_EQ(Trial("port: 1").said, "c.yaml:1:1: error: no server\n");
  EXPECT_EQ(Trial("server: 'a b', port: 1").said,
            "c.yaml:1:10: error: server: found 'a b', expected a host name or an IP address\n");
  EXPECT_EQ(Trial("server: a.example, port: 1, username: [u]").said,
            "c.yaml:1:40: error: username: found a list, expected text\n");
  const Trial secret("server: a.example, port: 1, username: u, password: " + std::string(256, 's'));
  EXPECT_EQ(secret.options, nullptr);
  EXPECT_EQ(secret.said.find("sss"), std::string::npos) << "a password is never shown";
  EXPECT_NE(secret.said.find("c.yaml:1:"), std::string::npos);
  EXPECT_NE(secret.said.find("at most 255 bytes"), std::string::npos);
}

}  // namespace
}  // namespace culvert::protocol::socks
