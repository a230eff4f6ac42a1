// Providers. There are none that fetch anything: what is here is what mihomo calls compatible, the
// nodes of the profile itself.
#include <algorithm>
#include <optional>

#include "api/delay_query.h"
#include "api/json_writer.h"
#include "api/proxy_view.h"
#include "api/routes.h"

namespace culvert::api {
namespace {

using rt::Task;

// The one of that name alone; empty when there is none.
std::vector<ProviderView> find(const ProxyView& view, std::string_view name) {
  std::vector<ProviderView> all = providers_of(view);
  std::erase_if(all, [&](const ProviderView& p) { return p.name != name; });
  if (all.size() > 1) all.resize(1);
  return all;
}

Reply list(Call& call) {
  ProxyView view(call.engine.generation_ptr());
  std::vector<ProviderView> all = providers_of(view);
  Reply reply;
  reply.source = std::make_unique<ProvidersText>(std::move(view), std::move(all), false);
  return reply;
}

Reply get(Call& call) {
  ProxyView view(call.engine.generation_ptr());
  std::vector<ProviderView> one = find(view, call.names[0]);
  if (one.empty()) return not_found();
  Reply reply;
  reply.source = std::make_unique<ProvidersText>(std::move(view), std::move(one), true);
  return reply;
}

// Nothing is to be fetched: it is as new as the profile.
Reply update(Call& call) {
  const ProxyView view(call.engine.generation_ptr());
  return find(view, call.names[0]).empty() ? not_found() : no_content();
}

Task<Reply> check(Call& call) {
  const ProxyView view(call.engine.generation_ptr());
  std::vector<ProviderView> one = find(view, call.names[0]);
  if (one.empty()) co_return not_found();
  ProviderView& provider = one.front();
  engine::DelayTest test;
  test.url = provider.test_url;
  test.unified = view.generation().settings->unified_delay;
  if (auto expected = engine::ExpectedStatus::parse(provider.expected)) test.expected = *expected;
  const Status testable = engine::check_delay_url(test.url);
  if (!testable.ok()) {
    co_return failure(503, "A health check of an https URL is not supported: use an http one");
  }
  // Who answered and who did not is in the nodes' histories.
  Task<Reply> testing = answer_group_delay(call.engine, call.engine.generation_ptr(),
                                           std::move(provider.targets), std::move(test));
  const Reply checked = co_await std::move(testing);
  (void)checked;
  co_return no_content();
}

std::optional<uint32_t> find_member(const ProxyView& view, const ProviderView& provider,
                                    std::string_view name) {
  const auto target = view.generation().find_target(name);
  if (!target || !std::ranges::count(provider.targets, *target)) return std::nullopt;
  return target;
}

Reply get_member(Call& call) {
  const ProxyView view(call.engine.generation_ptr());
  const std::vector<ProviderView> one = find(view, call.names[0]);
  const auto target = one.empty() ? std::nullopt : find_member(view, one.front(), call.names[1]);
  if (!target) return not_found();
  Reply reply;
  JsonWriter w(reply.body);
  view.append(w, *target);
  return reply;
}

Task<Reply> check_member(Call& call) {
  const ProxyView view(call.engine.generation_ptr());
  const std::vector<ProviderView> one = find(view, call.names[0]);
  const auto target = one.empty() ? std::nullopt : find_member(view, one.front(), call.names[1]);
  if (!target) co_return not_found();
  Reply refusal;
  std::optional<engine::DelayTest> wanted = parse_delay_query(
      call.query, one.front().test_url, "", view.generation().settings->unified_delay, refusal);
  if (!wanted) co_return refusal;
  Task<Reply> testing =
      answer_delay(call.engine, call.engine.generation_ptr(), *target, *std::move(wanted));
  co_return co_await std::move(testing);
}

Reply list_rules(Call&) {
  Reply reply;
  reply.body = R"({"providers":{}})";
  return reply;
}

Reply update_rules(Call&) {
  return not_found();
}

constexpr Route kRoutes[] = {
    {.method = "GET", .path = "/providers/proxies", .now = list},
    {.method = "GET", .path = "/providers/proxies/{}", .now = get},
    {.method = "PUT", .path = "/providers/proxies/{}", .now = update},
    {.method = "GET", .path = "/providers/proxies/{}/healthcheck", .later = check},
    {.method = "GET", .path = "/providers/proxies/{}/{}", .now = get_member},
    {.method = "GET", .path = "/providers/proxies/{}/{}/healthcheck", .later = check_member},
    {.method = "GET", .path = "/providers/rules", .now = list_rules},
    {.method = "PUT", .path = "/providers/rules/{}", .now = update_rules},
};

}  // namespace

std::span<const Route> provider_routes() {
  return kRoutes;
}

}  // namespace culvert::api
