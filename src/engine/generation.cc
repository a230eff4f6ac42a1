#include "engine/generation.h"

#include <malloc.h>

#include <algorithm>
#include <unordered_set>

#include "base/format.h"
#include "base/result.h"
#include "route/targets.h"

namespace culvert::engine {
namespace {

constexpr uint32_t kNone = UINT32_MAX;

bool any_contains(const std::vector<Prefix>& prefixes, const IpAddress& ip) {
  return std::any_of(prefixes.begin(), prefixes.end(),
                     [&](const Prefix& p) { return p.contains(ip); });
}

std::shared_ptr<Users> make_users(const config::UserList& list, std::vector<Prefix> exempt) {
  std::vector<User> users;
  users.reserve(list.size());
  for (const auto& u : list) users.push_back({u.user, u.password});
  return std::make_shared<Users>(std::move(users), std::move(exempt));
}

rt::ListenOptions listen_options(const config::Settings& settings,
                                 const config::ListenerSettings& listener) {
  const auto seconds = [](Duration d) {
    return static_cast<int>(std::chrono::duration_cast<std::chrono::seconds>(d).count());
  };
  rt::ListenOptions options;
  options.leaves_reserve = true;
  options.keep_alive = {.on = settings.keep_alive,
                        .idle_s = seconds(settings.keep_alive_idle),
                        .interval_s = seconds(settings.keep_alive_interval)};
  options.fast_open = settings.inbound_tfo;
  options.multipath = settings.inbound_mptcp;
  options.mark = listener.routing_mark;
  return options;
}

// Nodes of the generation before, by name, where what shapes them all is the same.
class Kept {
 public:
  Kept(const Generation* before, const config::Settings& settings) {
    if (before == nullptr || general_identity(*before->settings) != general_identity(settings)) {
      return;
    }
    for (const auto& node : before->nodes) nodes_.emplace(node->name, &node);
  }
  // The node with these options of its own, or nullptr. What is no node of `proxies` has no
  // identity: the reason why a group rejects says its type.
  [[nodiscard]] std::shared_ptr<Node> find(std::string_view name, std::string_view identity,
                                           std::string_view unsupported) const {
    const auto known = nodes_.find(name);
    if (known == nodes_.end()) return nullptr;
    const std::shared_ptr<Node>& node = *known->second;
    return node->identity == identity && node->unsupported == unsupported ? node : nullptr;
  }

 private:
  std::unordered_map<std::string_view, const std::shared_ptr<Node>*> nodes_;
};

}  // namespace

std::shared_ptr<Generation> Generation::build(SettingsPtr settings_ptr,
                                              const Surroundings& surroundings,
                                              const Generation* before, Diagnostics& diagnostics) {
  const config::Settings& s = *settings_ptr;
  std::shared_ptr<Generation> g(new Generation());
  g->settings = std::move(settings_ptr);
  g->mode = s.mode;

  std::vector<Endpoint> own;
  for (const auto& l : s.listeners) own.push_back(l.listen);
  if (s.external_controller) own.push_back(*s.external_controller);
  g->guard = std::make_shared<Guard>(std::move(own));

  const Kept kept(before, s);
  g->targets.resize(s.targets.size());
  const auto add_node = [&](uint32_t target, std::shared_ptr<Node> node) {
    g->targets[target] = {Target::Kind::kNode, static_cast<uint32_t>(g->nodes.size()), 0};
    g->nodes.push_back(std::move(node));
  };
  for (uint32_t t = 0; t < route::kGlobal; ++t) {
    auto node = kept.find(s.targets[t], {}, {});
    add_node(t, node != nullptr ? node : make_built_in(s.targets[t], s, surroundings));
  }
  for (const config::ProxySettings& proxy : s.proxies) {
    auto node = kept.find(proxy.name, proxy.identity, proxy.unsupported);
    add_node(proxy.target, node != nullptr ? node : make_node(proxy, s, surroundings));
  }
  for (const config::GroupSettings& group : s.groups) {
    const std::string_view type = api_type(group.type);
    if (!group.unsupported.empty()) {
      auto node = kept.find(group.name, {}, group.unsupported);
      add_node(group.target,
               node != nullptr ? node : make_refusing(group.name, type, group.unsupported));
      continue;
    }
    g->targets[group.target] = {Target::Kind::kGroup, static_cast<uint32_t>(g->groups.size()), 0};
    g->groups.push_back(std::make_shared<group::Group>(group.name, type, group.members));
  }

  g->users = make_users(s.authentication, s.skip_auth_prefixes);
  const auto listeners_users = make_users(s.authentication, {});
  // The same list, as after a change of the mode: what was found of it, and is disabled, stays.
  const bool same_rules = before != nullptr && before->settings->rules == s.rules;
  g->tables = same_rules ? before->tables : std::make_shared<const route::Tables>(s.rules);
  for (const config::SubRules& sub : s.sub_rules) {
    g->sub_tables.push_back(std::make_shared<route::Tables>(sub.rules));
  }
  flow::BuildContext context;
  context.registry = &surroundings.registry();
  context.resolver = &surroundings.resolver();
  std::unordered_map<const config::UserList*, std::shared_ptr<Users>> own_users;
  for (const auto& l : s.listeners) {
    const flow::InboundKind* kind = surroundings.registry().inbound(l.type);
    // Connections may outlive the generation, and its settings.
    struct Held {
      std::shared_ptr<const flow::Options> options;
      std::unique_ptr<flow::Inbound> inbound;
    };
    auto held = std::make_shared<Held>();
    held->options = l.options;
    if (kind != nullptr) held->inbound = kind->make(l.options.get(), context);
    if (held->inbound == nullptr) {
      diagnostics.add({Severity::kError, s.source_name, l.line, l.column, l.name,
                       format("a listener of type {}", l.type),
                       format("a program built with protocol '{}'", l.type)});
      continue;
    }
    Listener& out = g->listeners.emplace_back();
    out.name = l.name;
    out.type = l.type;
    out.at = l.listen;
    out.options = listen_options(s, l);
    out.classic = l.classic;
    out.inbound = std::shared_ptr<flow::Inbound>(held, held->inbound.get());
    out.proxy = l.proxy;
    if (l.users != nullptr) {
      std::shared_ptr<Users>& users = own_users[l.users.get()];
      if (users == nullptr) users = make_users(*l.users, {});
      out.users = users;
    } else {
      out.users = l.classic ? g->users : listeners_users;
    }
    out.tables = g->tables.get();
    for (size_t i = 0; i < s.sub_rules.size() && !l.rule.empty(); ++i) {
      if (s.sub_rules[i].name == l.rule) out.tables = g->sub_tables[i].get();
    }
  }
  if (diagnostics.has_errors()) return nullptr;
  for (uint32_t t = 0; t < s.targets.size(); ++t) g->target_of_.emplace(s.targets[t], t);
  // What loading took, the profile's text and tree before all, goes back to the system: it would
  // stay with the heap as long as the program runs.
  malloc_trim(0);
  return g;
}

std::shared_ptr<Generation> Generation::with_rules(
    std::span<const std::pair<uint32_t, bool>> disable) const {
  std::shared_ptr<Generation> g(new Generation(*this));
  auto disabled = std::make_shared<std::vector<bool>>(settings->rules->size());
  for (uint32_t i = 0; i < disabled->size(); ++i) (*disabled)[i] = tables->is_disabled(i);
  for (const auto& [rule, off] : disable) {
    if (rule < disabled->size()) (*disabled)[rule] = off;
  }
  if (std::ranges::none_of(*disabled, [](bool off) { return off; })) disabled.reset();
  g->tables = std::make_shared<route::Tables>(settings->rules, std::move(disabled));
  for (Listener& l : g->listeners) {
    if (l.tables == tables.get()) l.tables = g->tables.get();
  }
  return g;
}

void Generation::settle(size_t workers, stats::Directory& directory, const Generation* before,
                        std::span<const std::pair<std::string, std::string>> remembered) {
  using stats::Dimension;
  if (before != nullptr && before->settings->rules == settings->rules) {
    hits = before->hits;
  } else {
    hits.clear();
    while (hits.size() < workers) {
      hits.push_back(std::make_shared<route::HitCounters>(settings->rules->size()));
    }
  }
  for (uint32_t t = 0; t < targets.size(); ++t) {
    targets[t].number = directory.number(Dimension::kOutbound, settings->targets[t]);
  }
  // Listeners share what they share in the profile.
  std::unordered_set<const Users*> numbered;
  const auto number_users = [&](Users& of) {
    if (!numbered.insert(&of).second) return;
    for (size_t u = 0; u < of.size(); ++u) {
      of.set_id(u, directory.number(Dimension::kUser, of.name(u)));
    }
  };
  listener_of_.clear();
  for (uint32_t i = 0; i < listeners.size(); ++i) {
    Listener& l = listeners[i];
    l.number = directory.number(Dimension::kInbound, l.name);
    if (listener_of_.size() <= l.number) listener_of_.resize(l.number + size_t{1}, kNone);
    if (listener_of_[l.number] == kNone) listener_of_[l.number] = i;
    number_users(*l.users);
  }
  number_users(*users);
  // A choice that is no member any more is none.
  const auto choose = [&](group::Group* group, std::string_view member) {
    const auto target = find_target(member);
    if (group == nullptr || !target) return;
    const auto& members = group->members();
    const auto place = std::ranges::find(members, *target);
    if (place != members.end()) group->choose(static_cast<uint32_t>(place - members.begin()));
  };
  for (const config::GroupSettings& wanted : settings->groups) {
    if (!wanted.default_selected.empty()) choose(find_group(wanted.name), wanted.default_selected);
  }
  for (const auto& [name, member] : remembered) choose(find_group(name), member);
  for (size_t i = 0; before != nullptr && i < settings->groups.size(); ++i) {
    const std::string& name = settings->groups[i].name;
    const group::Group* old = before->find_group(name);
    if (old != nullptr) choose(find_group(name), before->target_name(old->pick()));
  }
}

std::optional<uint32_t> Generation::find_target(std::string_view name) const {
  const auto known = target_of_.find(name);
  if (known == target_of_.end()) return std::nullopt;
  return known->second;
}

group::Group* Generation::find_group(std::string_view name) const {
  const auto target = find_target(name);
  if (!target || targets[*target].kind != Target::Kind::kGroup) return nullptr;
  return groups[targets[*target].index].get();
}

const Generation::Listener* Generation::listener(uint32_t number) const {
  if (number >= listener_of_.size() || listener_of_[number] == kNone) return nullptr;
  return &listeners[listener_of_[number]];
}

Path Generation::resolve(uint32_t target) const {
  Path path;
  std::array<uint32_t, std::tuple_size_v<decltype(path.numbers)>> way;
  size_t steps = 0;
  // Groups contain no loop; a way that is longer than what is shown of it is followed all the same.
  while (targets[target].kind == Target::Kind::kGroup) {
    if (steps < way.size() - 1) way[steps++] = targets[target].number;
    target = groups[targets[target].index]->pick();
  }
  way[steps++] = targets[target].number;
  path.node = nodes[targets[target].index];
  path.pass = target == route::kPass;
  path.length = steps;
  for (size_t i = 0; i < steps; ++i) path.numbers[i] = way[steps - 1 - i];
  return path;
}

bool Generation::admits(const IpAddress& source) const {
  const IpAddress ip = source.unmapped();
  if (!settings->lan_allowed_ips.empty() && !any_contains(settings->lan_allowed_ips, ip)) {
    return false;
  }
  return !any_contains(settings->lan_disallowed_ips, ip);
}

}  // namespace culvert::engine
