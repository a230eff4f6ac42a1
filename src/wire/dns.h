// DNS messages as a stub resolver needs them: queries out, address answers in (RFC 1035, RFC 3596,
// RFC 6891). Names inside are compared without regard to case and handled in presentation form.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/bytes.h"
#include "base/ip.h"
#include "base/result.h"

namespace culvert::wire::dns {

inline constexpr uint16_t kTypeA = 1;
inline constexpr uint16_t kTypeCname = 5;
inline constexpr uint16_t kTypeSoa = 6;
inline constexpr uint16_t kTypeAaaa = 28;
inline constexpr uint16_t kTypeOpt = 41;
inline constexpr uint16_t kClassIn = 1;
inline constexpr size_t kMaxName = 253;
inline constexpr size_t kMaxQuery = 12 + 255 + 4 + 11;
inline constexpr size_t kMaxMessage = 65535;
// What we offer to take over UDP (RFC 6891); small enough for any path.
inline constexpr uint16_t kUdpSize = 1232;
inline constexpr int kMaxCnames = 16;

enum class Rcode : uint8_t {
  kNoError = 0,
  kFormErr = 1,
  kServFail = 2,
  kNxDomain = 3,
  kNotImp = 4,
  kRefused = 5
};

// A recursive query for `name` (presentation form, a final dot allowed) with an OPT record; its
// length, or nothing when the name does not fit a message.
std::optional<size_t> serialize_query(uint16_t id, std::string_view name, uint16_t type,
                                      std::array<uint8_t, kMaxQuery>& out);

// The addresses that an answer holds for the name asked, its CNAME chain followed.
struct Addresses {
  Rcode rcode = Rcode::kNoError;
  bool truncated = false;  // TC: ask again over TCP
  std::array<IpAddress, 16> ip;
  uint8_t count = 0;  // further ones are left out
  uint32_t ttl = 0;   // seconds: the least of the records used; of the SOA for none
  bool has_ttl = false;
};

// Parses the answer to (id, name, type). kBadMessage when it is malformed, kInvalid when it is no
// answer to this question (another id, question, or not a response): keep waiting then. A CNAME
// loop or a chain of more than kMaxCnames is kBadMessage. Records of other owners are passed over.
Result<Addresses> parse_addresses(Bytes message, uint16_t id, std::string_view name, uint16_t type);

}  // namespace culvert::wire::dns
