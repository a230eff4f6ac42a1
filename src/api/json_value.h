// JSON that a client sent, read with bounds.
#pragma once

#include <boost/json.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace culvert::api {

// Of arrays and objects in each other.
inline constexpr size_t kMaxJsonDepth = 32;

// One JSON text (RFC 8259) with nothing behind it; nothing when `text` is none. What is made of it
// takes up to 24 times its size: not to be kept over a wait.
std::optional<boost::json::value> parse_json(std::string_view text);
// The same, of an object.
std::optional<boost::json::object> parse_json_object(std::string_view text);

// How a member of an object is: one that is null is as one that is not there (as in Go).
enum class Member { kAbsent, kWrongType, kFound };
Member read_member(const boost::json::object& object, std::string_view name, std::string& out);
Member read_member(const boost::json::object& object, std::string_view name, bool& out);
Member read_member(const boost::json::object& object, std::string_view name, int64_t& out);

}  // namespace culvert::api
