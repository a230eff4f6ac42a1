#include "engine/explain.h"

#include <algorithm>

#include "base/format.h"
#include "route/targets.h"
#include "wire/host.h"
#include "wire/http1.h"

namespace culvert::engine {

using rt::Task;

namespace {

std::string_view word(config::Mode mode) {
  switch (mode) {
    case config::Mode::kRule:
      return "rule";
    case config::Mode::kGlobal:
      return "global";
    case config::Mode::kDirect:
      return "direct";
  }
  return "rule";
}

ExplainedRule describe_rule(const Generation& g, const route::RuleList& rules, uint32_t index) {
  route::RuleList::Text buffer;
  ExplainedRule out;
  out.index = index;
  out.type = route::api_name(rules.type(index));
  out.payload = rules.payload(index, buffer);
  out.target = g.target_name(rules.outbound(index));
  out.file = g.settings->source_name;
  out.line = rules.line(index);
  return out;
}

std::string rule_text(const ExplainedRule& rule) {
  std::string out(rule.type);
  if (!rule.payload.empty()) out += format("({})", rule.payload);
  return out + format(" -> {}, {}:{}", rule.target, rule.file, rule.line);
}

void follow(const Generation& g, uint32_t target, Explanation& out) {
  out.chain.clear();
  while (g.targets[target].kind == Target::Kind::kGroup) {
    out.chain.push_back(g.target_name(target));
    target = g.groups[g.targets[target].index]->pick();
  }
  out.chain.push_back(g.target_name(target));
}

void follow_dialers(const Generation& g, const Node& node, Explanation& out) {
  std::string_view proxy = node.common.dialer_proxy;
  for (size_t steps = 0; !proxy.empty() && steps <= g.nodes.size(); ++steps) {
    const auto target = g.find_target(proxy);
    if (!target) return;
    const Path path = g.resolve(*target);
    out.dialer_chain.emplace_back(proxy);
    if (path.node->name != proxy) out.dialer_chain.push_back(path.node->name);
    if (path.node->name == node.name) {
      out.rejected = true;
      out.why = "the way to the node's server is a loop";
      return;
    }
    proxy = path.node->common.dialer_proxy;
  }
}

// What happens at the node.
void judge(const Generation& g, const Path& path, const flow::FlowMeta& meta, Explanation& out) {
  const Node& node = *path.node;
  out.node_type = node.type;
  if (!node.unsupported.empty()) {
    out.rejected = true;
    out.why = format("{} rejects its flows: {}", node.name, node.unsupported);
  } else if (node.type == "Reject" || node.type == "RejectDrop") {
    out.rejected = true;
    out.why = node.type == "Reject" ? "the flow is refused at once"
                                    : "the client is kept waiting in silence, then closed";
  } else if (node.type == "Direct" || node.type == "Compatible") {
    const IpAddress& address = meta.address();
    if (address.valid() && !g.guard->allows(meta, Endpoint(address, meta.destination.port))) {
      out.rejected = true;
      out.why = g.guard->is_own_listener(Endpoint(address, meta.destination.port))
                    ? "the destination is a listener of this program: a loop"
                    : "the destination is this host's own, and the client is on another host; a "
                      "rule that names the address allows it";
    } else {
      out.why = "connected to directly";
    }
  } else {
    out.why = format("carried by {}", node.name);
    follow_dialers(g, node, out);
  }
  if (!out.admitted) {
    out.rejected = true;
    out.why = "the client's address is not admitted (lan-allowed-ips, lan-disallowed-ips)";
  }
}

std::string joined(const std::vector<std::string>& parts) {
  std::string out;
  for (const std::string& part : parts) {
    if (!out.empty()) out += " -> ";
    out += part;
  }
  return out;
}

}  // namespace

std::optional<ExplainQuery> query_of_url(std::string_view url) {
  ExplainQuery out;
  if (const auto target = wire::parse_absolute_target(url)) {
    out.host = target->to.host;
    out.port = target->to.port.value_or(target->https ? 443 : 80);
    return out;
  }
  const auto authority = wire::parse_authority(url);
  if (!authority) return std::nullopt;
  out.host = authority->host;
  out.port = authority->port.value_or(443);
  return out;
}

Task<std::optional<Explanation>> explain(std::shared_ptr<const Generation> generation,
                                         const Surroundings& surroundings, ExplainQuery query,
                                         TimePoint deadline, std::string& error) {
  const Generation& g = *generation;
  Explanation out;
  flow::FlowMeta meta;
  meta.network = query.network;
  meta.source = query.source.valid() ? query.source : Endpoint(IpAddress::v4(0x7F000001), 0);
  meta.destination.port = query.port;
  wire::HostBuffer buffer;
  if (const auto ip = IpAddress::parse(query.host)) {
    meta.destination.ip = *ip;
  } else if (const auto host = wire::normalize_host(query.host, buffer)) {
    meta.set_host(*host);
  } else {
    error = format("'{}' is neither a host name nor an address", query.host);
    co_return std::nullopt;
  }
  out.destination = flow::destination_text(meta);
  out.mode = word(g.mode);

  const Generation::Listener* listener = nullptr;
  for (const Generation::Listener& l : g.listeners) {
    const bool fits = query.listener.empty() ? l.type == "mixed" : l.name == query.listener;
    if (fits && listener == nullptr) listener = &l;
  }
  if (listener == nullptr && query.listener.empty() && !g.listeners.empty()) {
    listener = &g.listeners.front();
  }
  if (listener == nullptr && !query.listener.empty()) {
    error = format("there is no listener '{}'", query.listener);
    co_return std::nullopt;
  }
  route::Facts facts;
  facts.user_name = query.user;
  const route::Tables* tables = g.tables.get();
  if (listener != nullptr) {
    out.listener = listener->name;
    out.listener_type = listener->type;
    out.listening_at = listener->at;
    out.admitted = !listener->classic || g.admits(meta.source.ip);
    facts.inbound_name = listener->name;
    meta.inbound = listener->number;
    meta.inbound_port = listener->at.port;
    // What most clients of such a listener speak.
    meta.inbound_type = listener->type == "socks"    ? flow::InboundType::kSocks5
                        : listener->type == "tunnel" ? flow::InboundType::kTunnel
                        : query.port == 80           ? flow::InboundType::kHttp
                                                     : flow::InboundType::kHttps;
    tables = listener->tables;
    for (size_t i = 0; i < g.sub_tables.size(); ++i) {
      if (g.sub_tables[i].get() == tables) out.sub_rules = g.settings->sub_rules[i].name;
    }
  }

  uint32_t target = route::kDirect;
  if (listener != nullptr && listener->proxy) {
    target = *listener->proxy;
    out.decided_by = "the listener's proxy";
  } else if (g.mode != config::Mode::kRule) {
    target = g.mode == config::Mode::kGlobal ? route::kGlobal : route::kDirect;
    out.decided_by = format("mode {}", out.mode);
    // There is no next rule.
    if (g.resolve(target).pass) target = route::kDirect;
  } else {
    uint32_t from = 0;
    for (;;) {
      const route::Decision d = tables->match(meta, facts, from);
      if (d.kind == route::Decision::Kind::kNoMatch) break;
      if (d.kind == route::Decision::Kind::kMatched) {
        ExplainedRule matched = describe_rule(g, tables->rules(), d.rule);
        if (g.resolve(d.outbound).pass) {
          out.passed.push_back(std::move(matched));
          from = d.rule + 1;
          continue;
        }
        meta.address_named = tables->rules().type(d.rule) == route::RuleType::kIpCidr &&
                             tables->rules().prefix(d.rule).length != 0;
        out.rule = std::move(matched);
        target = d.outbound;
        break;
      }
      const Result<flow::AddressList> found =
          co_await surroundings.resolver().resolve(meta.host_name(), deadline);
      facts.ip_known = true;
      out.resolved_for = d.rule;
      if (found.ok()) out.resolved = meta.resolved = found->front();
      from = d.rule;
    }
  }
  follow(g, target, out);
  judge(g, g.resolve(target), meta, out);
  co_return out;
}

std::string Explanation::to_text() const {
  std::string out = format("destination: {}\n", destination);
  if (!listener.empty()) {
    out += format("inbound:     {} ({}, {})\n", listener, listener_type, listening_at.to_string());
  }
  out += format("mode:        {}\n", mode);
  if (!sub_rules.empty()) out += format("rules:       sub-rules {}\n", sub_rules);
  for (const ExplainedRule& p : passed) out += format("passed:      {}\n", rule_text(p));
  if (resolved_for) {
    out += format("resolved:    {}, for rules[{}]\n",
                  resolved.valid() ? resolved.to_string() : "no address", *resolved_for);
  }
  if (rule) {
    out += format("rule:        rules[{}] {}\n", rule->index, rule_text(*rule));
  } else if (!decided_by.empty()) {
    out += format("rule:        none is asked: {}\n", decided_by);
  } else {
    out += "rule:        none matches: DIRECT\n";
  }
  out += format("way:         {} ({})\n", joined(chain), node_type);
  if (!dialer_chain.empty()) out += format("through:     {}\n", joined(dialer_chain));
  out += format("result:      {}{}\n", rejected ? "rejected: " : "", why);
  return out;
}

}  // namespace culvert::engine
