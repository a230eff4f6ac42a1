#include "engine/generation.h"

#include <malloc.h>

#include <algorithm>

#include "base/format.h"
#include "base/result.h"

namespace culvert::engine {
namespace {

std::string_view type_word(config::ListenerType type) {
  switch (type) {
    case config::ListenerType::kHttp:
      return "http";
    case config::ListenerType::kSocks:
      return "socks";
    case config::ListenerType::kMixed:
      return "mixed";
  }
  return "mixed";
}

int to_seconds(Duration d) {
  return static_cast<int>(std::chrono::duration_cast<std::chrono::seconds>(d).count());
}

struct BuiltIn {
  std::string_view name;
  std::string_view kind;
};
constexpr BuiltIn kBuiltIns[] = {{"DIRECT", "direct"},           {"REJECT", "reject"},
                                 {"REJECT-DROP", "reject-drop"}, {"PASS", "direct"},
                                 {"COMPATIBLE", "direct"},       {"GLOBAL", "direct"}};

bool any_contains(const std::vector<Prefix>& prefixes, const IpAddress& ip) {
  return std::any_of(prefixes.begin(), prefixes.end(),
                     [&](const Prefix& p) { return p.contains(ip); });
}

}  // namespace

std::unique_ptr<Generation> Generation::build(const config::Settings& settings,
                                              const flow::Registry& registry,
                                              flow::Resolver& resolver, Diagnostics& diagnostics) {
  std::unique_ptr<Generation> g(new Generation());
  g->mode = settings.mode;
  g->lan_allowed = settings.lan_allowed_ips;
  g->lan_disallowed = settings.lan_disallowed_ips;
  g->handshake_timeout = settings.handshake_timeout;

  std::vector<User> users;
  for (const auto& u : settings.authentication) users.push_back({u.user, u.password});
  g->users = std::make_unique<Users>(std::move(users), settings.skip_auth_prefixes);

  std::vector<Endpoint> own;
  for (const auto& l : settings.listeners) own.push_back(l.listen);
  if (settings.external_controller) own.push_back(*settings.external_controller);
  g->guard = std::make_unique<Guard>(std::move(own));

  flow::BuildContext context;
  context.registry = &registry;
  context.resolver = &resolver;
  context.authenticator = g->users.get();
  context.guard = g->guard.get();
  context.ipv6 = settings.ipv6;
  context.tcp_concurrent = settings.tcp_concurrent;
  g->keep_alive.on = settings.keep_alive;
  g->keep_alive.idle_s = to_seconds(settings.keep_alive_idle);
  g->keep_alive.interval_s = to_seconds(settings.keep_alive_interval);
  context.connect.keep_alive = g->keep_alive;
  context.connect.leaves_reserve = true;
  // Rules name their targets by place in the settings' list: the outbounds stand in its order.
  for (const std::string& name : settings.targets) {
    const auto* known = std::ranges::find(kBuiltIns, name, &BuiltIn::name);
    CULVERT_CHECK(known != std::end(kBuiltIns));
    const flow::OutboundKind* kind = registry.outbound(known->kind);
    if (kind == nullptr) {
      diagnostics.add({Severity::kError, settings.source_name, 0, 0, name, "",
                       format("a program built with protocol '{}'", known->kind)});
      continue;
    }
    g->outbounds.push_back(kind->make(known->name, context));
  }

  for (const auto& l : settings.listeners) {
    const std::string_view type = type_word(l.type);
    const flow::InboundKind* kind = registry.inbound(type);
    if (kind == nullptr) {
      diagnostics.add({Severity::kError, settings.source_name, l.line, l.column, l.name,
                       format("a listener of type {}", type),
                       format("a program built with protocol '{}'", type)});
      continue;
    }
    g->listeners.push_back({l.name, std::string(type), l.listen, kind->make(context)});
  }

  g->tables = std::make_unique<route::Tables>(settings.rules);
  if (diagnostics.has_errors()) return nullptr;
  // What loading took, the profile's text and tree before all, goes back to the system: it would
  // stay with the heap as long as the program runs.
  malloc_trim(0);
  return g;
}

bool Generation::admits(const IpAddress& source) const {
  const IpAddress ip = source.unmapped();
  if (!lan_allowed.empty() && !any_contains(lan_allowed, ip)) return false;
  return !any_contains(lan_disallowed, ip);
}

}  // namespace culvert::engine
