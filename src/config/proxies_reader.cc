// `proxies`: the nodes.
#include <net/if.h>

#include <algorithm>
#include <limits>

#include "base/format.h"
#include "config/identity.h"
#include "config/loading.h"
#include "config/schema.h"

namespace culvert::config {
namespace {

using flow::IpVersion;
using yaml::Node;

constexpr std::string_view kKey = "proxies";
constexpr size_t kMaxProxies = 100'000;

constexpr yaml::Choice<IpVersion> kIpVersions[] = {{"dual", IpVersion::kDual},
                                                   {"ipv4", IpVersion::kV4},
                                                   {"ipv6", IpVersion::kV6},
                                                   {"ipv4-prefer", IpVersion::kV4Prefer},
                                                   {"ipv6-prefer", IpVersion::kV6Prefer}};

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + 32);
  }
  return out;
}

class ProxyReader {
 public:
  explicit ProxyReader(Loading& loading) : loading_(loading) {}

  void read(size_t index, const Node& node) {
    auto entry = named_element(loading_.top, kKey, index, node);
    if (!entry) return;
    const auto named =
        define_name(loading_, *entry, Named::What::kProxy, loading_.out.proxies.size());
    const auto type = read_type(*entry);
    if (!named || !type) return;
    ProxySettings proxy;
    proxy.name = entry->string("name").value_or("");
    proxy.type = *type;
    proxy.target = named->target;
    proxy.line = node.line();
    proxy.column = node.column();
    read_common(*entry, proxy.common);
    flow::Unsupported unsupported;
    read_options(*entry, proxy, unsupported);
    finish_node(*entry, kKey, unsupported, told_);
    finish_node(*entry, "proxies:" + proxy.type, unsupported, told_);
    entry->report_unknown();
    if (unsupported) {
      if (loading_.options.strict) entry->refuse(node, entry->path(), unsupported.reason);
      proxy.unsupported =
          format("{}:{}:{}: {}", entry->source(), node.line(), node.column(), unsupported.reason);
    }
    if (auto identity = identities_.make(node)) {
      proxy.identity = *std::move(identity);
    } else {
      entry->refuse(node, entry->path(),
                    format("a node of more than {} bytes", IdentityMaker::kMaxBytes));
    }
    loading_.dialers.push_back(entry->find("dialer-proxy"));
    loading_.out.proxies.push_back(std::move(proxy));
  }

 private:
  static std::optional<std::string> read_type(yaml::MapReader& entry) {
    const auto text = entry.string("type");
    if (!text) {
      if (entry.find("type") == nullptr) entry.refuse(entry.node(), entry.path(), "no type");
      return std::nullopt;
    }
    std::string type = lower(*text);
    if (std::ranges::find(proxy_types(), type) == proxy_types().end()) {
      entry.fail(*entry.find("type"), entry.path_of("type"),
                 "a type of proxy" + did_you_mean(type, proxy_types()));
      return std::nullopt;
    }
    return type;
  }

  static void read_common(yaml::MapReader& entry, flow::CommonOptions& out) {
    out.tfo = entry.boolean("tfo").value_or(false);
    out.mptcp = entry.boolean("mptcp").value_or(false);
    out.interface_name = entry.string("interface-name").value_or("");
    if (out.interface_name.size() >= IF_NAMESIZE) {
      entry.fail(*entry.find("interface-name"), entry.path_of("interface-name"),
                 format("the name of an interface: at most {} bytes", IF_NAMESIZE - 1));
    }
    out.routing_mark = static_cast<uint32_t>(
        entry.integer("routing-mark", 0, std::numeric_limits<uint32_t>::max()).value_or(0));
    out.dialer_proxy = entry.string("dialer-proxy").value_or("");
    const auto version = entry.string("ip-version");
    if (!version || version->empty()) return;
    const auto known =
        std::ranges::find(kIpVersions, lower(*version), &yaml::Choice<IpVersion>::word);
    if (known != std::end(kIpVersions)) {
      out.ip_version = known->value;
    } else {
      entry.warn(*entry.find("ip-version"), entry.path_of("ip-version"),
                 "neither ipv4, ipv6, ipv4-prefer nor ipv6-prefer: dual");
    }
  }

  void read_options(yaml::MapReader& entry, ProxySettings& proxy,
                    flow::Unsupported& unsupported) const {
    const flow::Registry* registry = loading_.options.registry;
    const flow::OutboundKind* kind = registry == nullptr ? nullptr : registry->outbound(proxy.type);
    if (kind != nullptr) {
      if (kind->read != nullptr) proxy.options = kind->read(entry, unsupported);
    } else if (registry != nullptr && registry->is_missing(proxy.type)) {
      unsupported.say(format("this program was built without type {}", proxy.type));
    } else {
      unsupported.say(format("type {} is not supported in this version", proxy.type));
    }
  }

  Loading& loading_;
  IdentityMaker identities_;
  std::vector<const Key*> told_;
};

}  // namespace

void read_proxies(Loading& loading) {
  const auto nodes = loading.top.list(kKey);
  if (nodes.size() > kMaxProxies) {
    loading.top.fail(*loading.top.find(kKey), std::string(kKey),
                     format("at most {} nodes", kMaxProxies));
    return;
  }
  loading.out.proxies.reserve(nodes.size());
  ProxyReader reader(loading);
  for (size_t i = 0; i < nodes.size(); ++i) reader.read(i, *nodes[i]);
}

}  // namespace culvert::config
