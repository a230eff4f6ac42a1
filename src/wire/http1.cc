#include "wire/http1.h"

#include <algorithm>
#include <charconv>
#include <cstring>

#include "base/format.h"
#include "base/ip.h"

namespace culvert::wire {
namespace {

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
}

bool is_token_char(char c) {
  static constexpr std::string_view kOthers = "!#$%&'*+-.^_`|~";
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         kOthers.find(c) != std::string_view::npos;
}

// Field values: visible bytes, space, tab and obs-text.
bool is_value(std::string_view s) {
  return std::all_of(s.begin(), s.end(), [](char c) {
    const auto u = static_cast<unsigned char>(c);
    return u == '\t' || (u >= 0x20 && u != 0x7f);
  });
}

std::string_view trim(std::string_view s) {
  while (!s.empty() && (s.front() == ' ' || s.front() == '\t')) s.remove_prefix(1);
  while (!s.empty() && (s.back() == ' ' || s.back() == '\t')) s.remove_suffix(1);
  return s;
}

// Calls `f` with each element of a comma list until it returns true.
template <class F>
bool any_element(std::string_view list, F f) {
  while (true) {
    const size_t comma = list.find(',');
    if (f(trim(list.substr(0, comma)))) return true;
    if (comma == std::string_view::npos) return false;
    list.remove_prefix(comma + 1);
  }
}

std::string_view take_line(std::string_view& text) {
  const size_t end = text.find("\r\n");
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end + 2);
  return line;
}

HttpError parse_version(std::string_view text, uint8_t& minor) {
  if (text.size() != 8 || text.substr(0, 5) != "HTTP/" || text[6] != '.')
    return HttpError::kBadRequest;
  if (text[5] < '0' || text[5] > '9' || text[7] < '0' || text[7] > '9')
    return HttpError::kBadRequest;
  if (text[5] != '1') return HttpError::kBadVersion;
  minor = static_cast<uint8_t>(text[7] - '0');
  return HttpError::kNone;
}

enum class BlanksBeforeColon : uint8_t { kRefuse, kStrip };

// The lines after the first, up to the empty one.
HttpError parse_fields(std::string_view text, HttpHead& out, BlanksBeforeColon blanks) {
  out.count = 0;
  while (true) {
    const std::string_view line = take_line(text);
    if (line.empty()) return HttpError::kNone;
    const size_t colon = line.find(':');
    if (colon == std::string_view::npos) return HttpError::kBadRequest;
    std::string_view name = line.substr(0, colon);
    if (blanks == BlanksBeforeColon::kStrip) {
      while (!name.empty() && (name.back() == ' ' || name.back() == '\t')) name.remove_suffix(1);
    }
    if (!is_token(name)) return HttpError::kBadRequest;  // also a folded line
    const std::string_view value = trim(line.substr(colon + 1));
    if (!is_value(value)) return HttpError::kBadRequest;
    if (out.count == out.fields.size()) return HttpError::kHeadTooLarge;
    out.fields[out.count++] = {name, value};
  }
}

std::optional<uint64_t> parse_length(std::string_view text) {
  uint64_t v = 0;
  if (text.empty() || text.size() > 18 || text[0] < '0' || text[0] > '9') return std::nullopt;
  const auto [end, ec] = std::from_chars(text.data(), text.data() + text.size(), v);
  if (ec != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return v;
}

}  // namespace

bool is_token(std::string_view s) {
  return !s.empty() && std::all_of(s.begin(), s.end(), is_token_char);
}

bool equal_ignoring_case(std::string_view a, std::string_view b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(),
                                            [](char x, char y) { return lower(x) == lower(y); });
}

const HttpField* HttpHead::find(std::string_view name) const {
  for (const HttpField& f : all()) {
    if (equal_ignoring_case(f.name, name)) return &f;
  }
  return nullptr;
}

size_t HttpHead::count_of(std::string_view name) const {
  return static_cast<size_t>(std::count_if(all().begin(), all().end(), [&](const HttpField& f) {
    return equal_ignoring_case(f.name, name);
  }));
}

bool HttpHead::has_token(std::string_view name, std::string_view token) const {
  return std::any_of(all().begin(), all().end(), [&](const HttpField& f) {
    return equal_ignoring_case(f.name, name) &&
           any_element(f.value, [&](std::string_view e) { return equal_ignoring_case(e, token); });
  });
}

HeadEnd find_head_end(Bytes bytes, size_t& scanned) {
  // What lies beyond the largest head plays no part, however much has arrived at once.
  bytes = bytes.first(std::min(bytes.size(), kMaxHttpHead));
  // `scanned` stands behind the last line feed seen, or where the search stopped within a line.
  size_t at = scanned;
  while (at < bytes.size()) {
    const void* found = std::memchr(bytes.data() + at, '\n', bytes.size() - at);
    if (found == nullptr) break;
    const auto lf = static_cast<size_t>(static_cast<const uint8_t*>(found) - bytes.data());
    if (lf == 0 || bytes[lf - 1] != '\r') return {0, HttpError::kBadRequest};
    // An empty line: CR LF right behind another line's LF, or at the very start.
    if (lf == 1 || (lf >= 3 && bytes[lf - 2] == '\n')) return {lf + 1, HttpError::kNone};
    at = lf + 1;
  }
  scanned = bytes.size();
  if (bytes.size() == kMaxHttpHead) {
    const bool one_line = std::memchr(bytes.data(), '\n', bytes.size()) == nullptr;
    return {0, one_line ? HttpError::kUriTooLong : HttpError::kHeadTooLarge};
  }
  return {};
}

HttpError parse_request_head(Bytes head, HttpHead& out) {
  std::string_view text = as_text(head);
  const std::string_view line = take_line(text);
  const size_t first = line.find(' ');
  const size_t last = line.rfind(' ');
  if (first == std::string_view::npos || first == last) return HttpError::kBadRequest;
  out.method = line.substr(0, first);
  out.target = line.substr(first + 1, last - first - 1);
  if (!is_token(out.method) || out.method.size() > 32 || out.target.empty())
    return HttpError::kBadRequest;
  for (const char c : out.target) {
    const auto u = static_cast<unsigned char>(c);
    if (u <= 0x20 || u == 0x7f) return HttpError::kBadRequest;
  }
  if (const HttpError e = parse_version(line.substr(last + 1), out.minor); e != HttpError::kNone)
    return e;
  if (const HttpError e = parse_fields(text, out, BlanksBeforeColon::kRefuse);
      e != HttpError::kNone) {
    return e;
  }
  if (out.count_of("host") > 1) return HttpError::kBadRequest;
  return HttpError::kNone;
}

HttpError parse_response_head(Bytes head, HttpHead& out) {
  std::string_view text = as_text(head);
  const std::string_view line = take_line(text);
  // "HTTP/1.1 200 OK", the reason may be missing with its space.
  if (line.size() < 12 || line[8] != ' ') return HttpError::kBadRequest;
  if (const HttpError e = parse_version(line.substr(0, 8), out.minor); e != HttpError::kNone)
    return e;
  const std::string_view digits = line.substr(9, 3);
  const auto [end, ec] = std::from_chars(digits.data(), digits.data() + 3, out.status);
  if (ec != std::errc() || end != digits.data() + 3 || out.status < 100)
    return HttpError::kBadRequest;
  if (line.size() > 12 && line[12] != ' ') return HttpError::kBadRequest;
  out.reason = line.size() > 13 ? line.substr(13) : std::string_view();
  if (!is_value(out.reason)) return HttpError::kBadRequest;
  return parse_fields(text, out, BlanksBeforeColon::kStrip);
}

bool lacks_host(const HttpHead& head) {
  return head.minor >= 1 && head.find("host") == nullptr;
}

std::optional<Authority> parse_authority(std::string_view text) {
  Authority out;
  std::string_view rest;
  if (!text.empty() && text.front() == '[') {
    const size_t close = text.find(']');
    if (close == std::string_view::npos) return std::nullopt;
    out.host = text.substr(1, close - 1);
    const auto ip = IpAddress::parse(out.host);
    if (!ip || !ip->is_v6()) return std::nullopt;
    out.is_v6_literal = true;
    rest = text.substr(close + 1);
  } else {
    const size_t colon = text.find(':');
    out.host = text.substr(0, colon);
    rest = colon == std::string_view::npos ? std::string_view() : text.substr(colon);
    if (out.host.empty() || out.host.size() > 255) return std::nullopt;
    for (const char c : out.host) {
      const auto u = static_cast<unsigned char>(c);
      if (u <= 0x20 || u == 0x7f || std::strchr("@/?#[]\\%", c) != nullptr) return std::nullopt;
    }
  }
  if (!rest.empty()) {
    if (rest.front() != ':') return std::nullopt;
    const auto port = parse_port(rest.substr(1));
    if (!port || *port == 0) return std::nullopt;
    out.port = port;
  }
  return out;
}

std::optional<AbsoluteTarget> parse_absolute_target(std::string_view target) {
  AbsoluteTarget out;
  const size_t scheme = target.find("://");
  if (scheme == std::string_view::npos) return std::nullopt;
  if (equal_ignoring_case(target.substr(0, scheme), "https")) {
    out.https = true;
  } else if (!equal_ignoring_case(target.substr(0, scheme), "http")) {
    return std::nullopt;
  }
  target.remove_prefix(scheme + 3);
  const size_t end = target.find_first_of("/?#");
  out.authority = target.substr(0, end);
  // User info is not passed on (RFC 9110 section 4.2.4).
  if (const size_t at = out.authority.rfind('@'); at != std::string_view::npos) {
    out.authority.remove_prefix(at + 1);
  }
  const auto to = parse_authority(out.authority);
  if (!to) return std::nullopt;
  out.to = *to;
  out.path = end == std::string_view::npos ? std::string_view() : target.substr(end);
  if (const size_t hash = out.path.find('#'); hash != std::string_view::npos)
    out.path = out.path.substr(0, hash);
  return out;
}

BodyFraming request_framing(const HttpHead& head) {
  using Kind = BodyFraming::Kind;
  const size_t encodings = head.count_of("transfer-encoding");
  const size_t lengths = head.count_of("content-length");
  if (encodings > 0) {
    // RFC 9112 section 6.1: together with a length, or from HTTP/1.0, it is an attack or a mistake.
    if (lengths > 0 || head.minor == 0 || encodings > 1)
      return {Kind::kNone, 0, HttpError::kBadRequest};
    if (!equal_ignoring_case(head.find("transfer-encoding")->value, "chunked")) {
      return {Kind::kNone, 0, HttpError::kNotImplemented};
    }
    return {Kind::kChunked, 0, HttpError::kNone};
  }
  if (lengths == 0) return {};
  const auto length = parse_length(head.find("content-length")->value);
  if (lengths > 1 || !length) return {Kind::kNone, 0, HttpError::kBadRequest};
  return {*length == 0 ? Kind::kNone : Kind::kLength, *length, HttpError::kNone};
}

BodyFraming response_framing(const HttpHead& head, std::string_view request_method) {
  using Kind = BodyFraming::Kind;
  if (request_method == "HEAD" || head.status < 200 || head.status == 204 || head.status == 304)
    return {};
  // What follows is the tunnel (RFC 9110 section 9.3.6).
  if (request_method == "CONNECT" && head.status < 300) return {};
  const size_t encodings = head.count_of("transfer-encoding");
  const size_t lengths = head.count_of("content-length");
  if (encodings > 0) {
    if (lengths > 0 || encodings > 1) return {Kind::kNone, 0, HttpError::kBadRequest};
    // HTTP/1.0 has no transfer codings: only the connection's end is an end (section 6.1).
    if (head.minor == 0) return {Kind::kUntilClose, 0, HttpError::kNone};
    if (head.has_token("transfer-encoding", "chunked")) {
      const std::string_view value = head.find("transfer-encoding")->value;
      // Only as the last coding does it say where the body ends.
      const size_t comma = value.rfind(',');
      const std::string_view last =
          trim(comma == std::string_view::npos ? value : value.substr(comma + 1));
      if (equal_ignoring_case(last, "chunked")) return {Kind::kChunked, 0, HttpError::kNone};
    }
    return {Kind::kUntilClose, 0, HttpError::kNone};
  }
  if (lengths == 0) return {Kind::kUntilClose, 0, HttpError::kNone};
  const auto length = parse_length(head.find("content-length")->value);
  if (!length) return {Kind::kNone, 0, HttpError::kBadRequest};
  for (const HttpField& f : head.all()) {
    if (equal_ignoring_case(f.name, "content-length") && parse_length(f.value) != length) {
      return {Kind::kNone, 0, HttpError::kBadRequest};
    }
  }
  return {*length == 0 ? Kind::kNone : Kind::kLength, *length, HttpError::kNone};
}

bool keeps_alive(const HttpHead& head) {
  auto says = [&](std::string_view token) {
    return head.has_token("connection", token) || head.has_token("proxy-connection", token);
  };
  if (says("close")) return false;
  return head.minor >= 1 || says("keep-alive");
}

bool is_hop_by_hop(const HttpHead& head, std::string_view name) {
  static constexpr std::string_view kNames[] = {
      "connection", "proxy-connection",    "keep-alive",        "te",
      "upgrade",    "proxy-authorization", "proxy-authenticate"};
  for (const std::string_view n : kNames) {
    if (equal_ignoring_case(name, n)) return true;
  }
  // What frames or addresses the message is not the client's to take out.
  for (const std::string_view n : {"host", "content-length", "transfer-encoding"}) {
    if (equal_ignoring_case(name, n)) return false;
  }
  return head.has_token("connection", name);
}

size_t ChunkedScanner::advance(Bytes bytes) {
  size_t at = 0;
  while (at < bytes.size() && state_ != State::kDone && state_ != State::kFailed) {
    const auto c = static_cast<char>(bytes[at]);
    switch (state_) {
      case State::kSize: {
        const char l = lower(c);
        const int digit = c >= '0' && c <= '9' ? c - '0' : l >= 'a' && l <= 'f' ? l - 'a' + 10 : -1;
        if (digit >= 0) {
          if (++digits_ > 15) {
            state_ = State::kFailed;
            break;
          }
          left_ = left_ << 4 | static_cast<uint64_t>(digit);
        } else if (c == '\r' && digits_ != 0) {
          state_ = State::kSizeLf;
        } else if ((c == ';' || c == ' ' || c == '\t') && digits_ != 0) {
          line_ = 0;
          state_ = c == ';' ? State::kExtension : State::kSpace;
        } else {
          state_ = State::kFailed;
        }
        ++at;
        break;
      }
      case State::kSpace:
        if (c == '\r') {
          state_ = State::kSizeLf;
        } else if (c == ';') {
          state_ = State::kExtension;
        } else if ((c != ' ' && c != '\t') || ++line_ > kMaxExtension) {
          state_ = State::kFailed;
        }
        ++at;
        break;
      case State::kExtension:
        if (c == '\r') {
          state_ = State::kSizeLf;
        } else if (c == '\n' || ++line_ > kMaxExtension) {
          state_ = State::kFailed;
        }
        ++at;
        break;
      case State::kSizeLf:
        digits_ = 0;
        state_ = c != '\n' ? State::kFailed : left_ == 0 ? State::kTrailerStart : State::kData;
        ++at;
        break;
      case State::kData: {
        const size_t n = static_cast<size_t>(std::min<uint64_t>(left_, bytes.size() - at));
        at += n;
        left_ -= n;
        if (left_ == 0) state_ = State::kDataCr;
        break;
      }
      case State::kDataCr:
        state_ = c == '\r' ? State::kDataLf : State::kFailed;
        ++at;
        break;
      case State::kDataLf:
        state_ = c == '\n' ? State::kSize : State::kFailed;
        ++at;
        break;
      case State::kTrailerStart:
        state_ = c == '\r' ? State::kLastLf : State::kTrailer;
        if (c == '\n' || ++trailers_ > kMaxTrailers) state_ = State::kFailed;
        ++at;
        break;
      case State::kTrailer:
        if (c == '\r') {
          state_ = State::kTrailerLf;
        } else if (c == '\n') {
          state_ = State::kFailed;
        }
        if (++trailers_ > kMaxTrailers) state_ = State::kFailed;
        ++at;
        break;
      case State::kTrailerLf:
        state_ = c == '\n' ? State::kTrailerStart : State::kFailed;
        ++at;
        break;
      case State::kLastLf:
        state_ = c == '\n' ? State::kDone : State::kFailed;
        ++at;
        break;
      case State::kDone:
      case State::kFailed:
        break;
    }
  }
  return at;
}

std::string_view reason_phrase(int status) {
  switch (status) {
    case 101:
      return "Switching Protocols";
    case 200:
      return "OK";
    case 204:
      return "No Content";
    case 301:
      return "Moved Permanently";
    case 304:
      return "Not Modified";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 407:
      return "Proxy Authentication Required";
    case 408:
      return "Request Timeout";
    case 413:
      return "Content Too Large";
    case 414:
      return "URI Too Long";
    case 426:
      return "Upgrade Required";
    case 431:
      return "Request Header Fields Too Large";
    case 501:
      return "Not Implemented";
    case 502:
      return "Bad Gateway";
    case 503:
      return "Service Unavailable";
    case 504:
      return "Gateway Timeout";
    case 505:
      return "HTTP Version Not Supported";
    default:
      return "";
  }
}

std::string serialize_response(int status, std::string_view fields, std::string_view body,
                               bool keep_alive) {
  std::string out = format("HTTP/1.1 {} {}\r\n", status, reason_phrase(status));
  out += fields;
  if (status != 204 && status != 101) out += format("Content-Length: {}\r\n", body.size());
  if (!keep_alive) out += "Connection: close\r\n";
  out += "\r\n";
  out += body;
  return out;
}

}  // namespace culvert::wire
