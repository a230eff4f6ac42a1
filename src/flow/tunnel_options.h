// Where a tunnel's flows go: made by the profile's reader, which knows both forms a tunnel is
// written in, and used by the inbound of that name.
#pragma once

#include <cstdint>
#include <string>

#include "base/ip.h"
#include "flow/options.h"

namespace culvert::flow {

class TunnelTarget final : public Options {
 public:
  std::string host;  // as FlowMeta has it: normalised; empty when `ip` is the target
  IpAddress ip;
  uint16_t port = 0;
};

}  // namespace culvert::flow
