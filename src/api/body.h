// A request's body, read as a whole.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "flow/stream.h"
#include "wire/http1.h"

namespace culvert::api {

// The framing of a chunked body may be as long as this beside what it carries.
inline constexpr size_t kMaxFraming = 256 << 10;

// The bodies that all sessions hold at once, against a bound of their own: a client that may send
// one may open many connections.
class BodyRoom {
 public:
  static constexpr size_t kTotal = 16 << 20;
  [[nodiscard]] bool take(size_t bytes) {
    if (bytes > kTotal - used_) return false;
    used_ += bytes;
    return true;
  }
  void give_back(size_t bytes) { used_ -= bytes; }
  [[nodiscard]] size_t used() const { return used_; }

 private:
  size_t used_ = 0;
};

// Reads one body and holds its share of the room until it dies.
class BodyReader {
 public:
  BodyReader(flow::Stream& stream, BodyRoom& room) : stream_(stream), room_(room) {}
  BodyReader(const BodyReader&) = delete;
  BodyReader& operator=(const BodyReader&) = delete;
  ~BodyReader() { room_.give_back(held_); }

  // Up to `limit` bytes, into body(). kTooLarge: there are more. kBadMessage: no chunked body.
  // kExhausted: the room is full. Whatever else, the client's own: kTimedOut, kEndOfStream.
  flow::Task<Status> read(const wire::BodyFraming& framing, size_t limit, TimePoint deadline);
  [[nodiscard]] const std::string& body() const { return body_; }

 private:
  flow::Task<Status> read_length(size_t length, TimePoint deadline);
  flow::Task<Status> read_chunked(size_t limit, TimePoint deadline);
  Status append(std::string_view bytes);
  flow::Stream& stream_;
  BodyRoom& room_;
  size_t held_ = 0;
  std::string body_;
};

// What a chunked body carries, of a whole and well-formed one (wire::ChunkedScanner); nothing when
// that is more than `limit`.
std::optional<std::string> join_chunks(std::string_view framed, size_t limit);

}  // namespace culvert::api
