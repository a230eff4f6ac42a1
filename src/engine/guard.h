// Guard: keeps clients of other hosts away from this host's own addresses, and every flow away from
// our own listeners (which would be a loop). See flow::DestinationGuard.
#pragma once

#include <vector>

#include "flow/dialer.h"

namespace culvert::engine {

class Guard final : public flow::DestinationGuard {
 public:
  // `listeners`: what the program itself listens on, the controller included; an unspecified
  // address stands for all of this host's.
  explicit Guard(std::vector<Endpoint> listeners);
  bool allows(const flow::FlowMeta& meta, const Endpoint& to) const override;
  // Whether a connection there would come back to us.
  [[nodiscard]] bool is_own_listener(const Endpoint& to) const;

 private:
  [[nodiscard]] bool is_own_address(const IpAddress& ip) const;
  std::vector<Endpoint> listeners_;
  // This host's addresses when the guard was made; those that come later are found out.
  std::vector<IpAddress> own_;
};

}  // namespace culvert::engine
