#include "engine/node.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/format.h"
#include "base/log.h"
#include "config/schema.h"
#include "engine/chain_dialer.h"

namespace culvert::engine {
namespace {

struct BuiltIn {
  std::string_view name;
  std::string_view kind;
  std::string_view type;
};
constexpr BuiltIn kBuiltIns[] = {{"DIRECT", "direct", "Direct"},
                                 {"REJECT", "reject", "Reject"},
                                 {"REJECT-DROP", "reject-drop", "RejectDrop"},
                                 {"PASS", "reject", "Pass"},
                                 {"COMPATIBLE", "direct", "Compatible"}};

int to_seconds(Duration d) {
  return static_cast<int>(std::chrono::duration_cast<std::chrono::seconds>(d).count());
}

class RefusingOutbound final : public flow::Outbound {
 public:
  RefusingOutbound(std::string_view name, std::string_view type, std::string_view reason)
      : name_(name), type_(type), reason_(reason) {}
  std::string_view name() const override { return name_; }
  std::string_view type() const override { return type_; }
  flow::Capabilities capabilities() const override { return {}; }
  flow::Task<Result<flow::StreamPtr>> dial(const flow::FlowMeta&, TimePoint) override {
    say();
    co_return Errc::kRejected;
  }
  flow::Task<Result<std::unique_ptr<flow::PacketChannel>>> open_packets(const flow::FlowMeta&,
                                                                        TimePoint) override {
    say();
    co_return Errc::kRejected;
  }

 private:
  void say() const { CULVERT_LOG_SAMPLED(kWarning, "{} rejects its flows: {}", name_, reason_); }
  const std::string name_;
  const std::string_view type_;
  const std::string reason_;
};

flow::BuildContext context_of(const config::Settings& settings, const flow::CommonOptions& common,
                              const Surroundings& surroundings) {
  flow::BuildContext context;
  context.registry = &surroundings.registry();
  context.resolver = &surroundings.resolver();
  context.guard = &surroundings.guard();
  context.ipv6 = settings.ipv6;
  context.tcp_concurrent = settings.tcp_concurrent;
  context.ip_version = common.ip_version;
  context.connect.keep_alive = {.on = settings.keep_alive,
                                .idle_s = to_seconds(settings.keep_alive_idle),
                                .interval_s = to_seconds(settings.keep_alive_interval)};
  context.connect.leaves_reserve = true;
  context.connect.fast_open = common.tfo;
  context.connect.multipath = common.mptcp;
  context.connect.mark = common.routing_mark != 0 ? common.routing_mark : settings.routing_mark;
  return context;
}

void refuse(Node& node, std::string reason) {
  node.outbound = std::make_unique<RefusingOutbound>(node.name, node.type, reason);
  node.unsupported = std::move(reason);
}

// False, and the node rejects, when no interface can be called what it is to leave by.
bool assign_interface(Node& node, const config::Settings& settings, flow::BuildContext& context) {
  const std::string& name =
      node.common.interface_name.empty() ? settings.interface_name : node.common.interface_name;
  if (context.connect.interface.assign(name)) return true;
  refuse(node, "its interface-name is no name of an interface");
  return false;
}

}  // namespace

std::string_view api_type(std::string_view type) {
  constexpr std::pair<std::string_view, std::string_view> kGroups[] = {
      {"select", "Selector"},
      {"url-test", "URLTest"},
      {"fallback", "Fallback"},
      {"load-balance", "LoadBalance"}};
  for (const auto& [group, word] : kGroups) {
    if (group == type) return word;
  }
  return config::api_type_name(type);
}

std::string general_identity(const config::Settings& s) {
  return format("{} {} {} {} {} {} {}", s.ipv6, s.tcp_concurrent, s.keep_alive,
                to_seconds(s.keep_alive_idle), to_seconds(s.keep_alive_interval), s.routing_mark,
                s.interface_name);
}

std::shared_ptr<Node> make_built_in(std::string_view name, const config::Settings& settings,
                                    const Surroundings& surroundings) {
  const auto* known = std::ranges::find(kBuiltIns, name, &BuiltIn::name);
  CULVERT_CHECK(known != std::end(kBuiltIns));
  auto node = std::make_shared<Node>();
  node->name = name;
  node->type = known->type;
  const flow::OutboundKind* kind = surroundings.registry().outbound(known->kind);
  if (kind == nullptr) {
    refuse(*node, format("this program was built without protocol '{}'", known->kind));
    return node;
  }
  flow::BuildContext context = context_of(settings, {}, surroundings);
  if (!assign_interface(*node, settings, context)) return node;
  node->capabilities = kind->capabilities;
  node->outbound = kind->make(name, nullptr, context);
  return node;
}

std::shared_ptr<Node> make_node(const config::ProxySettings& proxy,
                                const config::Settings& settings,
                                const Surroundings& surroundings) {
  auto node = std::make_shared<Node>();
  node->name = proxy.name;
  node->type = api_type(proxy.type);
  node->identity = proxy.identity;
  node->common = proxy.common;
  node->options = proxy.options;
  const flow::OutboundKind* kind = surroundings.registry().outbound(proxy.type);
  const flow::OutboundKind* direct = surroundings.registry().outbound("direct");
  if (!proxy.unsupported.empty()) {
    refuse(*node, proxy.unsupported);
    return node;
  }
  if (kind == nullptr || direct == nullptr) {
    refuse(*node, format("this program was built without protocol '{}'",
                         kind == nullptr ? std::string_view(proxy.type) : "direct"));
    return node;
  }
  flow::BuildContext context = context_of(settings, proxy.common, surroundings);
  if (!assign_interface(*node, settings, context)) return node;
  if (proxy.common.dialer_proxy.empty()) {
    flow::BuildContext to_server = context;
    to_server.guard = &surroundings.server_guard();
    node->server_dialer = direct->make(proxy.name, nullptr, to_server);
  } else {
    node->server_dialer =
        std::make_unique<ChainDialer>(surroundings, proxy.name, proxy.common.dialer_proxy);
  }
  context.server_dialer = node->server_dialer.get();
  node->capabilities = kind->capabilities;
  node->outbound = kind->make(proxy.name, proxy.options.get(), context);
  return node;
}

std::shared_ptr<Node> make_refusing(std::string_view name, std::string_view type,
                                    std::string_view reason) {
  auto node = std::make_shared<Node>();
  node->name = name;
  node->type = type;
  refuse(*node, std::string(reason));
  return node;
}

}  // namespace culvert::engine
