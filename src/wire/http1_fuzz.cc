#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>

#include "wire/http1.h"

namespace {

using namespace culvert;
using namespace culvert::wire;

void check(bool holds) {
  if (!holds) std::abort();
}

// Keeps what is computed from being optimised away.
volatile size_t checksum = 0;

void use(const HttpHead& head) {
  for (const HttpField& f : head.all()) {
    check(!f.name.empty());
    check(f.name.find_first_of(" \t:") == std::string_view::npos);
    check(f.value.find_first_of(std::string_view("\r\n\0", 3)) == std::string_view::npos);
    checksum = checksum + (is_hop_by_hop(head, f.name) ? 1u : 0u);
  }
  checksum = checksum + (keeps_alive(head) ? 1u : 0u);
}

HeadEnd head_end(Bytes bytes) {
  size_t scanned = 0;
  const HeadEnd at_once = find_head_end(bytes, scanned);
  // The same, byte by byte.
  scanned = 0;
  HeadEnd grown;
  size_t n = 0;
  for (; n <= bytes.size() && grown.size == 0 && grown.error == HttpError::kNone; ++n) {
    grown = find_head_end(bytes.first(n), scanned);
  }
  check(grown.size == at_once.size && grown.error == at_once.error);
  return at_once;
}

void scan_chunks(Bytes bytes) {
  ChunkedScanner at_once;
  const size_t used = at_once.advance(bytes);
  check(used <= bytes.size());
  check(used == bytes.size() || at_once.done() || at_once.failed());
  ChunkedScanner grown;
  size_t n = 0;
  while (n < bytes.size() && grown.advance(bytes.subspan(n, 1)) == 1) ++n;
  check(n == used && grown.done() == at_once.done() && grown.failed() == at_once.failed());
}

}  // namespace

int culvert_fuzz_http1(const uint8_t* data, size_t size) {
  const Bytes bytes(data, size);
  scan_chunks(bytes);
  const std::string_view text = as_text(bytes);
  if (const auto authority = parse_authority(text)) {
    check(!authority->host.empty() && authority->host.size() <= 255);
    check(!authority->port || *authority->port != 0);
  }
  if (const auto target = parse_absolute_target(text)) {
    check(target->authority.find('@') == std::string_view::npos);
    check(target->path.find('#') == std::string_view::npos);
  }
  const HeadEnd end = head_end(bytes);
  check(end.size <= kMaxHttpHead && end.size <= size);
  if (end.size == 0) return 0;
  const auto head = std::make_unique<HttpHead>();
  if (parse_request_head(bytes.first(end.size), *head) == HttpError::kNone) {
    check(head->target.find(' ') == std::string_view::npos);
    const BodyFraming f = request_framing(*head);
    check(f.kind != BodyFraming::Kind::kUntilClose);
    use(*head);
    if (f.kind == BodyFraming::Kind::kChunked) scan_chunks(bytes.subspan(end.size));
  }
  *head = HttpHead();
  if (parse_response_head(bytes.first(end.size), *head) == HttpError::kNone) {
    check(head->status >= 100 && head->status <= 999);
    check(response_framing(*head, "HEAD").kind == BodyFraming::Kind::kNone);
    checksum = checksum + response_framing(*head, "GET").length;
    use(*head);
  }
  return 0;
}
