// JsonWriter: appends one JSON document to a string, without building it in memory first. The
// caller keeps keys and values balanced; commas and escapes are the writer's (RFC 8259). Text that
// is not valid UTF-8 is written with U+FFFD in place of each bad byte.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace culvert::api {

class JsonWriter {
 public:
  static constexpr size_t kMaxName = 40;
  explicit JsonWriter(std::string& out) : out_(out) {}
  JsonWriter& begin_object() { return open('{'); }
  JsonWriter& end_object() { return close('}'); }
  JsonWriter& begin_array() { return open('['); }
  JsonWriter& end_array() { return close(']'); }
  // `name` is a literal that needs no escape, of at most kMaxName bytes.
  JsonWriter& key(std::string_view name);
  JsonWriter& string(std::string_view text);
  JsonWriter& number(uint64_t v);
  JsonWriter& boolean(bool v);
  JsonWriter& null();
  // A string known to need no escape: digits, an address, an identity.
  JsonWriter& plain(std::string_view text);
  // Members of an object, or elements of an array, that are JSON already: the constant ones.
  JsonWriter& raw(std::string_view json);

  JsonWriter& field(std::string_view name, std::string_view text) { return key(name).string(text); }
  JsonWriter& field(std::string_view name, const char* text) { return key(name).string(text); }
  JsonWriter& field(std::string_view name, uint64_t v) { return key(name).number(v); }

 private:
  JsonWriter& open(char c);
  JsonWriter& close(char c);
  void separate();
  std::string& out_;
  bool comma_ = false;
};

}  // namespace culvert::api
