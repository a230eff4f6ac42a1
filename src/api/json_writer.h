// JsonWriter: appends one JSON document to a string, without building it in memory first. The
// caller keeps keys and values balanced; commas and escapes are the writer's (RFC 8259). Text that
// is not valid UTF-8 is written with U+FFFD in place of each bad byte.
#pragma once

#include <charconv>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace culvert::api {

class JsonWriter {
 public:
  explicit JsonWriter(std::string& out) : out_(out) {}
  JsonWriter& begin_object() { return open('{'); }
  JsonWriter& end_object() { return close('}'); }
  JsonWriter& begin_array() { return open('['); }
  JsonWriter& end_array() { return close(']'); }
  JsonWriter& string(std::string_view text);
  JsonWriter& number(uint64_t v);
  JsonWriter& boolean(bool v);
  JsonWriter& null();
  // The name of a member that is not known beforehand; its value follows.
  JsonWriter& member(std::string_view name);
  // A string known to need no escape: digits, an address, an identity.
  JsonWriter& plain(std::string_view text);
  // Members of an object, or elements of an array, that are JSON already: the constant ones.
  JsonWriter& raw(std::string_view json);

  // Names are literals that need no escape. A member is put together on the stack where it is
  // short: each append to the document costs more than the few bytes.
  template <size_t N>
  JsonWriter& key(const char (&name)[N]) {
    char text[N + kAroundName];
    append(text, start(text, name));
    comma_ = false;
    return *this;
  }
  template <size_t N>
  JsonWriter& field(const char (&name)[N], std::string_view text) {
    return is_plain(text) ? plain_field(name, text) : key(name).string(text);
  }
  template <size_t N>
  JsonWriter& plain_field(const char (&name)[N], std::string_view text) {
    if (text.size() > kShort) return key(name).plain(text);
    char all[N + kAroundName + kShort + 2];
    char* at = start(all, name);
    *at++ = '"';
    if (!text.empty()) std::memcpy(at, text.data(), text.size());
    at += text.size();
    *at++ = '"';
    append(all, at);
    return *this;
  }
  // Not an overload of field(): a literal would become a truth value.
  template <size_t N>
  JsonWriter& flag(const char (&name)[N], bool v) {
    return key(name).boolean(v);
  }
  template <size_t N>
  JsonWriter& field(const char (&name)[N], uint64_t v) {
    char all[N + kAroundName + kDigits];
    char* at = start(all, name);
    append(all, std::to_chars(at, at + kDigits, v).ptr);
    return *this;
  }

 private:
  static constexpr size_t kAroundName = 4;
  static constexpr size_t kShort = 64;
  static constexpr size_t kDigits = 20;  // of every 64-bit number

  static bool is_plain(std::string_view text);
  JsonWriter& open(char c);
  JsonWriter& close(char c);
  void separate();
  template <size_t N>
  char* start(char* at, const char (&name)[N]) {
    if (comma_) *at++ = ',';
    comma_ = true;
    *at++ = '"';
    std::memcpy(at, name, N - 1);
    at += N - 1;
    *at++ = '"';
    *at++ = ':';
    return at;
  }
  void append(const char* from, const char* to) {
    out_.append(from, static_cast<size_t>(to - from));
  }
  std::string& out_;
  bool comma_ = false;
};

}  // namespace culvert::api
