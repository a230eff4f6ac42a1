#include "wire/dns.h"

#include <algorithm>
#include <cstring>

namespace culvert::wire::dns {
namespace {

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
}

// A name in presentation form, lower-cased, without the final dot. A dot or a byte outside
// printable ASCII within a label is kept as '\x01', which no name that is asked for contains.
struct Name {
  std::array<char, 255> text;
  uint8_t size = 0;
  [[nodiscard]] std::string_view view() const { return {text.data(), size}; }
};

// A name of 255 octets has no more labels, so none needs more pointers. Without a bound a message
// of thousands of records could make each of them follow thousands of pointers.
constexpr int kMaxPointers = 127;

// Reads the name at `at` of `message`; where it ends in the record, or nothing. Pointers only go
// backwards, so that a loop cannot be (RFC 1035 section 4.1.4).
std::optional<size_t> read_name(Bytes message, size_t at, Name& out) {
  std::optional<size_t> end;
  size_t limit = at;  // pointers must lead before this
  out.size = 0;
  size_t octets = 1;
  int pointers = 0;
  for (;;) {
    if (at >= message.size()) return std::nullopt;
    const uint8_t n = message[at];
    if ((n & 0xc0) == 0xc0) {
      if (at + 2 > message.size()) return std::nullopt;
      const size_t to = load_be16(message.data() + at) & 0x3fff;
      if (!end) end = at + 2;
      if (to >= limit || ++pointers > kMaxPointers) return std::nullopt;
      at = limit = to;
      continue;
    }
    if ((n & 0xc0) != 0) return std::nullopt;
    if (n == 0) return end ? end : at + 1;
    octets += n + 1u;
    if (octets > 255 || at + 1 + n > message.size()) return std::nullopt;
    if (out.size != 0) out.text[out.size++] = '.';
    for (size_t i = 0; i < n; ++i) {
      const char c = lower(static_cast<char>(message[at + 1 + i]));
      out.text[out.size++] = c == '.' || c <= ' ' || c > '~' ? '\x01' : c;
    }
    at += 1u + n;
  }
}

struct Record {
  Name owner;
  uint16_t type = 0;
  uint16_t klass = 0;
  uint32_t ttl = 0;
  size_t data = 0;
  size_t size = 0;
};

std::optional<size_t> read_record(Bytes message, size_t at, Record& out) {
  const auto end = read_name(message, at, out.owner);
  if (!end || *end + 10 > message.size()) return std::nullopt;
  const uint8_t* p = message.data() + *end;
  out.type = load_be16(p);
  out.klass = load_be16(p + 2);
  out.ttl = load_be32(p + 4);
  out.size = load_be16(p + 8);
  out.data = *end + 10;
  if (out.data + out.size > message.size()) return std::nullopt;
  // RFC 2181 section 8: a TTL with the top bit set is zero.
  if (out.ttl > INT32_MAX) out.ttl = 0;
  return out.data + out.size;
}

bool same_name(std::string_view a, std::string_view lowered) {
  if (!a.empty() && a.back() == '.') a.remove_suffix(1);
  return a.size() == lowered.size() && std::equal(a.begin(), a.end(), lowered.begin(),
                                                  [](char x, char y) { return lower(x) == y; });
}

void note_ttl(Addresses& out, uint32_t ttl) {
  out.ttl = out.has_ttl ? std::min(out.ttl, ttl) : ttl;
  out.has_ttl = true;
}

}  // namespace

std::optional<size_t> serialize_query(uint16_t id, std::string_view name, uint16_t type,
                                      std::array<uint8_t, kMaxQuery>& out) {
  if (!name.empty() && name.back() == '.') name.remove_suffix(1);
  if (name.empty() || name.size() > kMaxName) return std::nullopt;
  ByteWriter w(out);
  w.be16(id);
  w.be16(0x0100);  // recursion desired
  w.be16(1);
  w.be16(0);
  w.be16(0);
  w.be16(1);
  while (true) {
    const size_t dot = name.find('.');
    const std::string_view label = name.substr(0, dot);
    if (label.empty() || label.size() > 63) return std::nullopt;
    w.u8(static_cast<uint8_t>(label.size()));
    w.put(as_bytes(label));
    if (dot == std::string_view::npos) break;
    name.remove_prefix(dot + 1);
  }
  w.u8(0);
  w.be16(type);
  w.be16(kClassIn);
  // OPT: root, type, our UDP size, no flags, no options.
  w.u8(0);
  w.be16(kTypeOpt);
  w.be16(kUdpSize);
  w.be32(0);
  w.be16(0);
  return w.ok() ? std::optional<size_t>(w.size()) : std::nullopt;
}

Result<Addresses> parse_addresses(Bytes message, uint16_t id, std::string_view name,
                                  uint16_t type) {
  Addresses out;
  if (message.size() < 12) return Errc::kBadMessage;
  const uint16_t flags = load_be16(message.data() + 2);
  if (load_be16(message.data()) != id || (flags & 0x8000) == 0 || (flags & 0x7800) != 0) {
    return Errc::kInvalid;
  }
  const uint16_t questions = load_be16(message.data() + 4);
  const uint16_t answers = load_be16(message.data() + 6);
  const uint16_t authorities = load_be16(message.data() + 8);
  out.rcode = static_cast<Rcode>(flags & 0x0f);
  out.truncated = (flags & 0x0200) != 0;
  size_t at = 12;
  Name asked;
  if (questions != 1) {
    // Some servers leave the question out of an error.
    if (questions == 0 && out.rcode != Rcode::kNoError) return out;
    return Errc::kInvalid;
  }
  const auto end = read_name(message, at, asked);
  if (!end || *end + 4 > message.size()) return Errc::kBadMessage;
  if (!same_name(name, asked.view()) || load_be16(message.data() + *end) != type ||
      load_be16(message.data() + *end + 2) != kClassIn) {
    return Errc::kInvalid;
  }
  at = *end + 4;
  const size_t first = at;
  if (out.truncated) return out;

  // Follows the chain: each pass looks for the current owner's records.
  Name current = asked;
  Record r;
  for (int hops = 0;; ++hops) {
    if (hops > kMaxCnames) return Errc::kBadMessage;
    bool moved = false;
    at = first;
    for (uint16_t i = 0; i < answers; ++i) {
      const auto next = read_record(message, at, r);
      if (!next) return Errc::kBadMessage;
      at = *next;
      if (r.klass != kClassIn || r.owner.view() != current.view()) continue;
      if (r.type == type && (type == kTypeA ? r.size == 4 : r.size == 16)) {
        const Bytes data = message.subspan(r.data, r.size);
        if (out.count < out.ip.size()) {
          out.ip[out.count++] = type == kTypeA ? IpAddress::v4(data) : IpAddress::v6(data);
        }
        note_ttl(out, r.ttl);
      } else if (r.type == kTypeCname && !moved && out.count == 0) {
        Name target;
        if (!read_name(message, r.data, target)) return Errc::kBadMessage;
        note_ttl(out, r.ttl);
        current = target;
        moved = true;
        break;
      }
    }
    if (!moved) break;
  }
  if (out.count != 0) return out;

  // Nothing: how long that holds is in the SOA (RFC 2308 section 5).
  at = first;
  for (uint16_t i = 0; i < answers; ++i) {
    const auto next = read_record(message, at, r);
    if (!next) return Errc::kBadMessage;
    at = *next;
  }
  for (uint16_t i = 0; i < authorities; ++i) {
    const auto next = read_record(message, at, r);
    if (!next) return Errc::kBadMessage;
    at = *next;
    if (r.type != kTypeSoa || r.size < 4) continue;
    const uint32_t minimum = load_be32(message.data() + r.data + r.size - 4);
    note_ttl(out, std::min(r.ttl, minimum));
  }
  return out;
}

}  // namespace culvert::wire::dns
