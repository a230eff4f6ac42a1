// The SOCKS address: type, address, port (RFC 1928 section 5). Many proxy protocols carry it.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/bytes.h"
#include "base/ip.h"

namespace culvert::wire {

// What became of an attempt to parse the bytes that have arrived so far.
enum class Parse : uint8_t {
  kDone,
  kNeedMore,     // nothing wrong yet
  kBad,          // not this protocol
  kUnsupported,  // well formed, but a type or command nobody here knows
};

struct SocksAddress {
  IpAddress ip;  // valid for types 1 and 4
  uint16_t port = 0;
  std::string_view host;  // not empty for type 3; a view into the input
  size_t size = 0;        // bytes it takes in the input
};

inline constexpr size_t kMaxSocksAddress = 1 + 1 + 255 + 2;

// Type 3 with a name of no bytes is kBad, an unknown type kUnsupported.
inline Parse parse_address(Bytes in, SocksAddress& out) {
  if (in.empty()) return Parse::kNeedMore;
  switch (in[0]) {
    case 1:
      if (in.size() < 7) return Parse::kNeedMore;
      out.ip = IpAddress::v4(load_be32(in.data() + 1));
      out.port = load_be16(in.data() + 5);
      out.host = {};
      out.size = 7;
      return Parse::kDone;
    case 3: {
      if (in.size() < 2) return Parse::kNeedMore;
      const size_t n = in[1];
      if (n == 0) return Parse::kBad;
      if (in.size() < 4 + n) return Parse::kNeedMore;
      out.ip = {};
      out.host = as_text(in.subspan(2, n));
      out.port = load_be16(in.data() + 2 + n);
      out.size = 4 + n;
      return Parse::kDone;
    }
    case 4:
      if (in.size() < 19) return Parse::kNeedMore;
      out.ip = IpAddress::v6(in.subspan(1, 16));
      out.port = load_be16(in.data() + 17);
      out.host = {};
      out.size = 19;
      return Parse::kDone;
    default:
      return Parse::kUnsupported;
  }
}

// `host` of 1 to 255 bytes.
void serialize_address(ByteWriter& out, std::string_view host, uint16_t port);
void serialize_address(ByteWriter& out, const Endpoint& endpoint);

}  // namespace culvert::wire
