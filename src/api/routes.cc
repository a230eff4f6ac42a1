#include "api/routes.h"

#include <array>

#include "api/json_writer.h"

namespace culvert::api {

std::string message_json(std::string_view text) {
  std::string out;
  JsonWriter(out).begin_object().field("message", text).end_object();
  return out;
}

Reply failure(int status, std::string_view message) {
  Reply reply;
  reply.status = status;
  reply.body = message_json(message);
  return reply;
}

Reply not_implemented(std::string_view what) {
  return failure(501, std::string(what) + " is not supported by this version of Culvert");
}

Reply no_content() {
  Reply reply;
  reply.status = 204;
  return reply;
}

namespace {

constexpr std::string_view kName = "{}";

// Whether the pattern has these segments, but for the names in it.
bool fits(std::string_view pattern, const std::vector<std::string>& segments) {
  size_t at = 0;
  pattern.remove_prefix(1);
  while (!pattern.empty()) {
    const size_t slash = pattern.find('/');
    const std::string_view part = pattern.substr(0, slash);
    if (at == segments.size() || (part != kName && part != segments[at])) return false;
    ++at;
    pattern.remove_prefix(slash == std::string_view::npos ? pattern.size() : slash + 1);
  }
  return at == segments.size();
}

std::vector<std::string> take_names(std::string_view pattern, std::vector<std::string>& segments) {
  std::vector<std::string> out;
  size_t at = 0;
  pattern.remove_prefix(1);
  while (!pattern.empty()) {
    const size_t slash = pattern.find('/');
    if (pattern.substr(0, slash) == kName) out.push_back(std::move(segments[at]));
    ++at;
    pattern.remove_prefix(slash == std::string_view::npos ? pattern.size() : slash + 1);
  }
  return out;
}

}  // namespace

Match find_route(std::string_view method, std::vector<std::string> segments) {
  Match match;
  const std::array<std::span<const Route>, 8> tables = {
      general_routes(),  config_routes(), connection_routes(), proxy_routes(),
      provider_routes(), rule_routes(),   storage_routes(),    culvert_routes()};
  for (const auto& table : tables) {
    for (const Route& route : table) {
      if (!fits(route.path, segments)) continue;
      if (route.method == method) {
        match.route = &route;
        match.names = take_names(route.path, segments);
        return match;
      }
      if (!match.allowed.empty()) match.allowed += ", ";
      match.allowed += route.method;
    }
  }
  return match;
}

}  // namespace culvert::api
