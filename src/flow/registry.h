// Registry: type name to options reader, factory and capabilities. Filled by app/registry.cc from
// protocol/protocols.def; there is no registration by static initialisers.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "flow/authenticator.h"
#include "flow/dialer.h"
#include "flow/inbound.h"
#include "flow/resolver.h"
#include "rt/backend.h"

namespace culvert::flow {

class Registry;

// What a factory may keep references to; all of it outlives what the factory makes.
struct BuildContext {
  const Registry* registry = nullptr;
  Resolver* resolver = nullptr;
  const Authenticator* authenticator = nullptr;
  const DestinationGuard* guard = nullptr;
  bool ipv6 = true;
  bool tcp_concurrent = false;  // race all addresses of a destination at once
  rt::ConnectOptions connect;   // for sockets that an outbound opens
};

struct InboundKind {
  std::string_view name;
  std::unique_ptr<Inbound> (*make)(const BuildContext& context) = nullptr;
};

struct OutboundKind {
  std::string_view name;
  Capabilities capabilities;
  // `node_name` is what rules call it.
  std::unique_ptr<Outbound> (*make)(std::string_view node_name,
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
