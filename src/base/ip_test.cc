#include "base/ip.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

namespace culvert {
namespace {

TEST(IpAddress, ParsesAndPrints) {
  for (const char* text : {"192.0.2.1", "0.0.0.0", "2001:db8::1", "::", "::ffff:192.0.2.1"}) {
    auto ip = IpAddress::parse(text);
    ASSERT_TRUE(ip) << text;
    EXPECT_EQ(ip->to_string(), text);
  }
  for (const char* text : {"", "1.2.3", "1.2.3.4.5", "01.2.3.4", "256.1.1.1", " 1.2.3.4",
                           "1.2.3.4 ", "[::1]", "fe80::1%lo", "1::2::3", "a.example"}) {
    EXPECT_FALSE(IpAddress::parse(text)) << text;
  }
  EXPECT_FALSE(IpAddress::parse(std::string_view("1.2.3.4\0", 8)));
}

TEST(IpAddress, Classes) {
  EXPECT_TRUE(IpAddress::parse("127.9.9.9")->is_loopback());
  EXPECT_TRUE(IpAddress::parse("::1")->is_loopback());
  EXPECT_TRUE(IpAddress::parse("::ffff:127.0.0.1")->is_loopback());
  EXPECT_FALSE(IpAddress::parse("128.0.0.1")->is_loopback());
  EXPECT_TRUE(IpAddress::parse("169.254.1.1")->is_link_local());
  EXPECT_TRUE(IpAddress::parse("fe80::1")->is_link_local());
  EXPECT_TRUE(IpAddress::parse("ff02::1")->is_multicast());
  EXPECT_TRUE(IpAddress::parse("::")->is_unspecified());
  EXPECT_FALSE(IpAddress().is_unspecified());
}

TEST(Endpoint, RoundTrips) {
  for (const char* text : {"192.0.2.1:80", "[2001:db8::1]:443", "0.0.0.0:0"}) {
    auto e = Endpoint::parse(text);
    ASSERT_TRUE(e) << text;
    EXPECT_EQ(e->to_string(), text);
    sockaddr_storage ss;
    e->to_sockaddr(ss);
    EXPECT_EQ(Endpoint::from_sockaddr(reinterpret_cast<sockaddr&>(ss)), *e);
  }
  for (const char* text : {"192.0.2.1", "192.0.2.1:", "192.0.2.1:65536", "::1:80", "[1.2.3.4]:1",
                           "a.example:80", ":80", "192.0.2.1:+1", "[::1]", "[::1"}) {
    EXPECT_FALSE(Endpoint::parse(text)) << text;
  }
  EXPECT_EQ(Endpoint::parse("[fe80::1%1]:80")->scope_id, 1u);
}

TEST(Prefix, Contains) {
  auto p = Prefix::parse("192.0.2.128/25");
  ASSERT_TRUE(p);
  EXPECT_TRUE(p->contains(*IpAddress::parse("192.0.2.200")));
  EXPECT_FALSE(p->contains(*IpAddress::parse("192.0.2.127")));
  EXPECT_FALSE(p->contains(*IpAddress::parse("::ffff:192.0.2.200")));
  EXPECT_TRUE(Prefix::parse("0.0.0.0/0")->contains(*IpAddress::parse("9.9.9.9")));
  EXPECT_TRUE(Prefix::parse("2001:db8::/33")->contains(*IpAddress::parse("2001:db8:7fff::1")));
  EXPECT_FALSE(Prefix::parse("2001:db8::/33")->contains(*IpAddress::parse("2001:db8:8000::1")));
  EXPECT_EQ(Prefix::parse("192.0.2.9")->length, 32);
  for (const char* text : {"192.0.2.0/33", "::/129", "192.0.2.0/", "192.0.2.0/-1", "192.0.2.0/08",
                           "x/8", "fe80::%1/64"}) {
    EXPECT_FALSE(Prefix::parse(text)) << text;
  }
}

TEST(ParsePort, Bounds) {
  EXPECT_EQ(parse_port("0"), 0);
  EXPECT_EQ(parse_port("65535"), 65535);
  for (const char* text : {"", "65536", "-1", "+1", "1 ", " 1", "0x10", "1.0", "000001"}) {
    EXPECT_FALSE(parse_port(text)) << text;
  }
}

}  // namespace
}  // namespace culvert
