// Registry: type name to options reader, factory and capabilities. Filled by app/registry.cc from
// protocol/protocols.def; there is no registration by static initialisers.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "flow/dialer.h"
#include "flow/inbound.h"
#include "flow/options.h"
#include "flow/resolver.h"
#include "rt/backend.h"

namespace culvert::flow {

class Registry;

// What a factory may keep references to; all of it outlives what the factory makes, and so do the
// options it is given.
struct BuildContext {
  const Registry* registry = nullptr;
  Resolver* resolver = nullptr;
  // Of outbounds that connect to destinations by themselves.
  const DestinationGuard* guard = nullptr;
  // To the server of an outbound that has one: over TCP, or through its dialer-proxy.
  Dialer* server_dialer = nullptr;
  bool ipv6 = true;
  bool tcp_concurrent = false;  // race all addresses of a destination at once
  IpVersion ip_version = IpVersion::kDual;
  rt::ConnectOptions connect;  // for sockets that an outbound opens
};

struct InboundKind {
  std::string_view name;
  // Reads the keys of a `listeners` entry that are this type's own: name, type, listen, port, users
  // and the other common ones are not its. nullptr after an error, and where the type has none.
  std::shared_ptr<const Options> (*read)(yaml::MapReader& listener,
                                         Unsupported& unsupported) = nullptr;
  // `options`: what read() made; nullptr where the type has none.
  std::unique_ptr<Inbound> (*make)(const Options* options, const BuildContext& context) = nullptr;
};

struct OutboundKind {
  std::string_view name;  // the profile's `type`
  Capabilities capabilities = {};
  // Reads the keys of a `proxies` entry that are this type's own: name, type and CommonOptions are
  // not its. nullptr after an error, and where the type has none.
  std::shared_ptr<const Options> (*read)(yaml::MapReader& proxy,
                                         Unsupported& unsupported) = nullptr;
  // `node_name` is what rules call it; `options`: as for inbounds.
  std::unique_ptr<Outbound> (*make)(std::string_view node_name, const Options* options,
                                    const BuildContext& context) = nullptr;
};

class Registry {
 public:
  void add(InboundKind type) { inbounds_.push_back(type); }
  void add(OutboundKind type) { outbounds_.push_back(type); }
  // A protocol this program was built without; asking for it says so.
  void add_missing(std::string_view name) { missing_.push_back(name); }

  [[nodiscard]] const InboundKind* inbound(std::string_view name) const;
  [[nodiscard]] const OutboundKind* outbound(std::string_view name) const;
  [[nodiscard]] bool is_missing(std::string_view name) const;

 private:
  std::vector<InboundKind> inbounds_;
  std::vector<OutboundKind> outbounds_;
  std::vector<std::string_view> missing_;
};

}  // namespace culvert::flow
