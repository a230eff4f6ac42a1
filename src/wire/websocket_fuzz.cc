#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "base/utf8.h"

#include "wire/websocket.h"

namespace {

using namespace culvert;
using namespace culvert::wire;

constexpr size_t kLimit = 4096;

void check(bool holds) {
  if (!holds) std::abort();
}

struct Run {
  std::vector<std::string> events;
  uint16_t code = 0;
};

Run run(std::string text, size_t step) {
  WsReader reader(kLimit);
  Run out;
  for (size_t at = 0; at < text.size();) {
    const size_t n = std::min(step, text.size() - at);
    MutableBytes part(reinterpret_cast<uint8_t*>(text.data()) + at, n);
    at += n;
    for (;;) {
      size_t used = 0;
      const WsReader::Event e = reader.next(part, used);
      check(used <= part.size());
      part = part.subspan(used);
      if (e == WsReader::Event::kNeedMore) {
        check(part.empty());
        break;
      }
      std::string event(1, static_cast<char>('0' + static_cast<int>(e)));
      event += reader.message();
      check(reader.message().size() <= kLimit);
      if (e == WsReader::Event::kMessage && reader.is_text()) check(is_utf8(reader.message()));
      out.events.push_back(std::move(event));
      if (e == WsReader::Event::kClose || e == WsReader::Event::kFailed) {
        check(reader.close_code() != 0);
        out.code = reader.close_code();
        return out;
      }
    }
  }
  return out;
}

}  // namespace

int culvert_fuzz_websocket(const uint8_t* data, size_t size) {
  const Bytes bytes(data, size);
  const std::string text(as_text(bytes));
  const Run at_once = run(text, SIZE_MAX);
  const Run grown = run(text, 1);
  check(at_once.events == grown.events && at_once.code == grown.code);

  WsHeader header;
  if (parse_ws_header(bytes, header) == Parse::kDone) {
    check(header.size <= size && header.size <= kMaxWsHeader);
    std::array<uint8_t, kMaxWsHeader> out;
    const size_t n = serialize_ws_header(header, out);
    check(as_text(Bytes(out).first(n)) == text.substr(0, header.size));
  }
  return 0;
}
