#include "wire/address.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace culvert::wire {
namespace {

using namespace std::string_literals;
using namespace std::string_view_literals;

// RFC 1928 section 5: type, address, port in network order.
TEST(SocksAddress, ParsesIpv4) {
  SocksAddress a;
  ASSERT_EQ(parse_address(as_bytes("\x01\xc0\x00\x02\x01\x01\xbb"sv), a), Parse::kDone);
  EXPECT_EQ(a.ip, IpAddress::parse("192.0.2.1"));
  EXPECT_EQ(a.port, 443);
  EXPECT_TRUE(a.host.empty());
  EXPECT_EQ(a.size, 7u);
}

TEST(SocksAddress, ParsesIpv6) {
  const std::string raw = "\x04\x20\x01\x0d\xb8"s + std::string(11, '\0') + "\x01\x1f\x90"s;
  SocksAddress a;
  ASSERT_EQ(parse_address(as_bytes(raw), a), Parse::kDone);
  EXPECT_EQ(a.ip, IpAddress::parse("2001:db8::1"));
  EXPECT_EQ(a.port, 8080);
  EXPECT_EQ(a.size, 19u);
}

TEST(SocksAddress, ParsesADomain) {
  SocksAddress a;
  ASSERT_EQ(parse_address(as_bytes("\x03\x09"
                                   "a.example"
                                   "\x00\x50rest"sv),
                          a),
            Parse::kDone);
  EXPECT_EQ(a.host, "a.example");
  EXPECT_EQ(a.port, 80);
  EXPECT_EQ(a.size, 13u);
  EXPECT_FALSE(a.ip.valid());
}

TEST(SocksAddress, ADomainIsOneTo255Bytes) {
  SocksAddress a;
  EXPECT_EQ(parse_address(as_bytes("\x03\x00\x00\x50"sv), a), Parse::kBad);
  EXPECT_EQ(parse_address(as_bytes("\x03\x00"sv), a), Parse::kBad) << "known before the port";
  const std::string longest = "\x03\xff"s + std::string(255, 'h') + "\xff\xff"s;
  ASSERT_EQ(longest.size(), kMaxSocksAddress);
  ASSERT_EQ(parse_address(as_bytes(longest), a), Parse::kDone);
  EXPECT_EQ(a.host, std::string(255, 'h'));
  EXPECT_EQ(a.port, 65535);
  EXPECT_EQ(a.size, kMaxSocksAddress);
}

TEST(SocksAddress, AnUnknownTypeIsUnsupported) {
  SocksAddress a;
  for (int type = 0; type < 256; ++type) {
    if (type == 1 || type == 3 || type == 4) continue;
    const std::string raw(1, static_cast<char>(type));
    EXPECT_EQ(parse_address(as_bytes(raw), a), Parse::kUnsupported) << type;
  }
}

TEST(SocksAddress, WaitsForEveryByte) {
  const std::string all[] = {
      "\x01\xc0\x00\x02\x01\x01\xbb"s,
      "\x03\x09"
      "a.example"
      "\x00\x50"s,
      "\x04"s + std::string(16, 'x') + "\x00\x50"s,
  };
  for (const std::string& whole : all) {
    for (size_t n = 0; n < whole.size(); ++n) {
      const std::vector<char> cut(whole.begin(), whole.begin() + static_cast<long>(n));
      SocksAddress a;
      EXPECT_EQ(parse_address(as_bytes({cut.data(), cut.size()}), a), Parse::kNeedMore) << n;
    }
  }
}

TEST(SocksAddress, SerializesAsTheRfcHasIt) {
  uint8_t raw[kMaxSocksAddress];
  ByteWriter v4(raw);
  serialize_address(v4, Endpoint(*IpAddress::parse("192.0.2.1"), 443));
  EXPECT_EQ(as_text(v4.written()), "\x01\xc0\x00\x02\x01\x01\xbb"s);
  ByteWriter v6(raw);
  serialize_address(v6, Endpoint(*IpAddress::parse("2001:db8::1"), 8080));
  EXPECT_EQ(as_text(v6.written()),
            "\x04\x20\x01\x0d\xb8"s + std::string(11, '\0') + "\x01\x1f\x90"s);
  ByteWriter name(raw);
  serialize_address(name, "a.example", 80);
  EXPECT_EQ(as_text(name.written()),
            "\x03\x09"
            "a.example"
            "\x00\x50"s);
  ByteWriter longest(raw);
  serialize_address(longest, std::string(255, 'h'), 1);
  EXPECT_TRUE(longest.ok());
  EXPECT_EQ(longest.size(), kMaxSocksAddress);
  // Nobody's address, as replies carry it: IPv4, all zeros.
  ByteWriter none(raw);
  serialize_address(none, Endpoint());
  EXPECT_EQ(as_text(none.written()), "\x01\x00\x00\x00\x00\x00\x00"s);
}

TEST(SocksAddress, DoesNotWritePastItsRoom) {
  uint8_t raw[6];
  ByteWriter out(raw);
  serialize_address(out, Endpoint(IpAddress::v4(1), 1));
  EXPECT_FALSE(out.ok());
}

}  // namespace
}  // namespace culvert::wire
