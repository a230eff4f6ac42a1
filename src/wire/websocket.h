// WebSocket frames and handshake (RFC 6455), server side and what both sides share. No extensions.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "wire/address.h"
#include "wire/http1.h"
#include "wire/websocket_mask.h"

namespace culvert::wire {

enum class WsOpcode : uint8_t {
  kContinuation = 0,
  kText = 1,
  kBinary = 2,
  kClose = 8,
  kPing = 9,
  kPong = 10,
};

// Close codes, RFC 6455 section 7.4.1.
inline constexpr uint16_t kWsNormal = 1000;
inline constexpr uint16_t kWsGoingAway = 1001;
inline constexpr uint16_t kWsProtocolError = 1002;
inline constexpr uint16_t kWsBadPayload = 1007;
inline constexpr uint16_t kWsTooBig = 1009;

struct WsHeader {
  bool fin = true;
  bool masked = false;
  WsOpcode opcode = WsOpcode::kText;
  WsMask mask{};
  uint64_t length = 0;  // of the payload
  size_t size = 0;      // of the header itself
};
inline constexpr size_t kMaxWsHeader = 14;

// kBad: a reserved bit or opcode, a length not in its shortest form, a control frame that is
// fragmented or longer than 125 bytes.
Parse parse_ws_header(Bytes in, WsHeader& out);
// The header's bytes; out.size and the mask are taken from `header.masked`.
size_t serialize_ws_header(const WsHeader& header, std::array<uint8_t, kMaxWsHeader>& out);

// Puts a client's messages together from bytes as they come. Events come one by one.
class WsReader {
 public:
  enum class Event : uint8_t {
    kNeedMore,
    kMessage,  // message() is whole; text is valid UTF-8
    kPing,     // message() is to be sent back in a pong
    kPong,
    kClose,   // close_code()
    kFailed,  // close_code() says what to tell the peer
  };
  explicit WsReader(size_t limit = 1 << 20) : limit_(limit) {}

  // Looks at `bytes` from the front; `used` says how many were taken. Call again with the rest
  // until kNeedMore, which means that all were.
  Event next(MutableBytes bytes, size_t& used);
  [[nodiscard]] std::string_view message() const { return shown_; }
  [[nodiscard]] bool is_text() const { return text_; }
  [[nodiscard]] uint16_t close_code() const { return close_code_; }

 private:
  Event next_frame(MutableBytes bytes, size_t& used);
  Event fail(uint16_t code);
  Event finish_frame();
  const size_t limit_;
  std::string header_bytes_;
  WsHeader header_;
  bool in_payload_ = false;
  bool in_message_ = false;  // a fragmented message is open
  bool text_ = false;
  uint64_t read_ = 0;  // payload bytes of this frame so far
  std::string data_;   // the data message being put together
  std::string control_;
  std::string shown_;
  uint16_t close_code_ = 0;
};

// Section 4.2.2: what Sec-WebSocket-Accept answers to a key.
std::string ws_accept(std::string_view key);
// Section 4.2.1: what a request asks for.
enum class WsUpgrade : uint8_t {
  kNone,          // no WebSocket
  kProper,        // one, and `key` is its key
  kOtherVersion,  // one of another version than 13: 426 says which there is (section 4.4)
  kMalformed,     // one whose handshake is none: 400
};
WsUpgrade ws_upgrade(const HttpHead& head, std::string_view& key);

}  // namespace culvert::wire
