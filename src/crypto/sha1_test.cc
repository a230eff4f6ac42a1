#include "crypto/sha1.h"

#include <gtest/gtest.h>

#include "base/format.h"

namespace culvert::crypto {
namespace {

// FIPS 180-4 example vectors.
TEST(Sha1, PublishedVectors) {
  auto hex = [](std::string_view text) {
    std::string out;
    for (const uint8_t b : sha1(as_bytes(text))) out += format("{:02x}", b);
    return out;
  };
  EXPECT_EQ(hex("abc"), "a9993e364706816aba3e25717850c26c9cd0d89d");
  EXPECT_EQ(hex(""), "da39a3ee5e6b4b0d3255bfef95601890afd80709");
  EXPECT_EQ(hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "84983e441c3bd26ebaae4aa1f95129e5e54670f1");
}

}  // namespace
}  // namespace culvert::crypto
