// What the controller says of itself, and what mihomo has beside that.
#include "api/json_writer.h"
#include "api/routes.h"

namespace culvert::api {
namespace {

Reply hello(Call&) {
  Reply reply;
  reply.body = R"({"hello":"mihomo"})";
  return reply;
}

Reply version(Call&) {
  Reply reply;
  JsonWriter(reply.body)
      .begin_object()
      .flag("meta", true)
      .field("version", CULVERT_VERSION)
      .end_object();
  return reply;
}

Reply restart(Call& call) {
  if (call.state.parts.restart == nullptr) return not_implemented("a restart");
  Reply reply;
  reply.body = R"({"status":"ok"})";
  reply.after = call.state.parts.restart;
  return reply;
}

Reply geo(Call&) {
  return not_implemented("an update of GEO files");
}

Reply upgrade(Call&) {
  return not_implemented("an upgrade over the API");
}

// There are no fake addresses: none is left afterwards, which is what was asked for.
Reply flush_fake_addresses(Call&) {
  return no_content();
}

Reply flush_names(Call& call) {
  if (call.state.parts.flush_names == nullptr) return not_implemented("flushing names");
  call.state.parts.flush_names();
  return no_content();
}

Reply query_name(Call&) {
  return not_implemented("a DNS query over the API");
}

constexpr Route kRoutes[] = {
    {.method = "GET", .path = "/", .now = hello},
    {.method = "GET", .path = "/version", .now = version},
    {.method = "GET", .path = "/traffic", .feed = Feed::kTraffic},
    {.method = "GET", .path = "/memory", .feed = Feed::kMemory},
    {.method = "GET", .path = "/logs", .feed = Feed::kLogs},
    {.method = "POST", .path = "/restart", .now = restart},
    {.method = "POST", .path = "/configs/geo", .now = geo},
    {.method = "POST", .path = "/upgrade", .now = upgrade},
    {.method = "POST", .path = "/upgrade/geo", .now = geo},
    {.method = "POST", .path = "/upgrade/ui", .now = upgrade},
    {.method = "POST", .path = "/cache/fakeip/flush", .now = flush_fake_addresses},
    {.method = "POST", .path = "/cache/dns/flush", .now = flush_names},
    {.method = "GET", .path = "/dns/query", .now = query_name},
};

}  // namespace

std::span<const Route> general_routes() {
  return kRoutes;
}

}  // namespace culvert::api
