#include "wire/socks.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace culvert::wire {
namespace {

using namespace std::string_literals;
using namespace std::string_view_literals;

// Every prefix of a whole message waits; bytes after it change nothing.
template <class Message>
void expect_framed(Parse (*parse)(Bytes, Message&), const std::string& whole) {
  for (size_t n = 0; n < whole.size(); ++n) {
    const std::vector<char> cut(whole.begin(), whole.begin() + static_cast<long>(n));
    Message m;
    EXPECT_EQ(parse(as_bytes({cut.data(), cut.size()}), m), Parse::kNeedMore) << "at byte " << n;
  }
  for (const std::string& tail : {""s, "\0"s, "GET / HTTP/1.1\r\n"s, std::string(600, '\xff')}) {
    const std::string in = whole + tail;
    Message m;
    EXPECT_EQ(parse(as_bytes(in), m), Parse::kDone);
    EXPECT_EQ(m.size, whole.size());
  }
}

// RFC 1928 section 3.
TEST(Socks5Greeting, ListsTheMethods) {
  Socks5Greeting g;
  ASSERT_EQ(parse_socks5_greeting(as_bytes("\x05\x02\x00\x02\x05"sv), g), Parse::kDone);
  EXPECT_EQ(as_text(g.methods), "\x00\x02"s);
  EXPECT_EQ(g.size, 4u);
  EXPECT_TRUE(g.offers(kSocksNoAuth));
  EXPECT_TRUE(g.offers(kSocksUserPass));
  EXPECT_FALSE(g.offers(1));
  expect_framed(parse_socks5_greeting, "\x05\x01\x00"s);
  expect_framed(parse_socks5_greeting, "\x05\xff"s + std::string(255, '\x7f'));
}

TEST(Socks5Greeting, RefusesNoMethodsAndOtherVersions) {
  Socks5Greeting g;
  EXPECT_EQ(parse_socks5_greeting(as_bytes("\x05\x00"sv), g), Parse::kBad);
  EXPECT_EQ(parse_socks5_greeting(as_bytes("\x04"sv), g), Parse::kBad);
  EXPECT_EQ(parse_socks5_greeting(as_bytes("G"sv), g), Parse::kBad);
}

// RFC 1929 section 2.
TEST(Socks5Credentials, HoldsUserAndPassword) {
  SocksCredentials c;
  ASSERT_EQ(parse_socks5_credentials(as_bytes("\x01\x05"
                                              "alice"
                                              "\x06"
                                              "secret"sv),
                                     c),
            Parse::kDone);
  EXPECT_EQ(c.user, "alice");
  EXPECT_EQ(c.password, "secret");
  EXPECT_EQ(c.size, 14u);
  expect_framed(parse_socks5_credentials,
                "\x01\x05"
                "alice"
                "\x06"
                "secret");
}

TEST(Socks5Credentials, BoundsOfBothFields) {
  SocksCredentials c;
  EXPECT_EQ(parse_socks5_credentials(as_bytes("\x01\x00\x06"
                                              "secret"sv),
                                     c),
            Parse::kBad);
  EXPECT_EQ(parse_socks5_credentials(as_bytes("\x05\x01"sv), c), Parse::kBad) << "version";
  ASSERT_EQ(parse_socks5_credentials(as_bytes("\x01\x01u\x00"sv), c), Parse::kDone);
  EXPECT_EQ(c.user, "u");
  EXPECT_EQ(c.password, "");
  const std::string longest = "\x01\xff"s + std::string(255, 'u') + "\xff"s + std::string(255, 'p');
  ASSERT_EQ(parse_socks5_credentials(as_bytes(longest), c), Parse::kDone);
  EXPECT_EQ(c.user, std::string(255, 'u'));
  EXPECT_EQ(c.password, std::string(255, 'p'));
  expect_framed(parse_socks5_credentials, longest);
}

// RFC 1928 section 4.
TEST(Socks5Request, OfEachAddressType) {
  Socks5Request r;
  ASSERT_EQ(parse_socks5_request(as_bytes("\x05\x01\x00\x01\xc6\x33\x64\x07\x00\x50"sv), r),
            Parse::kDone);
  EXPECT_EQ(r.command, 1);
  EXPECT_EQ(r.address.ip, IpAddress::parse("198.51.100.7"));
  EXPECT_EQ(r.address.port, 80);
  EXPECT_EQ(r.size, 10u);
  const std::string v6 =
      "\x05\x03\x00\x04\x20\x01\x0d\xb8"s + std::string(11, '\0') + "\x02\x00\x35"s;
  ASSERT_EQ(parse_socks5_request(as_bytes(v6), r), Parse::kDone);
  EXPECT_EQ(r.command, 3);
  EXPECT_EQ(r.address.ip, IpAddress::parse("2001:db8::2"));
  EXPECT_EQ(r.address.port, 53);
  ASSERT_EQ(parse_socks5_request(as_bytes("\x05\x02\x00\x03\x0b"
                                          "example.com"
                                          "\x01\xbb"sv),
                                 r),
            Parse::kDone);
  EXPECT_EQ(r.command, 2);
  EXPECT_EQ(r.address.host, "example.com");
  EXPECT_EQ(r.address.port, 443);
  expect_framed(parse_socks5_request, "\x05\x01\x00\x01\xc6\x33\x64\x07\x00\x50"s);
  expect_framed(parse_socks5_request, v6);
  expect_framed(parse_socks5_request,
                "\x05\x01\x00\x03\xff"s + std::string(255, 'h') + "\x01\xbb"s);
}

TEST(Socks5Request, RefusesWhatIsWrong) {
  Socks5Request r;
  EXPECT_EQ(parse_socks5_request(as_bytes("\x04\x01"sv), r), Parse::kBad);
  EXPECT_EQ(parse_socks5_request(as_bytes("\x05\x01\x01\x01"sv), r), Parse::kBad) << "RSV";
  EXPECT_EQ(parse_socks5_request(as_bytes("\x05\x01\x00\x03\x00\x00\x50"sv), r), Parse::kBad);
  for (const char type : {'\x00', '\x02', '\x05', '\xff'}) {
    const std::string raw = "\x05\x01\x00"s + type + "\xc6\x33\x64\x07\x00\x50"s;
    EXPECT_EQ(parse_socks5_request(as_bytes(raw), r), Parse::kUnsupported);
  }
  // The command is the caller's to judge.
  ASSERT_EQ(parse_socks5_request(as_bytes("\x05\x7f\x00\x01\x00\x00\x00\x00\x00\x00"sv), r),
            Parse::kDone);
  EXPECT_EQ(r.command, 0x7f);
}

// RFC 1928 section 6.
TEST(Socks5Reply, Layout) {
  uint8_t raw[22];
  ByteWriter plain(raw);
  serialize_socks5_reply(plain, Socks5Reply::kSucceeded, {});
  EXPECT_EQ(as_text(plain.written()), "\x05\x00\x00\x01\x00\x00\x00\x00\x00\x00"s);
  ByteWriter bound(raw);
  serialize_socks5_reply(bound, Socks5Reply::kAddressTypeNotSupported,
                         Endpoint(*IpAddress::parse("2001:db8::1"), 1080));
  EXPECT_EQ(as_text(bound.written()),
            "\x05\x08\x00\x04\x20\x01\x0d\xb8"s + std::string(11, '\0') + "\x01\x04\x38"s);
}

TEST(Socks4Request, Connect) {
  // The SOCKS4 memo: VN, CD, DSTPORT, DSTIP, USERID, NULL.
  Socks4Request r;
  ASSERT_EQ(parse_socks4_request(as_bytes("\x04\x01\x00\x50\x42\x66\x07\x63"
                                          "Fred\0"sv),
                                 r),
            Parse::kDone);
  EXPECT_EQ(r.command, 1);
  EXPECT_EQ(r.port, 80);
  EXPECT_EQ(r.ip, IpAddress::parse("66.102.7.99"));
  EXPECT_EQ(r.user, "Fred");
  EXPECT_TRUE(r.host.empty());
  EXPECT_EQ(r.size, 13u);
  expect_framed(parse_socks4_request,
                "\x04\x01\x00\x50\x42\x66\x07\x63"
                "Fred\0"s);
  expect_framed(parse_socks4_request, "\x04\x01\x00\x50\x42\x66\x07\x63\0"s);
}

TEST(Socks4aRequest, CarriesAName) {
  const std::string raw =
      "\x04\x01\x00\x50\x00\x00\x00\x01"
      "Fred\0"
      "example.com\0"s;
  Socks4Request r;
  ASSERT_EQ(parse_socks4_request(as_bytes(raw), r), Parse::kDone);
  EXPECT_EQ(r.host, "example.com");
  EXPECT_EQ(r.user, "Fred");
  EXPECT_FALSE(r.ip.valid());
  EXPECT_EQ(r.size, raw.size());
  expect_framed(parse_socks4_request, raw);
}

TEST(Socks4aRequest, OnlyZeroZeroZeroXAnnouncesAName) {
  Socks4Request r;
  ASSERT_EQ(parse_socks4_request(as_bytes("\x04\x01\x00\x50\x00\x00\x00\x00\0"sv), r),
            Parse::kDone);
  EXPECT_TRUE(r.ip.is_unspecified());
  ASSERT_EQ(parse_socks4_request(as_bytes("\x04\x01\x00\x50\x00\x00\x01\x00\0"sv), r),
            Parse::kDone);
  EXPECT_EQ(r.ip, IpAddress::parse("0.0.1.0"));
  EXPECT_EQ(parse_socks4_request(as_bytes("\x04\x01\x00\x50\x00\x00\x00\xff\0"sv), r),
            Parse::kNeedMore);
  EXPECT_EQ(parse_socks4_request(as_bytes("\x04\x01\x00\x50\x00\x00\x00\x01\0\0"sv), r),
            Parse::kBad)
      << "a name of no bytes";
}

TEST(Socks4Request, TextsAreBounded) {
  const std::string plain = "\x04\x01\x00\x50\x42\x66\x07\x63"s;
  const std::string named = "\x04\x01\x00\x50\x00\x00\x00\x01"s;
  const std::string most(kMaxSocks4Text, 'u'), more(kMaxSocks4Text + 1, 'u');
  expect_framed(parse_socks4_request, plain + most + '\0');
  expect_framed(parse_socks4_request, named + most + '\0' + most + '\0');
  Socks4Request r;
  EXPECT_EQ(parse_socks4_request(as_bytes(plain + most), r), Parse::kNeedMore);
  EXPECT_EQ(parse_socks4_request(as_bytes(plain + more), r), Parse::kBad);
  EXPECT_EQ(parse_socks4_request(as_bytes(plain + more + '\0'), r), Parse::kBad);
  EXPECT_EQ(parse_socks4_request(as_bytes(named + '\0' + more), r), Parse::kBad);
  EXPECT_EQ(parse_socks4_request(as_bytes("\x05"sv), r), Parse::kBad);
}

TEST(Socks4Reply, Layout) {
  uint8_t raw[8];
  ByteWriter yes(raw);
  serialize_socks4_reply(yes, true);
  EXPECT_EQ(as_text(yes.written()), "\x00\x5a\x00\x00\x00\x00\x00\x00"s);
  ByteWriter no(raw);
  serialize_socks4_reply(no, false);
  EXPECT_EQ(as_text(no.written()), "\x00\x5b\x00\x00\x00\x00\x00\x00"s);
}

}  // namespace
}  // namespace culvert::wire
