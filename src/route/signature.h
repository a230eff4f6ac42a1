// Signatures: what a flow must be like for a condition to have a chance, in few bits. Names, ports
// and clients fall into 64 classes each; a flow that is in none of the classes a condition needs
// cannot fall under it, so that of many conditions few have to be judged.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "base/ip.h"
#include "route/rule_type.h"

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

// Of a host name; nothing of it is counted for a flow without one.
struct HostClasses {
  uint64_t names = 0;
  uint64_t letters = 0;
};

inline uint64_t class_bit(uint32_t value) {
  return uint64_t{1} << (value * 0x9e3779b1u >> 26);
}

// A name is hashed from its end, so that the hashes of all its suffixes fall out on the way.
class SuffixHash {
 public:
  void add(char c) { state_ = (state_ ^ static_cast<unsigned char>(c)) * 0x9e3779b97f4a7c15u; }
  // Of the name that has been added, as one that a rule of `type` has.
  [[nodiscard]] uint64_t value(RuleType type) const {
    const uint64_t h = (state_ ^ (state_ >> 32) ^ static_cast<uint64_t>(type)) * kMix;
    return h ^ (h >> 29);
  }
  // The class of that name.
  [[nodiscard]] uint64_t class_bit() const { return uint64_t{1} << (state_ >> 58); }

 private:
  static constexpr uint64_t kMix = 0xd6e8feb86659fd93u;
  uint64_t state_ = 0x243f6a8885a308d3u;
};

inline SuffixHash hash_of(std::string_view name) {
  SuffixHash hash;
  for (size_t i = name.size(); i > 0; --i) hash.add(name[i - 1]);
  return hash;
}

inline uint64_t name_class(std::string_view name) {
  return hash_of(name).class_bit();
}

// The classes of all domains that `host` is in.
inline uint64_t name_classes(std::string_view host) {
  SuffixHash hash;
  uint64_t out = 0;
  for (size_t i = host.size(); i > 0; --i) {
    if (host[i - 1] == '.') out |= hash.class_bit();
    hash.add(host[i - 1]);
  }
  return host.empty() ? 0 : out | hash.class_bit();
}

// Four bytes as a number, the first the lowest.
inline uint32_t load_four(const char* p) {
  uint32_t four;
  std::memcpy(&four, p, sizeof four);
  if constexpr (std::endian::native == std::endian::big) four = __builtin_bswap32(four);
  return four;
}

// Three letters in a row; their hash, of which the upper bits are the good ones.
inline constexpr size_t kLetters = 3;
inline uint32_t letters_hash(uint32_t letters) {
  return (letters << 8) * 0x9e3779b1u;
}
inline uint64_t letters_class(uint32_t hash) {
  return uint64_t{1} << (hash >> 26);
}

// Calls `take(hash, at)` for every three letters in a row.
template <class Take>
void each_letters(std::string_view text, const Take& take) {
  if (text.size() < kLetters) return;
  // Four bytes are read wherever there are four.
  const char* const p = text.data();
  const size_t last = text.size() - kLetters;
  for (size_t at = 0; at < last; ++at) take(letters_hash(load_four(p + at)), at);
  take(letters_hash(uint32_t{static_cast<unsigned char>(p[last])} |
                    uint32_t{static_cast<unsigned char>(p[last + 1])} << 8 |
                    uint32_t{static_cast<unsigned char>(p[last + 2])} << 16),
       last);
}

// Their classes.
inline uint64_t letter_classes(std::string_view text) {
  uint64_t out = 0;
  each_letters(text, [&](uint32_t hash, size_t) { out |= letters_class(hash); });
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
