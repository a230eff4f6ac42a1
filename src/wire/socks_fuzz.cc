#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "wire/socks.h"

namespace {

using culvert::Bytes;
using culvert::wire::Parse;

std::string text_of(const culvert::wire::SocksAddress& m) {
  return m.ip.to_string() + "|" + std::string(m.host) + "|" + std::to_string(m.port);
}
std::string text_of(const culvert::wire::Socks5Greeting& m) {
  return std::string(culvert::as_text(m.methods));
}
std::string text_of(const culvert::wire::SocksCredentials& m) {
  return std::to_string(m.user.size()) + "|" + std::string(m.user) + std::string(m.password);
}
std::string text_of(const culvert::wire::Socks5Request& m) {
  return std::to_string(m.command) + "|" + text_of(m.address);
}
std::string text_of(const culvert::wire::Socks4Request& m) {
  return std::to_string(m.command) + "|" + m.ip.to_string() + "|" + std::to_string(m.port) + "|" +
         std::to_string(m.user.size()) + std::string(m.user) + std::string(m.host);
}

// A whole message stays within the input, each of its prefixes waits for more, and neither the
// bytes after it nor their absence change what it says.
template <class Message>
void check(Parse (*parse)(Bytes, Message&), Bytes in) {
  Message whole;
  if (parse(in, whole) != Parse::kDone) return;
  if (whole.size == 0 || whole.size > in.size()) std::abort();
  const std::vector<uint8_t> exact(in.begin(), in.begin() + static_cast<long>(whole.size));
  Message alone;
  if (parse(exact, alone) != Parse::kDone || alone.size != whole.size ||
      text_of(alone) != text_of(whole)) {
    std::abort();
  }
  for (size_t n = 0; n < exact.size(); ++n) {
    Message part;
    if (parse(Bytes(exact).first(n), part) != Parse::kNeedMore) std::abort();
  }
}

}  // namespace

int culvert_fuzz_socks(const uint8_t* data, size_t size) {
  const Bytes in(data, size);
  check(culvert::wire::parse_address, in);
  check(culvert::wire::parse_socks5_greeting, in);
  check(culvert::wire::parse_socks5_credentials, in);
  check(culvert::wire::parse_socks5_request, in);
  check(culvert::wire::parse_socks4_request, in);
  return 0;
}
