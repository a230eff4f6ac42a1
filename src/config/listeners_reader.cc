// Where clients come in: the port keys, `listeners` and `tunnels`.
#include <algorithm>
#include <limits>
#include <unordered_set>

#include "base/format.h"
#include "config/address.h"
#include "config/loading.h"
#include "config/schema.h"
#include "config/sockets.h"

namespace culvert::config {
namespace {

using yaml::Node;

constexpr std::string_view kListeners = "listeners";
constexpr std::string_view kTunnels = "tunnels";
constexpr std::string_view kTunnelName = "DEFAULT-TUNNEL";
constexpr std::string_view kListenForm = "host:port, such as 127.0.0.1:6553 or [::1]:6553";
constexpr std::string_view kNoUdp = "udp is not supported in this version; leave it out";

struct PortKey {
  std::string_view key;
  std::string_view name;
  std::string_view type;
};
constexpr PortKey kPortKeys[] = {{"port", "DEFAULT-HTTP", "http"},
                                 {"socks-port", "DEFAULT-SOCKS", "socks"},
                                 {"mixed-port", "DEFAULT-MIXED", "mixed"}};

bool asks_for_passwords(std::string_view type) {
  return std::ranges::find(kPortKeys, type, &PortKey::type) != std::end(kPortKeys);
}

class ListenerReader {
 public:
  explicit ListenerReader(Loading& loading)
      : loading_(loading), top_(loading.top), sockets_(loading.top, loading.out) {}

  void run() {
    read_ports();
    const auto listeners = top_.list(kListeners);
    for (size_t i = 0; i < listeners.size(); ++i) read_listener(i, *listeners[i]);
    const auto tunnels = top_.list(kTunnels);
    for (size_t i = 0; i < tunnels.size(); ++i) read_tunnel(i, *tunnels[i]);
    if (loading_.out.external_controller) {
      sockets_.check_controller(*loading_.out.external_controller,
                                *top_.find("external-controller"));
    }
  }

 private:
  void read_ports() {
    Settings& out = loading_.out;
    out.allow_lan = top_.boolean("allow-lan").value_or(false);
    out.inbound_tfo = top_.boolean("inbound-tfo").value_or(false);
    out.inbound_mptcp = top_.boolean("inbound-mptcp").value_or(false);
    IpAddress host = any_address();
    if (const auto text = top_.string("bind-address"); text && !text->empty()) {
      out.bind_address = *text;
      if (const auto ip = parse_bind_address(*text)) {
        host = *ip;
      } else {
        top_.fail(*top_.find("bind-address"), "bind-address", "'*' or an IP address of this host");
      }
    }
    if (!out.allow_lan) host = IpAddress::v4(0x7F000001);
    for (const auto& [key, name, type] : kPortKeys) {
      const auto port = top_.port(key, yaml::PortZero::kOff);
      if (!port || *port == 0) continue;
      const Node& at = *top_.find(key);
      if (!is_built(top_, at, std::string(key), type)) continue;
      ListenerSettings listener;
      listener.name = name;
      listener.type = type;
      listener.listen = Endpoint(host, *port);
      listener.classic = true;
      listener.line = at.line();
      listener.column = at.column();
      sockets_.add(std::move(listener), at, std::string(key));
    }
  }

  // Whether the program has this type of listener; an error when not.
  bool is_built(yaml::MapReader& map, const Node& at, std::string path, std::string_view type) {
    const flow::Registry* registry = loading_.options.registry;
    if (registry == nullptr ? asks_for_passwords(type) : registry->inbound(type) != nullptr) {
      return true;
    }
    map.refuse(at, std::move(path),
               registry != nullptr && registry->is_missing(type)
                   ? format("this program was built without type {}", type)
                   : format("listener type {} is not supported in this version", type));
    return false;
  }

  std::optional<std::string> read_type(yaml::MapReader& entry) {
    const auto text = entry.string("type");
    if (!text) {
      if (entry.find("type") == nullptr) entry.refuse(entry.node(), entry.path(), "no type");
      return std::nullopt;
    }
    const Node& at = *entry.find("type");
    if (std::ranges::find(listener_types(), *text) == listener_types().end()) {
      entry.fail(at, entry.path_of("type"),
                 "a type of listener" + did_you_mean(*text, listener_types()));
      return std::nullopt;
    }
    if (!is_built(entry, at, entry.path_of("type"), *text)) return std::nullopt;
    return std::string(*text);
  }

  bool take_name(yaml::MapReader& entry) {
    const auto name = entry.string("name");
    if (!name || name->empty()) {
      if (name || entry.find("name") == nullptr)
        entry.refuse(entry.node(), entry.path(), "no name");
      return false;
    }
    const Node& at = *entry.find("name");
    const auto is_reserved = [&](const PortKey& key) { return key.name == *name; };
    if (*name == kTunnelName || std::ranges::any_of(kPortKeys, is_reserved)) {
      entry.fail(at, entry.path_of("name"), "another name: this one is for port keys and tunnels");
      return false;
    }
    const auto [other, is_new] = names_.emplace(*name, &at);
    if (is_new) return true;
    entry.fail(at, entry.path_of("name"),
               format("another name than the listener at {}:{} has", other->second->line(),
                      other->second->column()));
    return false;
  }

  // `rule`, `proxy` and `routing-mark`.
  void read_way(yaml::MapReader& entry, ListenerSettings& listener) {
    if (const auto rule = entry.string("rule"); rule && !rule->empty()) {
      listener.rule = *rule;
      if (std::ranges::find(loading_.out.sub_rules, *rule, &SubRules::name) ==
          loading_.out.sub_rules.end()) {
        entry.fail(*entry.find("rule"), entry.path_of("rule"), "the name of a list of sub-rules");
      }
    }
    read_proxy(entry, listener);
    listener.routing_mark = static_cast<uint32_t>(
        entry.integer("routing-mark", 0, std::numeric_limits<uint32_t>::max()).value_or(0));
  }

  void read_proxy(yaml::MapReader& entry, ListenerSettings& listener) {
    const auto proxy = entry.string("proxy");
    if (!proxy || proxy->empty()) return;
    set_proxy(entry, *entry.find("proxy"), entry.path_of("proxy"), *proxy, listener);
  }

  void set_proxy(yaml::MapReader& map, const Node& at, std::string path, std::string_view name,
                 ListenerSettings& listener) {
    listener.proxy = find_target(loading_, name);
    if (listener.proxy == route::kPass) listener.proxy.reset();
    if (!listener.proxy) map.fail(at, std::move(path), "the name of a proxy or a group");
  }

  IpAddress read_address(yaml::MapReader& entry) {
    const auto text = entry.string("listen");
    if (!text || text->empty()) return IpAddress::v4(0);
    const auto ip = parse_bind_address(*text);
    if (ip) return *ip;
    entry.fail(*entry.find("listen"), entry.path_of("listen"), "an IP address of this host");
    return IpAddress::v4(0);
  }

  // The keys of a tunnel that say what it carries; false after an error.
  bool read_tunnel_keys(yaml::MapReader& entry, ListenerSettings& listener) {
    bool tcp = false, udp = false;
    entry.each_scalar(
        "network",
        [&](const Node& node, size_t index) {
          take_network(entry, node, entry.path_of("network", index), node.text(), tcp, udp);
        },
        yaml::ListForm::kListOrScalar);
    if (entry.find("network") != nullptr && !tcp && !udp) {
      entry.fail(*entry.find("network"), entry.path_of("network"), "tcp");
    }
    const auto target = entry.string("target");
    if (!target) {
      if (entry.find("target") == nullptr) entry.refuse(entry.node(), entry.path(), "no target");
      return false;
    }
    listener.options =
        read_tunnel_target(entry, *entry.find("target"), entry.path_of("target"), *target);
    return listener.options != nullptr;
  }

  static void take_network(yaml::MapReader& map, const Node& at, std::string path,
                           std::string_view word, bool& tcp, bool& udp) {
    if (word == "tcp") {
      tcp = true;
    } else if (word == "udp") {
      udp = true;
      map.refuse(at, std::move(path), std::string(kNoUdp));
    } else {
      map.fail(at, std::move(path), "tcp");
    }
  }

  void read_listener(size_t index, const Node& node) {
    auto entry = named_element(top_, kListeners, index, node);
    if (!entry) return;
    const bool has_name = take_name(*entry);
    const auto type = read_type(*entry);
    if (!type) return;
    ListenerSettings listener;
    listener.name = entry->string("name").value_or("");
    listener.type = *type;
    listener.line = node.line();
    listener.column = node.column();
    const IpAddress address = read_address(*entry);
    read_way(*entry, listener);
    if (*type == "tunnel") {
      read_tunnel_keys(*entry, listener);
    } else {
      // Other types have users of other kinds.
      if (asks_for_passwords(*type)) listener.users = read_listener_users(*entry);
      read_own(*entry, listener);
    }
    entry->allow({"port"});
    apply_section(*entry, kListeners);
    finish_section(*entry, "listeners:" + *type);
    const auto ports = entry->string("port");
    const Node* at = entry->find("port");
    if (!ports && at != nullptr) return;  // told
    const auto ranges = ports ? parse_port_list(*ports) : std::nullopt;
    if (!ranges) {
      if (at == nullptr) {
        entry->refuse(node, entry->path(), "no port");
      } else {
        entry->fail(*at, entry->path_of("port"), "a port from 1 to 65535, or several: 200-302,400");
      }
      return;
    }
    if (!has_name) return;
    for (const auto& [first, last] : *ranges) {
      for (uint32_t port = first; port <= last; ++port) {
        ListenerSettings one = listener;
        one.listen = Endpoint(address, static_cast<uint16_t>(port));
        sockets_.add(std::move(one), *at, entry->path_of("port"));
      }
    }
  }

  // What the type reads by itself.
  void read_own(yaml::MapReader& entry, ListenerSettings& listener) {
    const flow::Registry* registry = loading_.options.registry;
    const flow::InboundKind* kind =
        registry == nullptr ? nullptr : registry->inbound(listener.type);
    if (kind == nullptr || kind->read == nullptr) return;
    flow::Unsupported unsupported;
    listener.options = kind->read(entry, unsupported);
    if (unsupported) entry.refuse(entry.node(), entry.path(), unsupported.reason);
  }

  void read_tunnel(size_t index, const Node& node) {
    ListenerSettings listener;
    listener.name = kTunnelName;
    listener.type = "tunnel";
    listener.line = node.line();
    listener.column = node.column();
    const std::string path = top_.path_of(kTunnels, index);
    if (!is_built(top_, node, path, listener.type)) return;
    if (node.is_scalar()) {
      read_tunnel_text(node, path, listener);
      return;
    }
    auto entry = top_.element(kTunnels, index, node);
    if (!entry) return;
    const bool good = read_tunnel_keys(*entry, listener);
    read_proxy(*entry, listener);
    const auto address = entry->string("address");
    const Node* at = entry->find("address");
    entry->report_unknown();
    if (!address || !good) {
      if (at == nullptr) entry->refuse(node, path, "no address");
      return;
    }
    listen_at(*address, *at, entry->path_of("address"), listener);
  }

  // network,address,target,proxy
  void read_tunnel_text(const Node& node, const std::string& path, ListenerSettings& listener) {
    std::vector<std::string_view> parts;
    for (std::string_view rest = node.text();;) {
      const size_t end = rest.find(',');
      std::string_view part = rest.substr(0, end);
      while (part.starts_with(' ')) part.remove_prefix(1);
      while (part.ends_with(' ')) part.remove_suffix(1);
      parts.push_back(part);
      if (end == std::string_view::npos) break;
      rest.remove_prefix(end + 1);
      // A proxy's name may have commas of its own.
      if (parts.size() == 3) {
        parts.push_back(rest);
        break;
      }
    }
    if (parts.size() < 3) {
      top_.fail(node, path, "network,address,target,proxy");
      return;
    }
    bool tcp = false, udp = false;
    for (std::string_view rest = parts[0];;) {
      const size_t end = rest.find('/');
      take_network(top_, node, path, rest.substr(0, end), tcp, udp);
      if (end == std::string_view::npos) break;
      rest.remove_prefix(end + 1);
    }
    listener.options = read_tunnel_target(top_, node, path, parts[2]);
    if (parts.size() == 4) set_proxy(top_, node, path, parts[3], listener);
    if (listener.options != nullptr) listen_at(parts[1], node, path, listener);
  }

  void listen_at(std::string_view address, const Node& at, std::string path,
                 ListenerSettings& listener) {
    const auto endpoint = parse_controller_endpoint(address);
    if (!endpoint || endpoint->port == 0) {
      top_.fail(at, std::move(path), std::string(kListenForm));
      return;
    }
    listener.listen = *endpoint;
    sockets_.add(std::move(listener), at, path);
  }

  Loading& loading_;
  yaml::MapReader& top_;
  SocketTable sockets_;
  std::unordered_map<std::string_view, const Node*, NameHash> names_;  // texts of the document
};

}  // namespace

void read_listeners(Loading& loading) {
  ListenerReader(loading).run();
}

}  // namespace culvert::config
