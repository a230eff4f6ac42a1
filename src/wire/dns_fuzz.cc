#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "wire/dns.h"

namespace {

using namespace culvert::wire::dns;

void check(culvert::Bytes message, uint16_t id, std::string_view name, uint16_t type) {
  const auto parsed = parse_addresses(message, id, name, type);
  if (!parsed.ok()) {
    if (parsed.code() != culvert::Errc::kBadMessage && parsed.code() != culvert::Errc::kInvalid) {
      std::abort();
    }
    return;
  }
  if (parsed->count > parsed->ip.size() || parsed->ttl > INT32_MAX) std::abort();
  for (uint8_t i = 0; i < parsed->count; ++i) {
    if (parsed->ip[i].is_v4() != (type == kTypeA) || !parsed->ip[i].valid()) std::abort();
  }
}

}  // namespace

// The input is a message; it is asked about what it says it answers, so that it gets past the
// question. As text it is a name to ask for, and the query must be one that only it has.
int culvert_fuzz_dns(const uint8_t* data, size_t size) {
  const culvert::Bytes in(data, size);
  const uint16_t id = size >= 2 ? culvert::load_be16(data) : uint16_t{0};
  std::string name;
  for (size_t at = 12; at < size && data[at] != 0 && data[at] < 64;) {
    const size_t n = std::min<size_t>(data[at], size - at - 1);
    if (!name.empty()) name += '.';
    name.append(reinterpret_cast<const char*>(data + at + 1), n);
    at += 1 + n;
  }
  for (const uint16_t type : {kTypeA, kTypeAaaa}) {
    check(in, id, name, type);
    check(in, id, "a.example", type);
  }
  std::array<uint8_t, kMaxQuery> query;
  const auto length = serialize_query(id, culvert::as_text(in), kTypeA, query);
  if (length) {
    if (*length > query.size()) std::abort();
    const culvert::Bytes bytes = culvert::Bytes(query).first(*length);
    if (parse_addresses(bytes, id, "a.example", kTypeA).code() != culvert::Errc::kInvalid) {
      std::abort();  // a query is no answer
    }
  }
  return 0;
}
