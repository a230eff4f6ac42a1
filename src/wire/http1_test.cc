#include "wire/http1.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace culvert::wire {
namespace {

// A head ready to be parsed; the text lives as long as the object.
struct Parsed {
  std::string text;
  HttpHead head;
  HttpError error = HttpError::kNone;
};

HttpError measure(std::string_view text, size_t& size) {
  size_t scanned = 0;
  const HeadEnd end = find_head_end(as_bytes(text), scanned);
  size = end.size;
  return end.error;
}

std::unique_ptr<Parsed> request(std::string text) {
  auto out = std::make_unique<Parsed>();
  out->text = std::move(text);
  size_t size = 0;
  out->error = measure(out->text, size);
  if (out->error == HttpError::kNone) {
    EXPECT_EQ(size, out->text.size());
    out->error = parse_request_head(as_bytes(out->text), out->head);
  }
  return out;
}

std::unique_ptr<Parsed> response(std::string text) {
  auto out = std::make_unique<Parsed>();
  out->text = std::move(text);
  size_t size = 0;
  out->error = measure(out->text, size);
  if (out->error == HttpError::kNone) {
    EXPECT_EQ(size, out->text.size());
    out->error = parse_response_head(as_bytes(out->text), out->head);
  }
  return out;
}

HttpError refusal(std::string text) {
  return request(std::move(text))->error;
}

std::unique_ptr<Parsed> with_fields(std::string_view fields, std::string_view version = "1.1") {
  std::string text = "POST / HTTP/";
  text += version;
  text += "\r\n";
  text += fields;
  text += "\r\n";
  return request(text);
}

std::unique_ptr<Parsed> answer(std::string_view line, std::string_view fields) {
  std::string text(line);
  text += "\r\n";
  text += fields;
  text += "\r\n";
  return response(text);
}

// ---------------------------------------------------------------- heads

// RFC 9112 section 3.1's request line and section 2.1's shape.
TEST(Http1Request, TheExampleOfTheRfc) {
  const auto r = request("GET /where?q=now HTTP/1.1\r\nHost: www.example.org\r\n\r\n");
  ASSERT_EQ(r->error, HttpError::kNone);
  EXPECT_EQ(r->head.method, "GET");
  EXPECT_EQ(r->head.target, "/where?q=now");
  EXPECT_EQ(r->head.minor, 1);
  ASSERT_EQ(r->head.count, 1u);
  EXPECT_EQ(r->head.fields[0].name, "Host");
  EXPECT_EQ(r->head.fields[0].value, "www.example.org");
}

// RFC 9112 section 3.2: the four forms of a target.
TEST(Http1Request, EveryFormOfTarget) {
  for (const std::string_view line :
       {"GET /where?q=now", "GET http://www.example.org/pub/WWW/TheProject.html",
        "CONNECT www.example.com:80", "OPTIONS *"}) {
    const auto r = request(std::string(line) + " HTTP/1.1\r\nHost: h\r\n\r\n");
    ASSERT_EQ(r->error, HttpError::kNone) << line;
    EXPECT_EQ(r->head.target, line.substr(line.find(' ') + 1));
  }
}

TEST(Http1Request, FieldValuesAreTrimmedAndMayBeEmpty) {
  const auto r = request(
      "GET / HTTP/1.0\r\nA:b\r\nC: \t d e \t\r\nEmpty:\r\nColons: a:b:c\r\nLatin: \xe9\r\n\r\n");
  ASSERT_EQ(r->error, HttpError::kNone);
  EXPECT_EQ(r->head.minor, 0);
  ASSERT_EQ(r->head.count, 5u);
  EXPECT_EQ(r->head.find("a")->value, "b");
  EXPECT_EQ(r->head.find("c")->value, "d e");
  EXPECT_EQ(r->head.find("EMPTY")->value, "");
  EXPECT_EQ(r->head.find("colons")->value, "a:b:c");
  EXPECT_EQ(r->head.find("Latin")->value, "\xe9");
  EXPECT_EQ(r->head.find("absent"), nullptr);
}

TEST(Http1Request, ListsAreSearchedByElement) {
  const auto r =
      request("GET / HTTP/1.1\r\nConnection: a, ,Upgrade\r\nCONNECTION: keep-alive\r\n\r\n");
  ASSERT_EQ(r->error, HttpError::kNone);
  EXPECT_TRUE(r->head.has_token("connection", "upgrade"));
  EXPECT_TRUE(r->head.has_token("connection", "Keep-Alive"));
  EXPECT_FALSE(r->head.has_token("connection", "keep"));
  EXPECT_EQ(r->head.count_of("Connection"), 2u);
}

TEST(Http1Request, Refusals) {
  const struct {
    const char* what;
    std::string text;
    HttpError error;
  } rows[] = {
      {"bare LF in the first line", "GET / HTTP/1.1\nHost: a\r\n\r\n", HttpError::kBadRequest},
      {"bare LF after a field", "GET / HTTP/1.1\r\nHost: a\n\r\n", HttpError::kBadRequest},
      {"bare LF as the end", "GET / HTTP/1.1\r\nHost: a\r\n\n", HttpError::kBadRequest},
      {"obs-fold", "GET / HTTP/1.1\r\nA: b\r\n c\r\n\r\n", HttpError::kBadRequest},
      {"obs-fold with a tab", "GET / HTTP/1.1\r\nA: b\r\n\tc: d\r\n\r\n", HttpError::kBadRequest},
      {"fold of the first field", "GET / HTTP/1.1\r\n A: b\r\n\r\n", HttpError::kBadRequest},
      {"space before the colon", "GET / HTTP/1.1\r\nA : b\r\n\r\n", HttpError::kBadRequest},
      {"tab before the colon", "GET / HTTP/1.1\r\nA\t: b\r\n\r\n", HttpError::kBadRequest},
      {"no name", "GET / HTTP/1.1\r\n: b\r\n\r\n", HttpError::kBadRequest},
      {"no colon", "GET / HTTP/1.1\r\nabc\r\n\r\n", HttpError::kBadRequest},
      {"NUL in a value", std::string("GET / HTTP/1.1\r\nA: b\0c\r\n\r\n", 26),
       HttpError::kBadRequest},
      {"ESC in a value", "GET / HTTP/1.1\r\nA: \x1b[0m\r\n\r\n", HttpError::kBadRequest},
      {"DEL in a value", "GET / HTTP/1.1\r\nA: \x7f\r\n\r\n", HttpError::kBadRequest},
      {"bare CR in a value", "GET / HTTP/1.1\r\nA: b\rc\r\n\r\n", HttpError::kBadRequest},
      {"CR CR LF", "GET / HTTP/1.1\r\nA: b\r\r\n\r\n", HttpError::kBadRequest},
      {"CTL in a name", "GET / HTTP/1.1\r\nA\x01: b\r\n\r\n", HttpError::kBadRequest},
      {"UTF-8 in a name", "GET / HTTP/1.1\r\n\xc3\xa9: b\r\n\r\n", HttpError::kBadRequest},
      {"two Hosts", "GET / HTTP/1.1\r\nHost: a\r\nhost: a\r\n\r\n", HttpError::kBadRequest},
      {"CTL in the target", "GET /\x01 HTTP/1.1\r\n\r\n", HttpError::kBadRequest},
      {"space in the target", "GET /a b HTTP/1.1\r\n\r\n", HttpError::kBadRequest},
      {"tab in the target", "GET /a\tb HTTP/1.1\r\n\r\n", HttpError::kBadRequest},
      {"two spaces", "GET  / HTTP/1.1\r\n\r\n", HttpError::kBadRequest},
      {"space at the end", "GET / HTTP/1.1 \r\n\r\n", HttpError::kBadRequest},
      {"space at the start", " GET / HTTP/1.1\r\n\r\n", HttpError::kBadRequest},
      {"HTTP/0.9", "GET /\r\n\r\n", HttpError::kBadRequest},
      {"no target", "GET HTTP/1.1\r\n\r\n", HttpError::kBadRequest},
      {"empty", "\r\n", HttpError::kBadRequest},
      {"bad method", "G@T / HTTP/1.1\r\n\r\n", HttpError::kBadRequest},
      {"endless method", std::string(33, 'A') + " / HTTP/1.1\r\n\r\n", HttpError::kBadRequest},
      {"lower-case version", "GET / http/1.1\r\n\r\n", HttpError::kBadRequest},
      {"long version", "GET / HTTP/1.10\r\n\r\n", HttpError::kBadRequest},
      {"letters for a version", "GET / HTTP/x.y\r\n\r\n", HttpError::kBadRequest},
      {"HTTP/2", "PRI * HTTP/2.0\r\n\r\n", HttpError::kBadVersion},
      {"HTTP/0.9 spelt out", "GET / HTTP/0.9\r\n\r\n", HttpError::kBadVersion},
      {"a TLS hello", "\x16\x03\x01\x02\r\n\r\n", HttpError::kBadRequest},
  };
  for (const auto& row : rows) EXPECT_EQ(refusal(row.text), row.error) << row.what;
}

TEST(Http1Request, AsManyFieldsAsThereIsRoomFor) {
  std::string text = "GET / HTTP/1.1\r\n";
  for (size_t i = 0; i < kMaxHttpFields; ++i) text += "A: b\r\n";
  EXPECT_EQ(refusal(text + "\r\n"), HttpError::kNone);
  EXPECT_EQ(refusal(text + "A: b\r\n\r\n"), HttpError::kHeadTooLarge);
}

// RFC 9112 section 4.
TEST(Http1Response, StatusLines) {
  const auto ok = response("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n");
  ASSERT_EQ(ok->error, HttpError::kNone);
  EXPECT_EQ(ok->head.status, 200);
  EXPECT_EQ(ok->head.reason, "OK");
  const auto bare = response("HTTP/1.0 404\r\n\r\n");
  ASSERT_EQ(bare->error, HttpError::kNone);
  EXPECT_EQ(bare->head.status, 404);
  EXPECT_EQ(bare->head.minor, 0);
  EXPECT_EQ(bare->head.reason, "");
  EXPECT_EQ(response("HTTP/1.1 200 \r\n\r\n")->error, HttpError::kNone);
  EXPECT_EQ(response("HTTP/1.1 404 Not at all found\r\n\r\n")->head.reason, "Not at all found");
  for (const std::string_view bad :
       {"HTTP/1.1 20 OK", "HTTP/1.1 2000 OK", "HTTP/1.1 099 x", "HTTP/1.1 -20 x", "HTTP/1.1 2x0 OK",
        "HTTP/1.1  200 OK", "HTTP/1.1\t200 OK", "ICY 200 OK....", "HTTP/1.1 200\tOK",
        "HTTP/1.1 200 O\x01K", "HTTP/1.1"}) {
    EXPECT_EQ(answer(bad, "")->error, HttpError::kBadRequest) << bad;
  }
  EXPECT_EQ(response("HTTP/2.0 200 OK\r\n\r\n")->error, HttpError::kBadVersion);
}

// RFC 9112 section 5.1: a proxy takes the blanks out of a response; in a request they are an error.
TEST(Http1Response, BlanksBeforeAColonAreNotOfTheName) {
  const auto r = answer("HTTP/1.1 200 OK", "A : b\r\nContent-Length \t: 2\r\n");
  ASSERT_EQ(r->error, HttpError::kNone);
  EXPECT_EQ(r->head.fields[0].name, "A");
  EXPECT_EQ(r->head.fields[0].value, "b");
  EXPECT_EQ(response_framing(r->head, "GET").length, 2u);
  for (const std::string_view bad : {" A: b\r\n", "A b: c\r\n", " : b\r\n", "A: b\r\n c: d\r\n"}) {
    EXPECT_EQ(answer("HTTP/1.1 200 OK", bad)->error, HttpError::kBadRequest) << bad;
  }
}

// ---------------------------------------------------------------- the end of a head

TEST(Http1HeadEnd, ByteByByte) {
  const std::string head = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
  const std::string text = head + "GET /next";
  size_t scanned = 0;
  for (size_t n = 0; n < head.size(); ++n) {
    const HeadEnd end = find_head_end(as_bytes(text).first(n), scanned);
    ASSERT_EQ(end.size, 0u) << n;
    ASSERT_EQ(end.error, HttpError::kNone) << n;
  }
  EXPECT_EQ(find_head_end(as_bytes(text).first(head.size()), scanned).size, head.size());
}

TEST(Http1HeadEnd, InTwoPartsAtEveryByte) {
  const std::string head = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
  const std::string text = head + "more";
  for (size_t n = 0; n < head.size(); ++n) {
    size_t scanned = 0;
    ASSERT_EQ(find_head_end(as_bytes(text).first(n), scanned).size, 0u);
    ASSERT_EQ(find_head_end(as_bytes(text), scanned).size, head.size()) << n;
  }
}

TEST(Http1HeadEnd, Bounds) {
  const std::string start = "GET / HTTP/1.1\r\nA: ";
  auto head_of = [&](size_t size) {
    return start + std::string(size - start.size() - 4, 'x') + "\r\n\r\n";
  };
  size_t size = 0;
  EXPECT_EQ(measure(head_of(kMaxHttpHead), size), HttpError::kNone);
  EXPECT_EQ(size, kMaxHttpHead);
  EXPECT_EQ(measure(head_of(kMaxHttpHead + 1), size), HttpError::kHeadTooLarge);
  EXPECT_EQ(measure(head_of(kMaxHttpHead + 1).substr(0, kMaxHttpHead), size),
            HttpError::kHeadTooLarge);
  EXPECT_EQ(measure(head_of(kMaxHttpHead + 1).substr(0, kMaxHttpHead - 1), size), HttpError::kNone);
  EXPECT_EQ(size, 0u);
}

// K20: a 70 KB request line, however much of it is seen at once.
TEST(Http1HeadEnd, ALineThatNeverEnds) {
  const std::string line = "GET /" + std::string(70'000, 'a') + " HTTP/1.1\r\n\r\n";
  size_t size = 0;
  EXPECT_EQ(measure(line.substr(0, kMaxHttpHead), size), HttpError::kUriTooLong);
  EXPECT_EQ(measure(line, size), HttpError::kUriTooLong);
}

// ---------------------------------------------------------------- targets

TEST(Http1Authority, Accepted) {
  const struct {
    std::string_view text, host;
    int port;
    bool v6;
  } rows[] = {{"a.example", "a.example", -1, false},
              {"a.example:443", "a.example", 443, false},
              {"192.0.2.1:80", "192.0.2.1", 80, false},
              {"[::1]:443", "::1", 443, true},
              {"[2001:db8::1]", "2001:db8::1", -1, true},
              {"a_b.example:65535", "a_b.example", 65535, false}};
  for (const auto& row : rows) {
    const auto a = parse_authority(row.text);
    ASSERT_TRUE(a.has_value()) << row.text;
    EXPECT_EQ(a->host, row.host);
    EXPECT_EQ(a->port ? static_cast<int>(*a->port) : -1, row.port) << row.text;
    EXPECT_EQ(a->is_v6_literal, row.v6);
  }
}

TEST(Http1Authority, Refused) {
  for (const std::string_view text : {"",
                                      ":",
                                      ":80",
                                      "::1:443",
                                      "2001:db8::1",
                                      "a.example:0",
                                      "a.example:65536",
                                      "a.example:x",
                                      "a.example:80x",
                                      "a.example:-1",
                                      "a.example: 80",
                                      "a b:80",
                                      "user@a.example:80",
                                      "user:pw@a.example",
                                      "[::1",
                                      "::1]",
                                      "[::1]x",
                                      "[::1]443",
                                      "[::1]:0",
                                      "[192.0.2.1]:80",
                                      "[]:80",
                                      "[a.example]:80",
                                      "a/b:80",
                                      "a?b",
                                      "a#b",
                                      "a\\b",
                                      "a%00:80",
                                      "a\x7f:80"}) {
    EXPECT_FALSE(parse_authority(text).has_value()) << text;
  }
  EXPECT_TRUE(parse_authority(std::string(255, 'a')).has_value());
  EXPECT_FALSE(parse_authority(std::string(256, 'a')).has_value());
  EXPECT_FALSE(parse_authority(std::string_view("a\0b", 3)).has_value());
}

// K20.
TEST(Http1Absolute, OddTargets) {
  auto t = parse_absolute_target("http://[2001:db8::1]:8080/x");
  ASSERT_TRUE(t.has_value());
  EXPECT_EQ(t->authority, "[2001:db8::1]:8080") << "Host keeps the brackets";
  EXPECT_EQ(t->to.host, "2001:db8::1");
  EXPECT_EQ(t->to.port, 8080);
  EXPECT_EQ(t->path, "/x");
  t = parse_absolute_target("http://[2001:db8::1]/x");
  ASSERT_TRUE(t.has_value());
  EXPECT_FALSE(t->to.port.has_value());
  t = parse_absolute_target("http://user:pw@a.example/");
  ASSERT_TRUE(t.has_value());
  EXPECT_EQ(t->authority, "a.example") << "user info is not passed on";
  t = parse_absolute_target("HTTP://a.example?q=http://b/@c#f");
  ASSERT_TRUE(t.has_value());
  EXPECT_EQ(t->to.host, "a.example");
  EXPECT_EQ(t->path, "?q=http://b/@c");
  t = parse_absolute_target("http://a.example/x@y:z");
  ASSERT_TRUE(t.has_value());
  EXPECT_EQ(t->to.host, "a.example");
  EXPECT_EQ(t->path, "/x@y:z");
  t = parse_absolute_target("https://a.example");
  ASSERT_TRUE(t.has_value());
  EXPECT_TRUE(t->https);
  for (const std::string_view bad :
       {"/x", "*", "a.example:80", "http:///x", "http://", "http:/a.example/", "ftp://a.example/",
        "http://user@/x", "http://a.example:0/", "http://::1/", "http://a.example:99999/",
        "://a.example/"}) {
    EXPECT_FALSE(parse_absolute_target(bad).has_value()) << bad;
  }
}

// ---------------------------------------------------------------- framing

using Kind = BodyFraming::Kind;

// RFC 9112 section 6.3, requests.
TEST(Http1Framing, Requests) {
  const struct {
    std::string_view fields, version;
    Kind kind;
    uint64_t length;
    HttpError error;
  } rows[] = {
      {"", "1.1", Kind::kNone, 0, HttpError::kNone},
      {"Content-Length: 5\r\n", "1.1", Kind::kLength, 5, HttpError::kNone},
      {"Content-Length: 5\r\n", "1.0", Kind::kLength, 5, HttpError::kNone},
      {"Content-Length: 0\r\n", "1.1", Kind::kNone, 0, HttpError::kNone},
      {"Content-Length: 999999999999999999\r\n", "1.1", Kind::kLength, 999999999999999999,
       HttpError::kNone},
      {"Content-Length: 9999999999999999999\r\n", "1.1", Kind::kNone, 0, HttpError::kBadRequest},
      {"Transfer-Encoding: chunked\r\n", "1.1", Kind::kChunked, 0, HttpError::kNone},
      {"Transfer-Encoding: CHUNKED\r\n", "1.1", Kind::kChunked, 0, HttpError::kNone},
      {"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", "1.1", Kind::kNone, 0,
       HttpError::kBadRequest},
      {"Transfer-Encoding: chunked\r\nContent-Length: 5\r\n", "1.1", Kind::kNone, 0,
       HttpError::kBadRequest},
      {"Content-Length: 5\r\nContent-Length: 6\r\n", "1.1", Kind::kNone, 0, HttpError::kBadRequest},
      {"Content-Length: 5\r\nContent-Length: 5\r\n", "1.1", Kind::kNone, 0, HttpError::kBadRequest},
      {"Content-Length: 5, 5\r\n", "1.1", Kind::kNone, 0, HttpError::kBadRequest},
      {"Content-Length: +5\r\n", "1.1", Kind::kNone, 0, HttpError::kBadRequest},
      {"Content-Length: -5\r\n", "1.1", Kind::kNone, 0, HttpError::kBadRequest},
      {"Content-Length: 5 5\r\n", "1.1", Kind::kNone, 0, HttpError::kBadRequest},
      {"Content-Length: 0x5\r\n", "1.1", Kind::kNone, 0, HttpError::kBadRequest},
      {"Content-Length:\r\n", "1.1", Kind::kNone, 0, HttpError::kBadRequest},
      {"Transfer-Encoding: gzip, chunked\r\n", "1.1", Kind::kNone, 0, HttpError::kNotImplemented},
      {"Transfer-Encoding: chunked, gzip\r\n", "1.1", Kind::kNone, 0, HttpError::kNotImplemented},
      {"Transfer-Encoding: identity\r\n", "1.1", Kind::kNone, 0, HttpError::kNotImplemented},
      {"Transfer-Encoding: xchunked\r\n", "1.1", Kind::kNone, 0, HttpError::kNotImplemented},
      {"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", "1.1", Kind::kNone, 0,
       HttpError::kBadRequest},
      {"Transfer-Encoding: chunked\r\n", "1.0", Kind::kNone, 0, HttpError::kBadRequest},
  };
  for (const auto& row : rows) {
    const auto r = with_fields(row.fields, row.version);
    ASSERT_EQ(r->error, HttpError::kNone) << row.fields;
    const BodyFraming f = request_framing(r->head);
    EXPECT_EQ(f.error, row.error) << row.fields << row.version;
    if (row.error != HttpError::kNone) continue;
    EXPECT_EQ(f.kind, row.kind) << row.fields << row.version;
    EXPECT_EQ(f.length, row.length) << row.fields;
  }
}

// RFC 9112 section 6.3, responses.
TEST(Http1Framing, Responses) {
  const struct {
    std::string_view line, fields, method;
    Kind kind;
    uint64_t length;
    HttpError error;
  } rows[] = {
      {"HTTP/1.1 200 OK", "", "GET", Kind::kUntilClose, 0, HttpError::kNone},
      {"HTTP/1.0 200 OK", "", "GET", Kind::kUntilClose, 0, HttpError::kNone},
      {"HTTP/1.1 200 OK", "Content-Length: 7\r\n", "GET", Kind::kLength, 7, HttpError::kNone},
      {"HTTP/1.1 200 OK", "Content-Length: 0\r\n", "GET", Kind::kNone, 0, HttpError::kNone},
      {"HTTP/1.1 200 OK", "Content-Length: 7\r\n", "HEAD", Kind::kNone, 0, HttpError::kNone},
      {"HTTP/1.1 200 OK", "Transfer-Encoding: chunked\r\n", "HEAD", Kind::kNone, 0,
       HttpError::kNone},
      {"HTTP/1.1 204 No Content", "Content-Length: 7\r\n", "GET", Kind::kNone, 0, HttpError::kNone},
      {"HTTP/1.1 304 Not Modified", "Content-Length: 7\r\n", "GET", Kind::kNone, 0,
       HttpError::kNone},
      {"HTTP/1.1 100 Continue", "Content-Length: 7\r\n", "GET", Kind::kNone, 0, HttpError::kNone},
      {"HTTP/1.1 101 Switching Protocols", "", "GET", Kind::kNone, 0, HttpError::kNone},
      // RFC 9110 section 9.3.6: what follows is the tunnel, whatever the fields say.
      {"HTTP/1.1 200 OK", "Content-Length: 7\r\n", "CONNECT", Kind::kNone, 0, HttpError::kNone},
      {"HTTP/1.1 299 Fine", "Transfer-Encoding: chunked\r\n", "CONNECT", Kind::kNone, 0,
       HttpError::kNone},
      {"HTTP/1.1 200 OK", "", "CONNECT", Kind::kNone, 0, HttpError::kNone},
      {"HTTP/1.1 407 Who", "Content-Length: 7\r\n", "CONNECT", Kind::kLength, 7, HttpError::kNone},
      {"HTTP/1.1 200 OK", "Transfer-Encoding: chunked\r\n", "GET", Kind::kChunked, 0,
       HttpError::kNone},
      {"HTTP/1.1 200 OK", "Transfer-Encoding: gzip, chunked\r\n", "GET", Kind::kChunked, 0,
       HttpError::kNone},
      {"HTTP/1.1 200 OK", "Transfer-Encoding: chunked, gzip\r\n", "GET", Kind::kUntilClose, 0,
       HttpError::kNone},
      {"HTTP/1.1 200 OK", "Transfer-Encoding: gzip\r\n", "GET", Kind::kUntilClose, 0,
       HttpError::kNone},
      // Section 6.1: HTTP/1.0 has no transfer codings; the body's end is the connection's.
      {"HTTP/1.0 200 OK", "Transfer-Encoding: chunked\r\n", "GET", Kind::kUntilClose, 0,
       HttpError::kNone},
      {"HTTP/1.1 200 OK", "Content-Length: 7\r\nContent-Length: 7\r\n", "GET", Kind::kLength, 7,
       HttpError::kNone},
      {"HTTP/1.1 200 OK", "Content-Length: 7\r\nContent-Length: 8\r\n", "GET", Kind::kNone, 0,
       HttpError::kBadRequest},
      {"HTTP/1.1 200 OK", "Content-Length: x\r\n", "GET", Kind::kNone, 0, HttpError::kBadRequest},
      {"HTTP/1.1 200 OK", "Content-Length: 7\r\nTransfer-Encoding: chunked\r\n", "GET", Kind::kNone,
       0, HttpError::kBadRequest},
      {"HTTP/1.1 200 OK", "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", "GET",
       Kind::kNone, 0, HttpError::kBadRequest},
  };
  for (const auto& row : rows) {
    const auto r = answer(row.line, row.fields);
    ASSERT_EQ(r->error, HttpError::kNone) << row.fields;
    const BodyFraming f = response_framing(r->head, row.method);
    EXPECT_EQ(f.error, row.error) << row.line << row.fields;
    if (row.error != HttpError::kNone) continue;
    EXPECT_EQ(f.kind, row.kind) << row.line << row.fields << row.method;
    EXPECT_EQ(f.length, row.length) << row.fields;
  }
}

// RFC 9112 section 9.3.
TEST(Http1KeepAlive, Table) {
  const struct {
    std::string_view version, fields;
    bool keeps;
  } rows[] = {{"1.1", "", true},
              {"1.0", "", false},
              {"1.1", "Connection: close\r\n", false},
              {"1.1", "Connection: Close\r\n", false},
              {"1.1", "Connection: x, close\r\n", false},
              {"1.1", "Connection: keep-alive\r\n", true},
              {"1.0", "Connection: keep-alive\r\n", true},
              {"1.0", "Connection: Keep-Alive\r\n", true},
              {"1.0", "Connection: keep-alive, close\r\n", false},
              {"1.0", "Connection: keep-alive\r\nConnection: close\r\n", false},
              {"1.0", "Proxy-Connection: keep-alive\r\n", true},
              {"1.1", "Proxy-Connection: close\r\n", false},
              {"1.1", "Connection: closed\r\n", true}};
  for (const auto& row : rows) {
    const auto r = with_fields(row.fields, row.version);
    ASSERT_EQ(r->error, HttpError::kNone);
    EXPECT_EQ(keeps_alive(r->head), row.keeps) << row.version << " " << row.fields;
  }
}

TEST(Http1HopByHop, ByNameAndByConnection) {
  const auto r = with_fields(
      "Connection: X-Drop, keep-alive\r\nConnection: X-Too, Host, Content-Length, "
      "Transfer-Encoding\r\n");
  ASSERT_EQ(r->error, HttpError::kNone);
  for (const std::string_view name :
       {"Connection", "PROXY-CONNECTION", "Keep-Alive", "te", "Upgrade", "Proxy-Authorization",
        "Proxy-Authenticate", "x-drop", "X-TOO"}) {
    EXPECT_TRUE(is_hop_by_hop(r->head, name)) << name;
  }
  // What frames or addresses the message stays, whatever Connection says.
  for (const std::string_view name : {"Host", "Content-Length", "Transfer-Encoding", "Trailer",
                                      "X-Stay", "Authorization", "Accept-Encoding", "Expect"}) {
    EXPECT_FALSE(is_hop_by_hop(r->head, name)) << name;
  }
}

// ---------------------------------------------------------------- chunks

// RFC 9112 section 7.1: sizes in hexadecimal, extensions, trailers.
const std::string kChunked =
    "4\r\nWiki\r\n5;name=value;x=\"q;\"\r\npedia\r\nE \t;ext\r\n in\r\n\r\nchunks.\r\n0;last\r\n"
    "Expires: never\r\nX: y\r\n\r\n";

TEST(ChunkedScanner, TheWholeAtOnce) {
  ChunkedScanner s;
  EXPECT_EQ(s.advance(as_bytes(kChunked + "GET /next")), kChunked.size());
  EXPECT_TRUE(s.done());
  EXPECT_FALSE(s.failed());
  EXPECT_EQ(s.advance(as_bytes("more")), 0u);
}

TEST(ChunkedScanner, InTwoPartsAtEveryByte) {
  const std::string text = kChunked + "next";
  for (size_t n = 0; n <= kChunked.size(); ++n) {
    ChunkedScanner s;
    ASSERT_EQ(s.advance(as_bytes(text).first(n)), n);
    ASSERT_EQ(s.done(), n == kChunked.size()) << n;
    ASSERT_EQ(s.advance(as_bytes(text).subspan(n)), kChunked.size() - n) << n;
    ASSERT_TRUE(s.done());
  }
}

TEST(ChunkedScanner, ByteByByte) {
  ChunkedScanner s;
  for (size_t i = 0; i < kChunked.size(); ++i) {
    ASSERT_FALSE(s.done()) << i;
    ASSERT_EQ(s.advance(as_bytes(kChunked).subspan(i, 1)), 1u);
    ASSERT_FALSE(s.failed()) << i;
  }
  EXPECT_TRUE(s.done());
}

TEST(ChunkedScanner, NoBodyNoTrailers) {
  ChunkedScanner s;
  EXPECT_EQ(s.advance(as_bytes("0\r\n\r\n")), 5u);
  EXPECT_TRUE(s.done());
  ChunkedScanner zeros;
  zeros.advance(as_bytes("000\r\n\r\n"));
  EXPECT_TRUE(zeros.done());
}

TEST(ChunkedScanner, Garbage) {
  for (const std::string_view text : {"\r\n",        "x\r\n",
                                      "-1\r\n",      "+1\r\n",
                                      "0x1\r\n",     " 1\r\n",
                                      ";\r\n",       "1\n",
                                      "1\rx",        "1\r\naX",
                                      "1\r\na\n",    "1\r\na\rX",
                                      "1\r\nab\r\n", "g\r\n",
                                      "5 5\r\n",     "5\t5\r\n",
                                      "5 ;a\n",      "0\r\n\n",
                                      "0\r\nA: b\n", "0\r\nA: b\rX",
                                      "0\r\n\rX",    "1000000000000000\r\n",
                                      "5;a\rb\r\n"}) {
    ChunkedScanner s;
    s.advance(as_bytes(text));
    EXPECT_TRUE(s.failed()) << text;
    EXPECT_EQ(s.advance(as_bytes("0\r\n\r\n")), 0u) << "an error is kept";
    EXPECT_FALSE(s.done());
  }
}

TEST(ChunkedScanner, Bounds) {
  ChunkedScanner largest;
  largest.advance(as_bytes("fffffffffffffff\r\nabc"));
  EXPECT_FALSE(largest.failed());
  ChunkedScanner extension;
  extension.advance(as_bytes("1;" + std::string(5000, 'x')));
  EXPECT_TRUE(extension.failed());
  ChunkedScanner line;
  line.advance(as_bytes("0\r\nA: " + std::string(20000, 'x')));
  EXPECT_TRUE(line.failed());
  ChunkedScanner lines;
  std::string many = "0\r\n";
  for (int i = 0; i < 5000; ++i) many += "A: b\r\n";
  lines.advance(as_bytes(many));
  EXPECT_TRUE(lines.failed());
}

// ---------------------------------------------------------------- answers

TEST(Http1Serialize, IsWellFormed) {
  for (const int status :
       {200, 204, 400, 401, 403, 404, 405, 407, 408, 413, 414, 431, 501, 502, 503, 504, 505}) {
    const std::string body = status == 204 ? "" : "text";
    const std::string all = serialize_response(status, "A: b\r\n", body, false);
    const auto r = response(all.substr(0, all.size() - body.size()));
    ASSERT_EQ(r->error, HttpError::kNone) << all;
    EXPECT_EQ(r->head.status, status);
    EXPECT_FALSE(r->head.reason.empty()) << status;
    EXPECT_EQ(r->head.find("a")->value, "b");
    EXPECT_FALSE(keeps_alive(r->head));
    EXPECT_EQ(response_framing(r->head, "GET").length, body.size());
  }
  EXPECT_EQ(serialize_response(200, "", "hi", true),
            "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi");
}

}  // namespace
}  // namespace culvert::wire
