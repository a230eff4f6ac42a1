// The table of what the controller answers, by method and path. Routes that belong together are in
// a file of their own, routes_*.cc, and share nothing but what is here.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/state.h"
#include "api/text_source.h"
#include "engine/engine.h"
#include "wire/http1.h"

namespace culvert::api {

// One request, as its route sees it. It and what it views live until the answer was made.
struct Call {
  ControllerState& state;
  engine::Engine& engine;
  std::string_view query;
  std::vector<std::string> names;  // what stands in the place of each {} of the path, decoded
  std::string_view body;
};

struct Reply {
  int status = 200;
  std::string body;    // JSON
  std::string fields;  // further header fields, "Name: value\r\n" each
  // Makes the body instead.
  std::unique_ptr<TextSource> source;
  // Called when the answer is on its way.
  std::function<void()> after;
};

// {"message": text}
std::string message_json(std::string_view text);
Reply failure(int status, std::string_view message);
inline Reply bad_request() {
  return failure(400, "Body invalid");
}
inline Reply not_found() {
  return failure(404, "Resource not found");
}
// What exists in mihomo and does not here.
Reply not_implemented(std::string_view what);
Reply no_content();

// What goes on until the client ends it.
enum class Feed : uint8_t { kNone, kTraffic, kMemory, kLogs, kConnections };

struct Route {
  std::string_view method;
  std::string_view path;  // "/proxies/{}/delay"
  // One of the two, unless it is a feed: the answer at once, or when there is one.
  Reply (*now)(Call& call) = nullptr;
  rt::Task<Reply> (*later)(Call& call) = nullptr;
  // With `now` set, only for WebSocket upgrades.
  Feed feed = Feed::kNone;
};

std::span<const Route> general_routes();
std::span<const Route> config_routes();
std::span<const Route> connection_routes();
std::span<const Route> proxy_routes();
std::span<const Route> provider_routes();
std::span<const Route> rule_routes();
std::span<const Route> storage_routes();
std::span<const Route> culvert_routes();

struct Match {
  const Route* route = nullptr;    // nullptr: none
  std::vector<std::string> names;  // moved out of the segments
  std::string allowed;             // without a route, the methods that the path has: "GET, PUT"
};
Match find_route(std::string_view method, std::vector<std::string> segments);

}  // namespace culvert::api
