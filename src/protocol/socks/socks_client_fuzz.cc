// What a SOCKS5 server may say to the outbound: bytes after which it ends its direction.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "flow/testing/outbound_trial.h"
#include "protocol/socks/inbound.h"

namespace {

struct End {
  culvert::Error error;
  size_t unread;
  friend bool operator==(const End&, const End&) = default;
};

End run(std::string_view said, size_t read_limit) {
  culvert::flow::testing::OutboundTrial t(&culvert::protocol::socks::register_protocol, "socks5",
                                          "{server: a.example, port: 1, username: u, password: p}");
  t.server.read_limit = read_limit;
  t.server.feed(said);
  t.server.feed_end();
  t.dial("a.example:443");
  // Whoever ends never keeps a dial waiting.
  if (!t.over()) std::abort();
  return {t.error(), t.open() ? t.server.unread() : 0};
}

}  // namespace

int culvert_fuzz_socks_client(const uint8_t* data, size_t size) {
  const std::string_view said(reinterpret_cast<const char*>(data), size);
  const End whole = run(said, SIZE_MAX);
  if (whole != run(said, 1)) std::abort();
  // The shortest answer is two bytes for the method and seven for an empty name.
  if (whole.error.code == culvert::Errc::kNone && whole.unread + 9 > size) std::abort();
  return 0;
}
