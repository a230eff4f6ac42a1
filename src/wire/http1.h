// HTTP/1.x heads, body framing and field rules, for a proxy and a small server (RFC 9110, RFC
// 9112). Strict where leniency would let two parsers disagree about a message: bare LF, folded
// fields, space before a request's colon, control bytes, conflicting or doubtful lengths are
// errors.
//
// All views point into the bytes that were parsed.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/bytes.h"

namespace culvert::wire {

inline constexpr size_t kMaxHttpHead = 64 << 10;
inline constexpr size_t kMaxHttpFields = 128;

// Why a message was refused; the value is the status a server answers with.
enum class HttpError : uint16_t {
  kNone = 0,
  kBadRequest = 400,
  kUriTooLong = 414,
  kHeadTooLarge = 431,
  kNotImplemented = 501,
  kBadVersion = 505,
};

struct HttpField {
  std::string_view name;
  std::string_view value;  // without surrounding white space
};

struct HttpHead {
  std::string_view method;  // requests
  std::string_view target;
  int status = 0;  // responses
  std::string_view reason;
  uint8_t minor = 1;  // HTTP/1.minor
  std::array<HttpField, kMaxHttpFields> fields;
  size_t count = 0;

  [[nodiscard]] std::span<const HttpField> all() const { return {fields.data(), count}; }
  // The first field of that name (any case), or nullptr.
  [[nodiscard]] const HttpField* find(std::string_view name) const;
  [[nodiscard]] size_t count_of(std::string_view name) const;
  // Whether a comma list in any field of that name holds `token` (any case).
  [[nodiscard]] bool has_token(std::string_view name, std::string_view token) const;
};

// Looks for the end of a head in bytes that grow from call to call; `scanned` starts at 0 and is
// carried along. The head's size, its empty line included; nothing yet; or an error (bare LF, or
// more than kMaxHttpHead bytes).
struct HeadEnd {
  size_t size = 0;  // 0: not there yet
  HttpError error = HttpError::kNone;
};
HeadEnd find_head_end(Bytes bytes, size_t& scanned);

// `head` is exactly what find_head_end() measured.
HttpError parse_request_head(Bytes head, HttpHead& out);
// Blanks before a colon are left out of the name, so a proxy does not pass them on (RFC 9112
// section 5.1).
HttpError parse_response_head(Bytes head, HttpHead& out);
// Whether a request has no Host that must have one: a server answers 400 (RFC 9112 section 3.2).
// Two of them are an error of the head.
bool lacks_host(const HttpHead& head);

// Where a request wants to go.
struct Authority {
  std::string_view host;  // without brackets
  std::optional<uint16_t> port;
  bool is_v6_literal = false;
};
// "host", "host:port", "[v6]", "[v6]:port"; user info, port 0 and an unbracketed IPv6 literal are
// refused.
std::optional<Authority> parse_authority(std::string_view text);

// Whether `text` is a token (RFC 9110 section 5.6.2), such as the name of a field.
bool is_token(std::string_view text);

struct AbsoluteTarget {
  bool https = false;
  std::string_view authority;  // as written, without user info
  Authority to;
  std::string_view path;  // with the query; "/" when empty ("*" for OPTIONS is the caller's)
};
// "http://authority/path?query" or https.
std::optional<AbsoluteTarget> parse_absolute_target(std::string_view target);

// How a message's body ends (RFC 9112 section 6.3).
struct BodyFraming {
  enum class Kind : uint8_t { kNone, kLength, kChunked, kUntilClose };
  Kind kind = Kind::kNone;
  uint64_t length = 0;
  HttpError error = HttpError::kNone;
};
BodyFraming request_framing(const HttpHead& head);
BodyFraming response_framing(const HttpHead& head, std::string_view request_method);

// Whether the connection may carry another message after this one (RFC 9112 section 9.3).
// Proxy-Connection counts as Connection does.
bool keeps_alive(const HttpHead& head);

// Whether a proxy must not pass this field on: hop-by-hop by name, or named by Connection (RFC 9110
// section 7.6.1). Transfer-Encoding stays: bodies are passed on as they are framed.
bool is_hop_by_hop(const HttpHead& head, std::string_view name);

// Follows a chunked body without changing it (RFC 9112 section 7.1).
class ChunkedScanner {
 public:
  // How many of the next bytes belong to the body; done() once its last byte was among them. An
  // error is kept.
  size_t advance(Bytes bytes);
  [[nodiscard]] bool done() const { return state_ == State::kDone; }
  [[nodiscard]] bool failed() const { return state_ == State::kFailed; }

 private:
  enum class State : uint8_t {
    kSize,
    kSpace,  // behind the size
    kExtension,
    kSizeLf,
    kData,
    kDataCr,
    kDataLf,
    kTrailerStart,
    kTrailer,
    kTrailerLf,
    kLastLf,
    kDone,
    kFailed
  };
  static constexpr size_t kMaxExtension = 4096;
  static constexpr size_t kMaxTrailers = 16384;
  State state_ = State::kSize;
  uint64_t left_ = 0;
  uint8_t digits_ = 0;
  size_t line_ = 0;
  size_t trailers_ = 0;
};

bool equal_ignoring_case(std::string_view a, std::string_view b);

// A whole response of a server: head with Content-Length and the fields given ("Name: value\r\n"
// each), then the body.
std::string serialize_response(int status, std::string_view fields, std::string_view body,
                               bool keep_alive);
std::string_view reason_phrase(int status);

}  // namespace culvert::wire
