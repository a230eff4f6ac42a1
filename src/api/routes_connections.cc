// Live flows: the list of them, and their end.
#include "api/connections_text.h"
#include "api/routes.h"
#include "stats/conversations.h"

namespace culvert::api {
namespace {

using rt::Task;

Reply list(Call& call) {
  Reply reply;
  reply.source = std::make_unique<ConnectionsText>(call.engine);
  return reply;
}

// What cannot be an id is nobody's: the flow is not there afterwards.
Task<Reply> end_one(Call& call) {
  stats::FlowId id;
  if (stats::FlowId::parse(call.names[0], id)) co_await call.engine.interrupt(id);
  co_return no_content();
}

Task<Reply> end_all(Call& call) {
  co_await call.engine.interrupt_all();
  co_return no_content();
}

constexpr Route kRoutes[] = {
    {.method = "GET", .path = "/connections", .now = list, .feed = Feed::kConnections},
    {.method = "DELETE", .path = "/connections", .later = end_all},
    {.method = "DELETE", .path = "/connections/{}", .later = end_one},
};

}  // namespace

std::span<const Route> connection_routes() {
  return kRoutes;
}

}  // namespace culvert::api
