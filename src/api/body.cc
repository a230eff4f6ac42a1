#include "api/body.h"

#include <algorithm>
#include <charconv>

#include "rt/await.h"

namespace culvert::api {

using flow::Task;

Status BodyReader::append(std::string_view bytes) {
  if (!room_.take(bytes.size())) return Errc::kExhausted;
  held_ += bytes.size();
  body_.append(bytes);
  return {};
}

Task<Status> BodyReader::read(const wire::BodyFraming& framing, size_t limit, TimePoint deadline) {
  using Kind = wire::BodyFraming::Kind;
  if (framing.kind == Kind::kNone) co_return Status();
  if (framing.kind == Kind::kChunked) co_return co_await read_chunked(limit, deadline);
  if (framing.length > limit) co_return Errc::kTooLarge;
  co_return co_await read_length(static_cast<size_t>(framing.length), deadline);
}

Task<Status> BodyReader::read_length(size_t length, TimePoint deadline) {
  while (body_.size() < length) {
    const Result<MutableBytes> bytes = co_await rt::read_some(stream_, deadline);
    if (!bytes.ok()) co_return bytes.error();
    const size_t n = std::min(bytes->size(), length - body_.size());
    const Status added = append(as_text(bytes->first(n)));
    if (!added.ok()) co_return added;
    stream_.consume(n);
  }
  co_return Status();
}

Task<Status> BodyReader::read_chunked(size_t limit, TimePoint deadline) {
  wire::ChunkedScanner scanner;
  while (!scanner.done()) {
    const Result<MutableBytes> bytes = co_await rt::read_some(stream_, deadline);
    if (!bytes.ok()) co_return bytes.error();
    const size_t n = scanner.advance(*bytes);
    if (scanner.failed()) co_return Errc::kBadMessage;
    if (body_.size() + n > limit + kMaxFraming) co_return Errc::kTooLarge;
    const Status added = append(as_text(bytes->first(n)));
    if (!added.ok()) co_return added;
    stream_.consume(n);
  }
  std::optional<std::string> joined = join_chunks(body_, limit);
  if (!joined) co_return Errc::kTooLarge;
  body_ = *std::move(joined);
  co_return Status();
}

std::optional<std::string> join_chunks(std::string_view framed, size_t limit) {
  std::string out;
  for (;;) {
    size_t size = 0;
    const auto [end, ec] = std::from_chars(framed.data(), framed.data() + framed.size(), size, 16);
    if (ec != std::errc()) return std::nullopt;
    if (size == 0) return out;
    framed.remove_prefix(static_cast<size_t>(end - framed.data()));
    const size_t line = framed.find('\n');
    if (line == std::string_view::npos || size > limit - out.size()) return std::nullopt;
    framed.remove_prefix(line + 1);
    if (framed.size() < size + 2) return std::nullopt;
    out.append(framed.substr(0, size));
    framed.remove_prefix(size + 2);
  }
}

}  // namespace culvert::api
