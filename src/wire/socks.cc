#include "wire/socks.h"

#include <algorithm>

namespace culvert::wire {
namespace {

// The text before the next zero byte at `from`: kNeedMore when there is none within the bound yet.
Parse take_text(Bytes in, size_t from, std::string_view& out) {
  const Bytes rest = in.subspan(from, std::min(in.size() - from, kMaxSocks4Text + 1));
  const auto zero = std::find(rest.begin(), rest.end(), 0);
  if (zero == rest.end()) return rest.size() > kMaxSocks4Text ? Parse::kBad : Parse::kNeedMore;
  out = as_text(rest.first(static_cast<size_t>(zero - rest.begin())));
  return Parse::kDone;
}

}  // namespace

Parse parse_socks5_greeting(Bytes in, Socks5Greeting& out) {
  if (in.empty()) return Parse::kNeedMore;
  if (in[0] != 5) return Parse::kBad;
  if (in.size() < 2) return Parse::kNeedMore;
  const size_t n = in[1];
  if (n == 0) return Parse::kBad;
  if (in.size() < 2 + n) return Parse::kNeedMore;
  out.methods = in.subspan(2, n);
  out.size = 2 + n;
  return Parse::kDone;
}

Parse parse_socks5_credentials(Bytes in, SocksCredentials& out) {
  if (in.empty()) return Parse::kNeedMore;
  if (in[0] != 1) return Parse::kBad;
  if (in.size() < 2) return Parse::kNeedMore;
  const size_t user = in[1];
  if (user == 0) return Parse::kBad;
  if (in.size() < 3 + user) return Parse::kNeedMore;
  const size_t password = in[2 + user];
  if (in.size() < 3 + user + password) return Parse::kNeedMore;
  out.user = as_text(in.subspan(2, user));
  out.password = as_text(in.subspan(3 + user, password));
  out.size = 3 + user + password;
  return Parse::kDone;
}

Parse parse_socks5_request(Bytes in, Socks5Request& out) {
  if (in.empty()) return Parse::kNeedMore;
  if (in[0] != 5) return Parse::kBad;
  if (in.size() < 3) return Parse::kNeedMore;
  out.command = in[1];
  if (in[2] != 0) return Parse::kBad;
  const Parse address = parse_address(in.subspan(3), out.address);
  if (address == Parse::kDone) out.size = 3 + out.address.size;
  return address;
}

void serialize_socks5_reply(ByteWriter& out, Socks5Reply reply, const Endpoint& bound) {
  out.u8(5);
  out.u8(static_cast<uint8_t>(reply));
  out.u8(0);
  serialize_address(out, bound);
}

Parse parse_socks4_request(Bytes in, Socks4Request& out) {
  if (in.empty()) return Parse::kNeedMore;
  if (in[0] != 4) return Parse::kBad;
  if (in.size() < 9) return Parse::kNeedMore;
  out.command = in[1];
  out.port = load_be16(in.data() + 2);
  const uint32_t ip = load_be32(in.data() + 4);
  const Parse user = take_text(in, 8, out.user);
  if (user != Parse::kDone) return user;
  out.size = 8 + out.user.size() + 1;
  // 0.0.0.x with x not zero announces a name.
  if (ip != 0 && ip < 256) {
    out.ip = {};
    const Parse host = take_text(in, out.size, out.host);
    if (host != Parse::kDone) return host;
    if (out.host.empty()) return Parse::kBad;
    out.size += out.host.size() + 1;
  } else {
    out.ip = IpAddress::v4(ip);
    out.host = {};
  }
  return Parse::kDone;
}

void serialize_socks4_reply(ByteWriter& out, bool granted) {
  out.u8(0);
  out.u8(granted ? 90 : 91);
  out.be16(0);
  out.be32(0);
}

}  // namespace culvert::wire
