// IP addresses, endpoints and prefixes: plain values, parsed and printed without allocation on the
// data path.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/bytes.h"

struct sockaddr;
struct sockaddr_storage;

namespace culvert {

enum class Family : uint8_t { kNone = 0, kV4 = 4, kV6 = 6 };

// An IPv4 or IPv6 address; IPv4 in the first four of the 16 bytes, the rest zero. Network order.
struct IpAddress {
  std::array<uint8_t, 16> bytes{};
  Family family = Family::kNone;

  static IpAddress v4(uint32_t host_order);
  static IpAddress v4(Bytes four);
  // A v4-mapped address (::ffff:a.b.c.d) stays IPv6 unless unmapped() is asked for.
  static IpAddress v6(Bytes sixteen);
  // "192.0.2.1", "2001:db8::1"; no zone, no brackets, no surrounding space, no leading zeros.
  static std::optional<IpAddress> parse(std::string_view text);

  [[nodiscard]] bool valid() const { return family != Family::kNone; }
  [[nodiscard]] bool is_v4() const { return family == Family::kV4; }
  [[nodiscard]] bool is_v6() const { return family == Family::kV6; }
  [[nodiscard]] size_t size() const { return is_v4() ? 4 : is_v6() ? 16 : 0; }
  [[nodiscard]] Bytes view() const { return {bytes.data(), size()}; }
  [[nodiscard]] uint32_t v4_value() const { return load_be32(bytes.data()); }
  [[nodiscard]] IpAddress unmapped() const;
  [[nodiscard]] bool is_unspecified() const;
  [[nodiscard]] bool is_loopback() const;    // 127/8, ::1, and their mapped forms
  [[nodiscard]] bool is_link_local() const;  // 169.254/16, fe80::/10
  [[nodiscard]] bool is_multicast() const;
  [[nodiscard]] std::string to_string() const;
  friend bool operator==(const IpAddress&, const IpAddress&) = default;
};

// Address, port and, for link-local IPv6, the interface index (0 = none).
struct Endpoint {
  IpAddress ip;
  uint16_t port = 0;
  uint32_t scope_id = 0;

  Endpoint() = default;
  Endpoint(IpAddress address, uint16_t p, uint32_t scope = 0)
      : ip(address), port(p), scope_id(scope) {}
  [[nodiscard]] bool valid() const { return ip.valid(); }
  // "192.0.2.1:80", "[2001:db8::1]:80", "[fe80::1%2]:80"
  [[nodiscard]] std::string to_string() const;
  // The forms above; a zone is a number or an interface name.
  static std::optional<Endpoint> parse(std::string_view text);
  static Endpoint from_sockaddr(const sockaddr& from);
  // Returns the length to pass to the kernel.
  uint32_t to_sockaddr(sockaddr_storage& to) const;
  friend bool operator==(const Endpoint&, const Endpoint&) = default;
};

// A CIDR prefix; bits of the address beyond the length are kept as given but not compared.
struct Prefix {
  IpAddress ip;
  uint8_t length = 0;

  // "192.0.2.0/24", "2001:db8::/32"; a bare address is a prefix of full length. An IPv6 zone is
  // refused.
  static std::optional<Prefix> parse(std::string_view text);
  // False for an address of the other family.
  [[nodiscard]] bool contains(const IpAddress& address) const;
  [[nodiscard]] std::string to_string() const;
  friend bool operator==(const Prefix&, const Prefix&) = default;
};

// Decimal 0..65535 with nothing around it.
std::optional<uint16_t> parse_port(std::string_view text);

}  // namespace culvert
