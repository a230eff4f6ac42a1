// Rules: the list with its counts, and switching them off and on.
#include <charconv>
#include <optional>
#include <utility>
#include <vector>

#include "api/change.h"
#include "api/json_value.h"
#include "api/routes.h"
#include "api/rules_text.h"

namespace culvert::api {
namespace {

using rt::Task;

Reply list(Call& call) {
  Reply reply;
  reply.source = std::make_unique<RulesText>(call.state, call.engine.generation_ptr());
  return reply;
}

// {"<index>":true}; nothing when it is something else.
std::optional<std::vector<std::pair<uint32_t, bool>>> parse_switches(std::string_view body) {
  const auto object = parse_json_object(body);
  if (!object) return std::nullopt;
  std::vector<std::pair<uint32_t, bool>> out;
  out.reserve(object->size());
  for (const auto& [key, value] : *object) {
    uint32_t index = 0;
    const auto [end, ec] = std::from_chars(key.data(), key.data() + key.size(), index);
    if (ec != std::errc() || end != key.data() + key.size() || !value.is_bool()) {
      return std::nullopt;
    }
    out.emplace_back(index, value.get_bool());
  }
  return out;
}

Task<Reply> disable(Call& call) {
  engine::Reloader* reloader = call.state.parts.reloader;
  if (reloader == nullptr) co_return not_implemented("changing rules");
  std::optional<std::vector<std::pair<uint32_t, bool>>> rules = parse_switches(call.body);
  if (!rules) co_return bad_request();
  if (rules->empty()) co_return no_content();
  auto changing = reloader->disable_rules(*std::move(rules));
  const auto outcome = co_await std::move(changing);
  co_return reply_of(*outcome);
}

constexpr Route kRoutes[] = {
    {.method = "GET", .path = "/rules", .now = list},
    {.method = "PATCH", .path = "/rules/disable", .later = disable},
};

}  // namespace

std::span<const Route> rule_routes() {
  return kRoutes;
}

}  // namespace culvert::api
