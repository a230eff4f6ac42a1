// Generation: everything a profile decides, built once and then only read. Workers hold a pointer
// to the current one; nothing that waits keeps a reference into its tables.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/diagnostics.h"
#include "config/settings.h"
#include "engine/guard.h"
#include "engine/users.h"
#include "flow/registry.h"
#include "route/matcher.h"

namespace culvert::engine {

class Generation {
 public:
  // Checks rules and builds nodes; nullptr with errors added when the profile cannot be served.
  // `resolver` and `registry` outlive the generation.
  static std::unique_ptr<Generation> build(const config::Settings& settings,
                                           const flow::Registry& registry, flow::Resolver& resolver,
                                           Diagnostics& diagnostics);

  struct ListenerSpec {
    std::string name;
    std::string type;
    Endpoint at;
    std::unique_ptr<flow::Inbound> inbound;
  };

  config::Mode mode = config::Mode::kRule;
  std::unique_ptr<Users> users;
  std::unique_ptr<Guard> guard;
  std::vector<std::unique_ptr<flow::Outbound>> outbounds;
  std::vector<ListenerSpec> listeners;
  std::unique_ptr<route::Tables> tables;
  std::vector<Prefix> lan_allowed;
  std::vector<Prefix> lan_disallowed;
  rt::KeepAlive keep_alive;
  Duration handshake_timeout = std::chrono::seconds(10);

  static constexpr uint32_t kDirect = 0;  // outbounds[0]
  // lan-allowed-ips and lan-disallowed-ips: allowed and not disallowed.
  [[nodiscard]] bool admits(const IpAddress& source) const;

 private:
  Generation() = default;
};

}  // namespace culvert::engine
