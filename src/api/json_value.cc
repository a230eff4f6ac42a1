#include "api/json_value.h"

namespace culvert::api {

namespace json = boost::json;

std::optional<json::value> parse_json(std::string_view text) {
  json::parse_options options;
  options.max_depth = kMaxJsonDepth;
  json::error_code error;
  json::value value = json::parse({text.data(), text.size()}, error, {}, options);
  if (error) return std::nullopt;
  return value;
}

std::optional<json::object> parse_json_object(std::string_view text) {
  std::optional<json::value> value = parse_json(text);
  if (!value || !value->is_object()) return std::nullopt;
  return std::move(value->get_object());
}

namespace {

const json::value* find(const json::object& object, std::string_view name) {
  const json::value* value = object.if_contains({name.data(), name.size()});
  return value == nullptr || value->is_null() ? nullptr : value;
}

}  // namespace

Member read_member(const json::object& object, std::string_view name, std::string& out) {
  const json::value* value = find(object, name);
  if (value == nullptr) return Member::kAbsent;
  if (!value->is_string()) return Member::kWrongType;
  const json::string& text = value->get_string();
  out.assign(text.data(), text.size());
  return Member::kFound;
}

Member read_member(const json::object& object, std::string_view name, bool& out) {
  const json::value* value = find(object, name);
  if (value == nullptr) return Member::kAbsent;
  if (!value->is_bool()) return Member::kWrongType;
  out = value->get_bool();
  return Member::kFound;
}

Member read_member(const json::object& object, std::string_view name, int64_t& out) {
  const json::value* value = find(object, name);
  if (value == nullptr) return Member::kAbsent;
  if (!value->is_int64()) return Member::kWrongType;
  out = value->get_int64();
  return Member::kFound;
}

}  // namespace culvert::api
