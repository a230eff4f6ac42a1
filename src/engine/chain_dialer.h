// ChainDialer: the way to a node's server through another node or group, its dialer-proxy. Which
// node that is, is looked up for every connection, in the generation that is served then.
#pragma once

#include <string>

#include "engine/surroundings.h"
#include "flow/dialer.h"

namespace culvert::engine {

class ChainDialer final : public flow::Dialer {
 public:
  // Of the node `owner`, through `proxy`. `surroundings` outlives it.
  ChainDialer(const Surroundings& surroundings, std::string_view owner, std::string_view proxy)
      : surroundings_(surroundings), owner_(owner), proxy_(proxy) {}

  // kRejected when the choices of groups have made the way a loop.
  flow::Task<Result<flow::StreamPtr>> dial(const flow::FlowMeta& meta, TimePoint deadline) override;
  flow::Task<Result<std::unique_ptr<flow::PacketChannel>>> open_packets(
      const flow::FlowMeta& meta, TimePoint deadline) override;

 private:
  [[nodiscard]] Result<std::shared_ptr<struct Node>> next() const;
  const Surroundings& surroundings_;
  const std::string owner_;
  const std::string proxy_;
};

}  // namespace culvert::engine
