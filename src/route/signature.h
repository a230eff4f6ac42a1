// Signatures: what a flow must be like for a condition to have a chance, in few bits. Names, ports
// and clients fall into 64 classes each; a flow that is in none of the classes a condition needs
// cannot fall under it, so that of many conditions few have to be judged.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "base/ip.h"

namespace culvert::route {

// Of a condition. A set of classes is a bit for each; of the first three, 0 stands for a condition
// that holds for flows of any, also of none.
struct Signature {
  uint64_t names = 0;     // one of the host's domains is in one of these
  uint64_t ports = 0;     // of the destination
  uint64_t sources = 0;   // of the client's address
  uint64_t letters = 0;   // each of these is one of the host's
  uint32_t networks = 0;  // those it can hold for, by value
  uint32_t inbounds = 0;  // the same of InboundType
};

inline uint64_t class_bit(uint32_t value) {
  return uint64_t{1} << (value * 0x9e3779b1u >> 26);
}

// Four bytes as a number, the first the lowest.
inline uint32_t load_four(const char* p) {
  uint32_t four;
  std::memcpy(&four, p, sizeof four);
  if constexpr (std::endian::native == std::endian::big) four = __builtin_bswap32(four);
  return four;
}

// Three bytes as a number, and a fourth where there is one.
inline uint32_t letters_at(std::string_view text, size_t at) {
  const char* p = text.data() + at;
  if (at + 4 <= text.size()) return load_four(p);
  return uint32_t{static_cast<unsigned char>(p[0])} |
         uint32_t{static_cast<unsigned char>(p[1])} << 8 |
         uint32_t{static_cast<unsigned char>(p[2])} << 16;
}

// By the length of the name and how it begins.
inline uint64_t name_class(std::string_view name) {
  uint32_t head = 0;
  if (name.size() >= 3) {
    head = letters_at(name, 0);
  } else if (!name.empty()) {
    head = static_cast<unsigned char>(name.front());
  }
  return class_bit(head ^ static_cast<uint32_t>(name.size()) << 24);
}

// The classes of all domains that `host` is in.
inline uint64_t name_classes(std::string_view host) {
  if (host.empty()) return 0;
  uint64_t out = name_class(host);
  for (size_t i = 0; i < host.size(); ++i) {
    if (host[i] == '.') out |= name_class(host.substr(i + 1));
  }
  return out;
}

// The classes of every three letters in a row.
inline uint64_t letter_classes(std::string_view text) {
  if (text.size() < 3) return 0;
  // Four bytes are read wherever there are four.
  uint64_t out = class_bit(letters_at(text, text.size() - 3) << 8);
  for (const char *p = text.data(), *end = p + text.size() - 3; p != end; ++p) {
    out |= class_bit(load_four(p) << 8);
  }
  return out;
}

inline uint64_t port_class(uint16_t port) {
  return uint64_t{1} << (port % 64);
}

// Of an address that is valid and not mapped.
inline uint64_t source_class(const IpAddress& address) {
  if (address.is_v4()) return class_bit(address.v4_value() >> 8);
  return class_bit(load_be32(address.bytes.data()) * 31 + load_be16(address.bytes.data() + 4));
}

}  // namespace culvert::route
