#include "wire/websocket.h"

#include <algorithm>
#include <cstring>

#include "base/utf8.h"
#include "crypto/sha1.h"
#include "wire/base64.h"

namespace culvert::wire {

Parse parse_ws_header(Bytes in, WsHeader& out) {
  if (in.empty()) return Parse::kNeedMore;
  const uint8_t opcode = in[0] & 0x0f;
  if ((in[0] & 0x70) != 0 || (opcode > 2 && opcode < 8) || opcode > 10) return Parse::kBad;
  if (in.size() < 2) return Parse::kNeedMore;
  out.fin = (in[0] & 0x80) != 0;
  out.opcode = static_cast<WsOpcode>(opcode);
  out.masked = (in[1] & 0x80) != 0;
  const uint8_t short_length = in[1] & 0x7f;
  if (opcode >= 8 && (!out.fin || short_length > 125)) return Parse::kBad;
  const size_t length_size = short_length == 126 ? 2 : short_length == 127 ? 8 : 0;
  out.size = 2 + length_size + (out.masked ? 4 : 0);
  if (in.size() < out.size) return Parse::kNeedMore;
  out.length = short_length;
  if (length_size == 2) {
    out.length = load_be16(in.data() + 2);
    if (out.length < 126) return Parse::kBad;
  } else if (length_size == 8) {
    out.length = load_be64(in.data() + 2);
    if (out.length < 65536 || out.length >> 63 != 0) return Parse::kBad;
  }
  if (out.masked) std::memcpy(out.mask.data(), in.data() + out.size - 4, 4);
  return Parse::kDone;
}

size_t serialize_ws_header(const WsHeader& header, std::array<uint8_t, kMaxWsHeader>& out) {
  ByteWriter w(out);
  w.u8(static_cast<uint8_t>((header.fin ? 0x80 : 0) | static_cast<uint8_t>(header.opcode)));
  const uint8_t mask_bit = header.masked ? 0x80 : 0;
  if (header.length < 126) {
    w.u8(static_cast<uint8_t>(mask_bit | header.length));
  } else if (header.length < 65536) {
    w.u8(mask_bit | 126);
    w.be16(static_cast<uint16_t>(header.length));
  } else {
    w.u8(mask_bit | 127);
    w.be64(header.length);
  }
  if (header.masked) w.put(header.mask);
  return w.size();
}

WsReader::Event WsReader::fail(uint16_t code) {
  close_code_ = code;
  return Event::kFailed;
}

WsReader::Event WsReader::next(MutableBytes bytes, size_t& used) {
  used = 0;
  for (;;) {
    size_t n = 0;
    const Event event = next_frame(bytes.subspan(used), n);
    used += n;
    // The end of a fragment is no event: what is behind it goes on.
    if (event != Event::kNeedMore || used == bytes.size()) return event;
  }
}

WsReader::Event WsReader::next_frame(MutableBytes bytes, size_t& used) {
  used = 0;
  if (close_code_ != 0) return Event::kFailed;
  if (!in_payload_) {
    while (true) {
      const Parse parsed = parse_ws_header(as_bytes(header_bytes_), header_);
      if (parsed == Parse::kDone) break;
      if (parsed != Parse::kNeedMore) return fail(kWsProtocolError);
      if (used == bytes.size()) return Event::kNeedMore;
      header_bytes_ += static_cast<char>(bytes[used++]);
    }
    header_bytes_.clear();
    if (!header_.masked) return fail(kWsProtocolError);
    const bool control = static_cast<uint8_t>(header_.opcode) >= 8;
    if (!control) {
      // Fragments: the first names the kind, the rest continue it.
      if ((header_.opcode == WsOpcode::kContinuation) != in_message_) return fail(kWsProtocolError);
      if (!in_message_) {
        data_.clear();
        text_ = header_.opcode == WsOpcode::kText;
        in_message_ = true;
      }
      if (header_.length > limit_ - data_.size()) return fail(kWsTooBig);
    } else {
      control_.clear();
    }
    in_payload_ = true;
    read_ = 0;
  }
  std::string& into = static_cast<uint8_t>(header_.opcode) >= 8 ? control_ : data_;
  const size_t n =
      static_cast<size_t>(std::min<uint64_t>(header_.length - read_, bytes.size() - used));
  const MutableBytes part = bytes.subspan(used, n);
  apply_ws_mask(part, header_.mask, static_cast<size_t>(read_ & 3));
  into.append(as_text(part));
  read_ += n;
  used += n;
  if (read_ < header_.length) return Event::kNeedMore;
  in_payload_ = false;
  return finish_frame();
}

WsReader::Event WsReader::finish_frame() {
  switch (header_.opcode) {
    case WsOpcode::kPing:
      shown_.swap(control_);
      return Event::kPing;
    case WsOpcode::kPong:
      shown_.swap(control_);
      return Event::kPong;
    case WsOpcode::kClose: {
      if (control_.size() == 1) return fail(kWsProtocolError);
      if (control_.empty()) {
        close_code_ = kWsNormal;
        return Event::kClose;
      }
      const uint16_t code = load_be16(reinterpret_cast<const uint8_t*>(control_.data()));
      const bool valid =
          (code >= 1000 && code <= 1014 && code != 1004 && code != 1005 && code != 1006) ||
          (code >= 3000 && code <= 4999);
      if (!valid) return fail(kWsProtocolError);
      if (!is_utf8(std::string_view(control_).substr(2))) return fail(kWsBadPayload);
      close_code_ = code;
      return Event::kClose;
    }
    default:
      break;
  }
  if (!header_.fin) return Event::kNeedMore;
  in_message_ = false;
  if (text_ && !is_utf8(data_)) return fail(kWsBadPayload);
  shown_.swap(data_);
  return Event::kMessage;
}

std::string ws_accept(std::string_view key) {
  std::string text(key);
  text += "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
  return encode_base64(crypto::sha1(as_bytes(text)));
}

WsUpgrade ws_upgrade(const HttpHead& head, std::string_view& key) {
  if (head.method != "GET" || head.minor < 1 || !head.has_token("connection", "upgrade") ||
      !head.has_token("upgrade", "websocket")) {
    return WsUpgrade::kNone;
  }
  // Neither may be there twice (section 11.3): another server could go by the other one.
  if (head.count_of("sec-websocket-version") > 1 || head.count_of("sec-websocket-key") > 1)
    return WsUpgrade::kMalformed;
  const HttpField* version = head.find("sec-websocket-version");
  if (version == nullptr || version->value != "13") return WsUpgrade::kOtherVersion;
  const HttpField* k = head.find("sec-websocket-key");
  if (k == nullptr) return WsUpgrade::kMalformed;
  const auto raw = decode_base64(k->value);
  if (!raw || raw->size() != 16) return WsUpgrade::kMalformed;
  key = k->value;
  return WsUpgrade::kProper;
}

}  // namespace culvert::wire
