// What goes on until the client ends it: /traffic, /memory, /logs, and /connections over WebSocket.
#pragma once

#include <optional>
#include <string_view>

#include "api/push.h"
#include "api/routes.h"
#include "api/state.h"
#include "base/log.h"

namespace culvert::api {

struct FeedRequest {
  Feed feed = Feed::kNone;
  Duration interval{};                   // of kConnections
  log::Level level = log::Level::kInfo;  // of kLogs
  bool structured = false;
};

// Nothing for a query that asks for what there is not.
std::optional<FeedRequest> parse_feed_request(Feed feed, std::string_view query);

// Returns when the client has gone, or does not take what it asked for.
flow::Task<void> run_feed(ControllerState& state, Push& push, FeedRequest request);

}  // namespace culvert::api
