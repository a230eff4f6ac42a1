#include "wire/websocket.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "base/utf8.h"

namespace culvert::wire {
namespace {

using Event = WsReader::Event;

std::string bytes_of(std::initializer_list<int> list) {
  std::string out;
  for (const int b : list) out += static_cast<char>(b);
  return out;
}

MutableBytes writable(std::string& text) {
  return {reinterpret_cast<uint8_t*>(text.data()), text.size()};
}

// A client's frame, built by hand from RFC 6455 section 5.2.
std::string frame(int first, std::string_view payload,
                  std::array<uint8_t, 4> mask = {0x37, 0xfa, 0x21, 0x3d}) {
  std::string out(1, static_cast<char>(first));
  const size_t n = payload.size();
  if (n < 126) {
    out += static_cast<char>(0x80 | n);
  } else if (n < 65536) {
    out += bytes_of({0xfe, static_cast<int>(n >> 8), static_cast<int>(n & 255)});
  } else {
    out += static_cast<char>(0xff);
    for (int shift = 56; shift >= 0; shift -= 8) out += static_cast<char>(n >> shift & 255);
  }
  for (const uint8_t m : mask) out += static_cast<char>(m);
  for (size_t i = 0; i < n; ++i) out += static_cast<char>(payload[i] ^ mask[i % 4]);
  return out;
}

struct Seen {
  Event event;
  std::string message;
};

// Feeds `text` in parts of at most `step` bytes; stops at a close or a failure.
std::vector<Seen> read(WsReader& reader, std::string text, size_t step = SIZE_MAX) {
  std::vector<Seen> out;
  for (size_t at = 0; at < text.size();) {
    MutableBytes part = writable(text).subspan(at, std::min(step, text.size() - at));
    at += part.size();
    for (;;) {
      size_t used = 0;
      const Event e = reader.next(part, used);
      EXPECT_LE(used, part.size());
      part = part.subspan(used);
      if (e == Event::kNeedMore) {
        EXPECT_TRUE(part.empty()) << "more is asked for while there is some";
        break;
      }
      out.push_back({e, std::string(reader.message())});
      if (e == Event::kClose || e == Event::kFailed) return out;
    }
  }
  return out;
}

Event last_event(std::string text, uint16_t* code = nullptr, size_t limit = 1 << 20) {
  WsReader reader(limit);
  const auto seen = read(reader, std::move(text));
  if (code != nullptr) *code = reader.close_code();
  return seen.empty() ? Event::kNeedMore : seen.back().event;
}

// ---------------------------------------------------------------- frames

// RFC 6455 section 5.7.
TEST(WsHeaders, TheExamplesOfTheRfc) {
  const struct {
    std::string bytes;
    bool fin, masked;
    WsOpcode opcode;
    uint64_t length;
    size_t size;
  } rows[] = {
      {bytes_of({0x81, 0x05, 0x48, 0x65, 0x6c, 0x6c, 0x6f}), true, false, WsOpcode::kText, 5, 2},
      {bytes_of({0x81, 0x85, 0x37, 0xfa, 0x21, 0x3d, 0x7f, 0x9f, 0x4d, 0x51, 0x58}), true, true,
       WsOpcode::kText, 5, 6},
      {bytes_of({0x01, 0x03, 0x48, 0x65, 0x6c}), false, false, WsOpcode::kText, 3, 2},
      {bytes_of({0x80, 0x02, 0x6c, 0x6f}), true, false, WsOpcode::kContinuation, 2, 2},
      {bytes_of({0x89, 0x05, 0x48, 0x65, 0x6c, 0x6c, 0x6f}), true, false, WsOpcode::kPing, 5, 2},
      {bytes_of({0x8a, 0x85, 0x37, 0xfa, 0x21, 0x3d, 0x7f, 0x9f, 0x4d, 0x51, 0x58}), true, true,
       WsOpcode::kPong, 5, 6},
      {bytes_of({0x82, 0x7e, 0x01, 0x00}), true, false, WsOpcode::kBinary, 256, 4},
      {bytes_of({0x82, 0x7f, 0, 0, 0, 0, 0, 1, 0, 0}), true, false, WsOpcode::kBinary, 65536, 10},
  };
  for (const auto& row : rows) {
    WsHeader h;
    for (size_t n = 0; n < row.size; ++n) {
      ASSERT_EQ(parse_ws_header(as_bytes(row.bytes).first(n), h), Parse::kNeedMore) << n;
    }
    ASSERT_EQ(parse_ws_header(as_bytes(row.bytes), h), Parse::kDone);
    EXPECT_EQ(h.fin, row.fin);
    EXPECT_EQ(h.masked, row.masked);
    EXPECT_EQ(h.opcode, row.opcode);
    EXPECT_EQ(h.length, row.length);
    EXPECT_EQ(h.size, row.size);
    std::array<uint8_t, kMaxWsHeader> out;
    const size_t n = serialize_ws_header(h, out);
    EXPECT_EQ(as_text(Bytes(out).first(n)), row.bytes.substr(0, row.size));
  }
}

TEST(WsHeaders, Refused) {
  WsHeader h;
  for (const std::string& bytes :
       {bytes_of({0xc1}), bytes_of({0xa1}), bytes_of({0x91}), bytes_of({0x83}), bytes_of({0x87}),
        bytes_of({0x8b}), bytes_of({0x8f}), bytes_of({0x09, 0x00}), bytes_of({0x08, 0x80}),
        bytes_of({0x89, 0x7e}), bytes_of({0x8a, 0xff}), bytes_of({0x82, 0x7e, 0, 125}),
        bytes_of({0x82, 0x7f, 0, 0, 0, 0, 0, 0, 0xff, 0xff}),
        bytes_of({0x82, 0x7f, 0x80, 0, 0, 0, 0, 0, 0, 0})}) {
    EXPECT_EQ(parse_ws_header(as_bytes(bytes), h), Parse::kBad) << ::testing::PrintToString(bytes);
  }
}

// ---------------------------------------------------------------- messages

TEST(WsReaderTest, FragmentsWithAPingBetween) {
  const std::string text = frame(0x01, "Hel") + frame(0x89, "are you there") + frame(0x00, "") +
                           frame(0x80, "lo") + frame(0x82, std::string("\xff\0", 2)) +
                           frame(0x8a, "") +
                           frame(0x88,
                                 "\x03\xe8"
                                 "bye");
  for (size_t step = 1; step <= text.size(); ++step) {
    WsReader reader;
    const auto seen = read(reader, text, step);
    ASSERT_EQ(seen.size(), 5u) << step;
    EXPECT_EQ(seen[0].event, Event::kPing);
    EXPECT_EQ(seen[0].message, "are you there");
    EXPECT_EQ(seen[1].event, Event::kMessage);
    EXPECT_EQ(seen[1].message, "Hello");
    EXPECT_EQ(seen[2].event, Event::kMessage);
    EXPECT_EQ(seen[2].message, std::string("\xff\0", 2));
    EXPECT_FALSE(reader.is_text());
    EXPECT_EQ(seen[3].event, Event::kPong);
    EXPECT_EQ(seen[4].event, Event::kClose);
    EXPECT_EQ(reader.close_code(), kWsNormal);
  }
}

TEST(WsReaderTest, InTwoPartsAtEveryByte) {
  const std::string text =
      frame(0x01, "\xc3") + frame(0x80, "\xa9t\xc3\xa9") + frame(0x81, std::string(300, 'l'));
  for (size_t n = 0; n <= text.size(); ++n) {
    WsReader reader;
    auto seen = read(reader, text.substr(0, n));
    for (Seen& s : read(reader, text.substr(n))) seen.push_back(std::move(s));
    ASSERT_EQ(seen.size(), 2u) << n;
    EXPECT_EQ(seen[0].message, "\xc3\xa9t\xc3\xa9") << "a character may be cut by a fragment";
    EXPECT_EQ(seen[1].message, std::string(300, 'l'));
    EXPECT_TRUE(reader.is_text());
  }
}

TEST(WsReaderTest, TooBig) {
  uint16_t code = 0;
  EXPECT_EQ(last_event(frame(0x82, std::string(100, 'x')), &code, 100), Event::kMessage);
  EXPECT_EQ(last_event(frame(0x82, std::string(101, 'x')), &code, 100), Event::kFailed);
  EXPECT_EQ(code, kWsTooBig);
  EXPECT_EQ(
      last_event(frame(0x02, std::string(60, 'x')) + frame(0x80, std::string(41, 'x')), &code, 100),
      Event::kFailed);
  EXPECT_EQ(code, kWsTooBig);
  // Told from the header alone, before any of 2^62 bytes.
  EXPECT_EQ(last_event(bytes_of({0x82, 0xff, 0x40, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4}), &code),
            Event::kFailed);
  EXPECT_EQ(code, kWsTooBig);
}

TEST(WsReaderTest, Failures) {
  const struct {
    const char* what;
    std::string text;
    uint16_t code;
  } rows[] = {
      {"unmasked", bytes_of({0x81, 0x05, 0x48, 0x65, 0x6c, 0x6c, 0x6f}), kWsProtocolError},
      {"continuation of nothing", frame(0x80, "x"), kWsProtocolError},
      {"a new message within another", frame(0x01, "x") + frame(0x81, "y"), kWsProtocolError},
      {"continuation after the end", frame(0x81, "x") + frame(0x80, "y"), kWsProtocolError},
      {"reserved bit", frame(0xc1, "x"), kWsProtocolError},
      {"reserved opcode", frame(0x83, "x"), kWsProtocolError},
      {"fragmented ping", frame(0x09, "x"), kWsProtocolError},
      {"long ping", frame(0x89, std::string(126, 'x')), kWsProtocolError},
      {"not UTF-8", frame(0x81, "\xff"), kWsBadPayload},
      {"cut UTF-8", frame(0x01, "\xc3") + frame(0x80, ""), kWsBadPayload},
      {"a surrogate", frame(0x81, "\xed\xa0\x80"), kWsBadPayload},
      {"one byte of a close code", frame(0x88, "\x03"), kWsProtocolError},
      {"close reason not UTF-8", frame(0x88, "\x03\xe8\xff"), kWsBadPayload},
  };
  for (const auto& row : rows) {
    uint16_t code = 0;
    EXPECT_EQ(last_event(row.text, &code), Event::kFailed) << row.what;
    EXPECT_EQ(code, row.code) << row.what;
  }
}

TEST(WsReaderTest, NothingComesAfterTheEnd) {
  for (const std::string& end : {frame(0x88, ""), frame(0x83, "")}) {
    WsReader reader;
    read(reader, end);
    std::string more = frame(0x81, "x");
    size_t used = 1;
    EXPECT_EQ(reader.next(writable(more), used), Event::kFailed);
    EXPECT_EQ(used, 0u);
  }
}

// RFC 6455 section 7.4.
TEST(WsReaderTest, CloseCodes) {
  uint16_t code = 0;
  EXPECT_EQ(last_event(frame(0x88, ""), &code), Event::kClose);
  EXPECT_EQ(code, kWsNormal);
  const struct {
    int from, to;
    bool valid;
  } rows[] = {{0, 999, false},     {1000, 1003, true}, {1004, 1006, false}, {1007, 1011, true},
              {1015, 2999, false}, {3000, 4999, true}, {5000, 5010, false}, {65535, 65535, false}};
  for (const auto& row : rows) {
    for (int c = row.from; c <= row.to; c += row.to - row.from > 100 ? 37 : 1) {
      const std::string payload = bytes_of({c >> 8, c & 255});
      ASSERT_EQ(last_event(frame(0x88, payload), &code), row.valid ? Event::kClose : Event::kFailed)
          << c;
      ASSERT_EQ(code, row.valid ? c : kWsProtocolError);
    }
  }
}

// RFC 3629 section 4's table, at its edges.
TEST(WsUtf8, Edges) {
  for (const std::string_view good :
       {"", "a", "\x7f", "\xc2\x80", "\xdf\xbf", "\xe0\xa0\x80", "\xed\x9f\xbf", "\xee\x80\x80",
        "\xef\xbf\xbf", "\xf0\x90\x80\x80", "\xf4\x8f\xbf\xbf",
        "\xf0\x9f\x87\xad\xf0\x9f\x87\xb0"}) {
    EXPECT_TRUE(is_utf8(good)) << ::testing::PrintToString(std::string(good));
    for (size_t n = 1; n < good.size() && good.size() <= 4; ++n) {
      EXPECT_FALSE(is_utf8(good.substr(0, n)));
    }
  }
  for (const std::string_view bad :
       {"\x80", "\xbf", "\xc0\x80", "\xc1\xbf", "\xc2\x7f", "\xc2\xc0", "\xe0\x9f\xbf",
        "\xed\xa0\x80", "\xed\xbf\xbf", "\xe1\x80\x7f", "\xf0\x8f\xbf\xbf", "\xf4\x90\x80\x80",
        "\xf5\x80\x80\x80", "\xff", "\xfe", "\xf1\x80\x80\xc0"}) {
    EXPECT_FALSE(is_utf8(bad)) << ::testing::PrintToString(std::string(bad));
  }
  EXPECT_TRUE(is_utf8(std::string_view("\0", 1)));
}

// ---------------------------------------------------------------- handshake

// RFC 6455 section 1.3.
TEST(WsHandshake, TheExampleOfTheRfc) {
  EXPECT_EQ(ws_accept("dGhlIHNhbXBsZSBub25jZQ=="), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
}

WsUpgrade upgrade_of(const std::string& text, std::string& key) {
  const auto head = std::make_unique<HttpHead>();
  EXPECT_EQ(parse_request_head(as_bytes(text), *head), HttpError::kNone);
  std::string_view found;
  const WsUpgrade is = ws_upgrade(*head, found);
  key = found;
  return is;
}

TEST(WsHandshake, WhatIsAnUpgrade) {
  const std::string rest = "Sec-WebSocket-Version: 13\r\n";
  const std::string key = "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
  const std::string get = "GET /chat HTTP/1.1\r\nHost: h\r\n";
  const std::string both = "Connection: keep-alive, upgrade\r\nUpgrade: WebSocket\r\n";
  std::string found;
  EXPECT_EQ(upgrade_of(get + both + rest + key + "\r\n", found), WsUpgrade::kProper);
  EXPECT_EQ(found, "dGhlIHNhbXBsZSBub25jZQ==");
  const struct {
    std::string text;
    WsUpgrade is;
  } rows[] = {
      {"POST / HTTP/1.1\r\n" + both + rest + key, WsUpgrade::kNone},
      {"GET / HTTP/1.0\r\n" + both + rest + key, WsUpgrade::kNone},
      {get + "Upgrade: websocket\r\n" + rest + key, WsUpgrade::kNone},
      {get + "Connection: upgrade\r\n" + rest + key, WsUpgrade::kNone},
      {get + "Connection: upgrade\r\nUpgrade: h2c\r\n" + rest + key, WsUpgrade::kNone},
      {get + both + key, WsUpgrade::kOtherVersion},
      {get + both + "Sec-WebSocket-Version: 8\r\n" + key, WsUpgrade::kOtherVersion},
      {get + both + "Sec-WebSocket-Version: 13, 8\r\n" + key, WsUpgrade::kOtherVersion},
      {get + both + rest, WsUpgrade::kMalformed},
      {get + both + rest + "Sec-WebSocket-Key: c2hvcnQ=\r\n", WsUpgrade::kMalformed},
      {get + both + rest + "Sec-WebSocket-Key: not base64 at all!!\r\n", WsUpgrade::kMalformed},
      {get + both + rest + key + key, WsUpgrade::kMalformed},
      {get + both + rest + rest + key, WsUpgrade::kMalformed},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(upgrade_of(row.text + "\r\n", found), row.is) << row.text;
    EXPECT_EQ(found, "");
  }
}

}  // namespace
}  // namespace culvert::wire
