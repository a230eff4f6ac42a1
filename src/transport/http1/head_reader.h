// Reads one HTTP head from a stream into a buffer of its own; bytes behind it stay unread.
#pragma once

#include <vector>

#include "flow/stream.h"
#include "wire/http1.h"

namespace culvert::transport {

class HeadReader {
 public:
  explicit HeadReader(flow::Stream& stream) : stream_(stream) {}

  // The head's bytes, valid until the next read(). An empty result is a malformed or oversized
  // head: error() says which. The deadline is for the whole head.
  flow::Task<Result<Bytes>> read(TimePoint deadline);
  [[nodiscard]] wire::HttpError error() const { return error_; }
  // True when not one byte of a head had arrived when read() failed.
  [[nodiscard]] bool idle() const { return head_.empty(); }
  // Gives the buffer's memory back.
  void forget() { head_ = {}; }

 private:
  flow::Stream& stream_;
  std::vector<uint8_t> head_;
  wire::HttpError error_ = wire::HttpError::kNone;
};

}  // namespace culvert::transport
