// Views of bytes, big-endian loads and stores, and bounded cursors for codecs.
// A view never owns: whose bytes they are and how long they stay is said by whoever returns one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

namespace culvert {

using Bytes = std::span<const uint8_t>;
using MutableBytes = std::span<uint8_t>;

inline Bytes as_bytes(std::string_view text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}
inline std::string_view as_text(Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

inline uint16_t load_be16(const uint8_t* p) {
  return static_cast<uint16_t>(p[0] << 8 | p[1]);
}
inline uint32_t load_be32(const uint8_t* p) {
  return static_cast<uint32_t>(p[0]) << 24 | static_cast<uint32_t>(p[1]) << 16 |
         static_cast<uint32_t>(p[2]) << 8 | p[3];
}
inline uint64_t load_be64(const uint8_t* p) {
  return static_cast<uint64_t>(load_be32(p)) << 32 | load_be32(p + 4);
}
inline void store_be16(uint8_t* p, uint16_t v) {
  p[0] = static_cast<uint8_t>(v >> 8);
  p[1] = static_cast<uint8_t>(v);
}
inline void store_be32(uint8_t* p, uint32_t v) {
  store_be16(p, static_cast<uint16_t>(v >> 16));
  store_be16(p + 2, static_cast<uint16_t>(v));
}
inline void store_be64(uint8_t* p, uint64_t v) {
  store_be32(p, static_cast<uint32_t>(v >> 32));
  store_be32(p + 4, static_cast<uint32_t>(v));
}

// Reads forward through a view. After a read past the end, ok() is false for good and every further
// read returns zero or an empty view: check once, at the end.
class ByteReader {
 public:
  explicit ByteReader(Bytes bytes) : bytes_(bytes) {}
  [[nodiscard]] bool ok() const { return ok_; }
  [[nodiscard]] size_t left() const { return bytes_.size() - at_; }
  [[nodiscard]] size_t offset() const { return at_; }
  Bytes take(size_t n) {
    if (n > left()) {
      ok_ = false;
      at_ = bytes_.size();
      return {};
    }
    Bytes out = bytes_.subspan(at_, n);
    at_ += n;
    return out;
  }
  uint8_t u8() {
    Bytes b = take(1);
    return b.empty() ? 0 : b[0];
  }
  uint16_t be16() {
    Bytes b = take(2);
    return b.empty() ? 0 : load_be16(b.data());
  }
  uint32_t be32() {
    Bytes b = take(4);
    return b.empty() ? 0 : load_be32(b.data());
  }
  uint64_t be64() {
    Bytes b = take(8);
    return b.empty() ? 0 : load_be64(b.data());
  }

 private:
  Bytes bytes_;
  size_t at_ = 0;
  bool ok_ = true;
};

// Writes forward into a buffer of fixed size; a write that does not fit sets ok() to false and
// writes nothing from then on.
class ByteWriter {
 public:
  explicit ByteWriter(MutableBytes out) : out_(out) {}
  [[nodiscard]] bool ok() const { return ok_; }
  [[nodiscard]] size_t size() const { return at_; }
  [[nodiscard]] Bytes written() const { return out_.first(at_); }
  void put(Bytes bytes) {
    if (uint8_t* p = claim(bytes.size()); p != nullptr && !bytes.empty()) {
      std::memcpy(p, bytes.data(), bytes.size());
    }
  }
  void u8(uint8_t v) {
    if (uint8_t* p = claim(1)) *p = v;
  }
  void be16(uint16_t v) {
    if (uint8_t* p = claim(2)) store_be16(p, v);
  }
  void be32(uint32_t v) {
    if (uint8_t* p = claim(4)) store_be32(p, v);
  }
  void be64(uint64_t v) {
    if (uint8_t* p = claim(8)) store_be64(p, v);
  }

 private:
  uint8_t* claim(size_t n) {
    if (!ok_ || n > out_.size() - at_) {
      ok_ = false;
      return nullptr;
    }
    uint8_t* p = out_.data() + at_;
    at_ += n;
    return p;
  }
  MutableBytes out_;
  size_t at_ = 0;
  bool ok_ = true;
};

}  // namespace culvert
