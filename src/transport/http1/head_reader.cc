#include "transport/http1/head_reader.h"

#include <algorithm>

namespace culvert::transport {
namespace {

// Bytes of empty lines before a message.
constexpr size_t kMaxEmpty = 64;

}  // namespace

flow::Task<Result<Bytes>> HeadReader::read(TimePoint deadline) {
  head_.clear();
  error_ = wire::HttpError::kNone;
  size_t scanned = 0;
  size_t passed_over = 0;
  for (;;) {
    const Result<MutableBytes> bytes = co_await rt::read_some(stream_, deadline);
    if (!bytes.ok()) co_return bytes.error();
    size_t skip = 0;
    // An empty line before a message is passed over (RFC 9112 section 2.2).
    while (head_.empty() && skip < bytes->size() && skip < 4 &&
           ((*bytes)[skip] == '\r' || (*bytes)[skip] == '\n')) {
      ++skip;
    }
    if (skip != 0) {
      stream_.consume(skip);
      passed_over += skip;
      if (passed_over > kMaxEmpty) {
        error_ = wire::HttpError::kBadRequest;
        co_return Bytes();
      }
      continue;
    }
    const size_t before = head_.size();
    const size_t fresh = std::min(bytes->size(), wire::kMaxHttpHead - before);
    head_.insert(head_.end(), bytes->begin(), bytes->begin() + static_cast<long>(fresh));
    const wire::HeadEnd end = wire::find_head_end(head_, scanned);
    if (end.error != wire::HttpError::kNone) {
      error_ = end.error;
      co_return Bytes();
    }
    if (end.size != 0) {
      stream_.consume(end.size - before);
      head_.resize(end.size);
      co_return Bytes(head_);
    }
    stream_.consume(fresh);
  }
}

}  // namespace culvert::transport
