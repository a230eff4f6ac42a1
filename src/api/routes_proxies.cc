// Nodes and groups: what there is, what groups choose, and delays.
#include <algorithm>
#include <optional>

#include "api/delay_query.h"
#include "api/json_value.h"
#include "api/json_writer.h"
#include "api/proxy_view.h"
#include "api/routes.h"

namespace culvert::api {
namespace {

using rt::Task;

constexpr std::string_view kSelector = "Selector";

// The target that is meant, if it is shown.
std::optional<uint32_t> find_shown(const ProxyView& view, std::string_view name) {
  const auto target = view.generation().find_target(name);
  return target && view.shows(*target) ? target : std::nullopt;
}

Reply list(Call& call) {
  Reply reply;
  reply.source = std::make_unique<ProxiesText>(call.engine.generation_ptr());
  return reply;
}

Reply get(Call& call) {
  const ProxyView view(call.engine.generation_ptr());
  const auto target = find_shown(view, call.names[0]);
  if (!target) return not_found();
  Reply reply;
  JsonWriter w(reply.body);
  view.append(w, *target);
  return reply;
}

Task<Reply> choose(Call& call) {
  const engine::Generation& g = call.engine.generation();
  std::string wanted;
  {
    const auto object = parse_json_object(call.body);
    if (!object || read_member(*object, "name", wanted) != Member::kFound) co_return bad_request();
  }
  const std::optional<uint32_t> target = g.find_target(call.names[0]);
  if (!target) co_return not_found();
  group::Group* group = g.find_group(call.names[0]);
  if (group == nullptr || group->type() != kSelector) co_return failure(400, "Must be a Selector");
  const auto& members = group->members();
  const auto member =
      std::ranges::find_if(members, [&](uint32_t t) { return g.target_name(t) == wanted; });
  if (member == members.end()) co_return failure(400, "Selector update error: proxy not exist");
  const auto place = static_cast<uint32_t>(member - members.begin());
  const bool is_other = place != group->chosen();
  group->choose(place);
  if (call.state.parts.choices != nullptr) call.state.parts.choices->chose(group->name(), wanted);
  // Flows stay where they are, unless the profile wants them to end.
  if (is_other && g.settings->interrupt_exist_connections) {
    Task<void> ending = call.engine.interrupt_through(*target);
    co_await std::move(ending);
  }
  co_return no_content();
}

// Groups that test and choose by themselves could be fixed to a member, and freed of it here.
Reply free(Call& call) {
  if (!call.engine.generation().find_target(call.names[0])) return not_found();
  return bad_request();
}

Task<Reply> test(Call& call) {
  const ProxyView view(call.engine.generation_ptr());
  const auto target = find_shown(view, call.names[0]);
  if (!target) co_return not_found();
  const config::GroupSettings* group = view.group(*target);
  Reply refusal;
  std::optional<engine::DelayTest> wanted = parse_delay_query(
      call.query, group == nullptr || group->url.empty() ? kDefaultTestUrl : group->url, "",
      view.generation().settings->unified_delay, refusal);
  if (!wanted) co_return refusal;
  Task<Reply> testing =
      answer_delay(call.engine, call.engine.generation_ptr(), *target, *std::move(wanted));
  co_return co_await std::move(testing);
}

Reply list_groups(Call& call) {
  Reply reply;
  reply.source = std::make_unique<GroupsText>(call.engine.generation_ptr());
  return reply;
}

Reply get_group(Call& call) {
  const ProxyView view(call.engine.generation_ptr());
  const auto target = find_shown(view, call.names[0]);
  if (!target || view.group(*target) == nullptr) return not_found();
  Reply reply;
  JsonWriter w(reply.body);
  view.append(w, *target);
  return reply;
}

Task<Reply> test_group(Call& call) {
  const ProxyView view(call.engine.generation_ptr());
  const auto target = find_shown(view, call.names[0]);
  const config::GroupSettings* group = target ? view.group(*target) : nullptr;
  if (group == nullptr) co_return not_found();
  Reply refusal;
  std::optional<engine::DelayTest> wanted =
      parse_delay_query(call.query, group->url.empty() ? kDefaultTestUrl : group->url, "",
                        view.generation().settings->unified_delay, refusal);
  if (!wanted) co_return refusal;
  std::vector<uint32_t> members = group->members;
  Task<Reply> testing = answer_group_delay(call.engine, call.engine.generation_ptr(),
                                           std::move(members), *std::move(wanted));
  co_return co_await std::move(testing);
}

constexpr Route kRoutes[] = {
    {.method = "GET", .path = "/proxies", .now = list},
    {.method = "GET", .path = "/proxies/{}", .now = get},
    {.method = "PUT", .path = "/proxies/{}", .later = choose},
    {.method = "DELETE", .path = "/proxies/{}", .now = free},
    {.method = "GET", .path = "/proxies/{}/delay", .later = test},
    {.method = "GET", .path = "/group", .now = list_groups},
    {.method = "GET", .path = "/group/{}", .now = get_group},
    {.method = "GET", .path = "/group/{}/delay", .later = test_group},
};

}  // namespace

std::span<const Route> proxy_routes() {
  return kRoutes;
}

}  // namespace culvert::api
