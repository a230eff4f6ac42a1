#include "crypto/sha1.h"

#include <openssl/evp.h>

#include "base/result.h"

namespace culvert::crypto {

std::array<uint8_t, 20> sha1(Bytes data) {
  std::array<uint8_t, 20> out;
  unsigned size = 0;
  const int done = EVP_Digest(data.data(), data.size(), out.data(), &size, EVP_sha1(), nullptr);
  CULVERT_CHECK(done == 1 && size == out.size());
  return out;
}

}  // namespace culvert::crypto
