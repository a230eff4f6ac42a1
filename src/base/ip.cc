#include "base/ip.h"

#include <arpa/inet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <charconv>
#include <cstring>

#include "base/format.h"

namespace culvert {

IpAddress IpAddress::v4(uint32_t host_order) {
  IpAddress a;
  store_be32(a.bytes.data(), host_order);
  a.family = Family::kV4;
  return a;
}

IpAddress IpAddress::v4(Bytes four) {
  return v4(load_be32(four.data()));
}

IpAddress IpAddress::v6(Bytes sixteen) {
  IpAddress a;
  std::memcpy(a.bytes.data(), sixteen.data(), 16);
  a.family = Family::kV6;
  return a;
}

std::optional<IpAddress> IpAddress::parse(std::string_view text) {
  char z[INET6_ADDRSTRLEN + 1];
  if (text.empty() || text.size() >= sizeof z) return std::nullopt;
  std::memcpy(z, text.data(), text.size());
  z[text.size()] = 0;
  if (std::memchr(z, 0, text.size()) != nullptr) return std::nullopt;
  uint8_t raw[16];
  if (text.find(':') == std::string_view::npos) {
    if (inet_pton(AF_INET, z, raw) != 1) return std::nullopt;
    return v4(Bytes(raw, 4));
  }
  if (inet_pton(AF_INET6, z, raw) != 1) return std::nullopt;
  return v6(Bytes(raw, 16));
}

IpAddress IpAddress::unmapped() const {
  static constexpr uint8_t kMapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  if (is_v6() && std::memcmp(bytes.data(), kMapped, 12) == 0) {
    return v4(Bytes(bytes).subspan(12, 4));
  }
  return *this;
}

bool IpAddress::is_unspecified() const {
  static constexpr std::array<uint8_t, 16> kZero{};
  return valid() && bytes == kZero;
}

bool IpAddress::is_loopback() const {
  const IpAddress a = unmapped();
  if (a.is_v4()) return a.bytes[0] == 127;
  static constexpr std::array<uint8_t, 16> kOne{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
  return a.is_v6() && a.bytes == kOne;
}

bool IpAddress::is_link_local() const {
  const IpAddress a = unmapped();
  if (a.is_v4()) return a.bytes[0] == 169 && a.bytes[1] == 254;
  return a.is_v6() && a.bytes[0] == 0xfe && (a.bytes[1] & 0xc0) == 0x80;
}

bool IpAddress::is_multicast() const {
  const IpAddress a = unmapped();
  if (a.is_v4()) return (a.bytes[0] & 0xf0) == 0xe0;
  return a.is_v6() && a.bytes[0] == 0xff;
}

std::string IpAddress::to_string() const {
  char z[INET6_ADDRSTRLEN];
  if (!valid()) return "";
  inet_ntop(is_v4() ? AF_INET : AF_INET6, bytes.data(), z, sizeof z);
  return z;
}

std::string Endpoint::to_string() const {
  if (ip.is_v6()) {
    if (scope_id != 0) return format("[{}%{}]:{}", ip.to_string(), scope_id, port);
    return format("[{}]:{}", ip.to_string(), port);
  }
  return format("{}:{}", ip.to_string(), port);
}

std::optional<Endpoint> Endpoint::parse(std::string_view text) {
  const size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const auto port = parse_port(text.substr(colon + 1));
  if (!port) return std::nullopt;
  std::string_view host = text.substr(0, colon);
  if (!host.empty() && host.front() == '[') {
    if (host.size() < 2 || host.back() != ']') return std::nullopt;
    host = host.substr(1, host.size() - 2);
    uint32_t scope = 0;
    if (const size_t percent = host.find('%'); percent != std::string_view::npos) {
      const std::string zone(host.substr(percent + 1));
      host = host.substr(0, percent);
      const auto [end, ec] = std::from_chars(zone.data(), zone.data() + zone.size(), scope);
      if (ec != std::errc() || end != zone.data() + zone.size())
        scope = if_nametoindex(zone.c_str());
      if (scope == 0) return std::nullopt;
    }
    const auto ip = IpAddress::parse(host);
    if (!ip || !ip->is_v6()) return std::nullopt;
    return Endpoint(*ip, *port, scope);
  }
  const auto ip = IpAddress::parse(host);
  if (!ip || !ip->is_v4()) return std::nullopt;
  return Endpoint(*ip, *port);
}

Endpoint Endpoint::from_sockaddr(const sockaddr& from) {
  if (from.sa_family == AF_INET) {
    sockaddr_in in;
    std::memcpy(&in, &from, sizeof in);
    return {IpAddress::v4(ntohl(in.sin_addr.s_addr)), ntohs(in.sin_port)};
  }
  if (from.sa_family == AF_INET6) {
    sockaddr_in6 in;
    std::memcpy(&in, &from, sizeof in);
    return {IpAddress::v6(Bytes(in.sin6_addr.s6_addr, 16)), ntohs(in.sin6_port), in.sin6_scope_id};
  }
  return {};
}

uint32_t Endpoint::to_sockaddr(sockaddr_storage& to) const {
  if (ip.is_v4()) {
    sockaddr_in in{};
    in.sin_family = AF_INET;
    in.sin_port = htons(port);
    std::memcpy(&in.sin_addr, ip.bytes.data(), 4);
    std::memcpy(&to, &in, sizeof in);
    return sizeof in;
  }
  sockaddr_in6 in{};
  in.sin6_family = AF_INET6;
  in.sin6_port = htons(port);
  in.sin6_scope_id = scope_id;
  std::memcpy(&in.sin6_addr, ip.bytes.data(), 16);
  std::memcpy(&to, &in, sizeof in);
  return sizeof in;
}

std::optional<Prefix> Prefix::parse(std::string_view text) {
  const size_t slash = text.find('/');
  const auto ip = IpAddress::parse(text.substr(0, slash));
  if (!ip) return std::nullopt;
  const uint8_t full = ip->is_v4() ? 32 : 128;
  if (slash == std::string_view::npos) return Prefix{*ip, full};
  const std::string_view digits = text.substr(slash + 1);
  const auto length = parse_port(digits);
  if (!length || *length > full || (digits.size() > 1 && digits[0] == '0')) return std::nullopt;
  return Prefix{*ip, static_cast<uint8_t>(*length)};
}

bool Prefix::contains(const IpAddress& address) const {
  if (address.family != ip.family || !ip.valid()) return false;
  const size_t whole = length / 8;
  if (std::memcmp(address.bytes.data(), ip.bytes.data(), whole) != 0) return false;
  const int rest = length % 8;
  if (rest == 0) return true;
  const auto mask = static_cast<uint8_t>(0xff << (8 - rest));
  return ((address.bytes[whole] ^ ip.bytes[whole]) & mask) == 0;
}

std::string Prefix::to_string() const {
  return format("{}/{}", ip.to_string(), length);
}

std::optional<uint16_t> parse_port(std::string_view text) {
  uint16_t v = 0;
  if (text.empty() || text.size() > 5) return std::nullopt;
  const auto [end, ec] = std::from_chars(text.data(), text.data() + text.size(), v);
  if (ec != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return v;
}

}  // namespace culvert
