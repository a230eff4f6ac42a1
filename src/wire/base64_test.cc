#include "wire/base64.h"

#include <gtest/gtest.h>

#include <string>

namespace culvert::wire {
namespace {

// RFC 4648 section 10.
constexpr std::string_view kVectors[][2] = {{"", ""},
                                            {"f", "Zg=="},
                                            {"fo", "Zm8="},
                                            {"foo", "Zm9v"},
                                            {"foob", "Zm9vYg=="},
                                            {"fooba", "Zm9vYmE="},
                                            {"foobar", "Zm9vYmFy"}};

TEST(Base64, TheVectorsOfTheRfc) {
  for (const auto& [plain, encoded] : kVectors) {
    EXPECT_EQ(encode_base64(as_bytes(plain)), encoded);
    EXPECT_EQ(decode_base64(encoded), plain);
    // Without padding too.
    EXPECT_EQ(decode_base64(encoded.substr(0, encoded.find('='))), plain);
  }
}

TEST(Base64, TheWholeAlphabet) {
  // RFC 4648 section 4, table 1, in order.
  const std::string all = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const auto bytes = decode_base64(all);
  ASSERT_TRUE(bytes.has_value());
  ASSERT_EQ(bytes->size(), 48u);
  for (unsigned i = 0; i < 64; ++i) {
    const unsigned bit = i * 6;
    unsigned v = static_cast<unsigned char>((*bytes)[bit / 8]) << 8;
    if (bit / 8 + 1 < 48) v |= static_cast<unsigned char>((*bytes)[bit / 8 + 1]);
    EXPECT_EQ(v >> (10 - bit % 8) & 63, i);
  }
  EXPECT_EQ(encode_base64(as_bytes(*bytes)), all);
}

TEST(Base64, Refused) {
  for (const std::string_view text :
       {"Z", "Zm9vY", "Zg===", "====", "Zg=v", "Z===", "Zm 9v", "Zm9v\n", "Zm-v", "Zm_v",
        "Zh==", "Zm9=", "\xc3\xa9", "Zm9v."}) {
    EXPECT_FALSE(decode_base64(text).has_value()) << text;
  }
  EXPECT_FALSE(decode_base64(std::string_view("Zm\0v", 4)).has_value());
}

}  // namespace
}  // namespace culvert::wire
