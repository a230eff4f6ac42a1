// Surroundings: what the nodes and listeners of every generation rely on. It outlives them all and
// leads them to the generation that is served now.
#pragma once

#include <memory>
#include <vector>

#include "flow/dialer.h"
#include "flow/registry.h"
#include "flow/resolver.h"
#include "stats/directory.h"

namespace culvert::engine {

class WorkerCore;
class Generation;
using Cores = std::vector<std::unique_ptr<WorkerCore>>;

class Surroundings {
 public:
  // Both outlive it.
  Surroundings(const flow::Registry& registry, flow::Resolver& resolver);
  Surroundings(const Surroundings&) = delete;
  Surroundings& operator=(const Surroundings&) = delete;

  [[nodiscard]] const flow::Registry& registry() const { return registry_; }
  [[nodiscard]] flow::Resolver& resolver() const { return resolver_; }
  [[nodiscard]] stats::Directory& directory() { return directory_; }
  [[nodiscard]] const stats::Directory& directory() const { return directory_; }

  // The current generation's guard, for what connects to destinations.
  [[nodiscard]] const flow::DestinationGuard& guard() const { return guard_; }
  // The same for connections to the servers of nodes, which may be anywhere but at our own
  // listeners.
  [[nodiscard]] const flow::DestinationGuard& server_guard() const { return server_guard_; }

  // What the worker serves whose turn this thread is taking. Valid until the next wait.
  [[nodiscard]] const Generation& current() const;
  // The engine's; nullptr while there are none.
  void set_cores(const Cores* cores) { cores_ = cores; }

 private:
  class CurrentGuard final : public flow::DestinationGuard {
   public:
    CurrentGuard(const Surroundings& s, bool servers) : surroundings_(s), servers_(servers) {}
    bool allows(const flow::FlowMeta& meta, const Endpoint& to) const override;

   private:
    const Surroundings& surroundings_;
    const bool servers_;
  };

  const flow::Registry& registry_;
  flow::Resolver& resolver_;
  stats::Directory directory_;
  const CurrentGuard guard_{*this, false};
  const CurrentGuard server_guard_{*this, true};
  const Cores* cores_ = nullptr;
};

}  // namespace culvert::engine
