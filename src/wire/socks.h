// SOCKS4, 4a and 5 messages, server side. Every parser looks at the bytes that have arrived so far,
// from the first one, and says whether a whole message is there (Parse::kDone, with its size).
// Sources: the SOCKS4 and SOCKS4A memos (Y.-D. Lee), RFC 1928, RFC 1929.
#pragma once

#include <cstdint>
#include <string_view>

#include "wire/address.h"

namespace culvert::wire {

enum class SocksCommand : uint8_t { kConnect = 1, kBind = 2, kUdpAssociate = 3 };

// RFC 1928 section 3. Lists the methods offered; `size` is 2 + their number.
struct Socks5Greeting {
  Bytes methods;
  size_t size = 0;
  [[nodiscard]] bool offers(uint8_t method) const {
    for (const uint8_t m : methods) {
      if (m == method) return true;
    }
    return false;
  }
};
inline constexpr uint8_t kSocksNoAuth = 0x00;
inline constexpr uint8_t kSocksUserPass = 0x02;
inline constexpr uint8_t kSocksNoMethod = 0xff;
Parse parse_socks5_greeting(Bytes in, Socks5Greeting& out);

// RFC 1929. A user name of no bytes is kBad; an empty password is not.
struct SocksCredentials {
  std::string_view user;
  std::string_view password;
  size_t size = 0;
};
Parse parse_socks5_credentials(Bytes in, SocksCredentials& out);

// RFC 1928 section 4. An unknown address type is kUnsupported; the command is returned as it is.
struct Socks5Request {
  uint8_t command = 0;
  SocksAddress address;
  size_t size = 0;
};
Parse parse_socks5_request(Bytes in, Socks5Request& out);

// RFC 1928 section 6.
enum class Socks5Reply : uint8_t {
  kSucceeded = 0,
  kGeneralFailure = 1,
  kNotAllowed = 2,
  kNetworkUnreachable = 3,
  kHostUnreachable = 4,
  kRefused = 5,
  kTtlExpired = 6,
  kCommandNotSupported = 7,
  kAddressTypeNotSupported = 8,
};
// Writes a reply with the given bound address (unspecified: all zeros, IPv4).
void serialize_socks5_reply(ByteWriter& out, Socks5Reply reply, const Endpoint& bound);

// SOCKS4 and 4a: user id and host of at most 255 bytes each.
struct Socks4Request {
  uint8_t command = 0;
  uint16_t port = 0;
  IpAddress ip;           // invalid for 4a
  std::string_view host;  // not empty for 4a
  std::string_view user;
  size_t size = 0;
};
inline constexpr size_t kMaxSocks4Text = 255;
Parse parse_socks4_request(Bytes in, Socks4Request& out);
// granted: 90, else 91.
void serialize_socks4_reply(ByteWriter& out, bool granted);

}  // namespace culvert::wire
