#include "engine/chain_dialer.h"

#include <algorithm>
#include <vector>

#include "base/format.h"
#include "base/log.h"
#include "engine/generation.h"

namespace culvert::engine {

using flow::Task;

namespace {

// "N -> D -> M -> N": from `owner` through `proxy` up to the first node that is there twice.
std::string loop_text(const Generation& g, const std::string& owner, std::string_view proxy) {
  std::string way = owner;
  std::vector<std::string_view> seen{owner};
  while (const std::optional<uint32_t> target = g.find_target(proxy)) {
    const Path path = g.resolve(*target);
    const std::string_view name = path.node->name;
    way += format(" -> {}", proxy);
    if (name != proxy) way += format(" -> {}", name);
    if (std::ranges::find(seen, name) != seen.end()) break;
    seen.push_back(name);
    proxy = path.node->common.dialer_proxy;
  }
  return way;
}

}  // namespace

Result<std::shared_ptr<Node>> ChainDialer::next() const {
  const Generation& g = surroundings_.current();
  std::shared_ptr<Node> first;
  std::string_view proxy = proxy_;
  // As many steps as there are nodes, at most: one more and it is a loop that this node is not in.
  for (size_t steps = 0; steps <= g.nodes.size(); ++steps) {
    const std::optional<uint32_t> target = g.find_target(proxy);
    // A reload may have taken it away under a node that still has flows.
    if (!target) return Error(Errc::kUnreachable, Side::kLocal);
    const Path path = g.resolve(*target);
    if (path.node->name == owner_) break;
    if (first == nullptr) first = path.node;
    if (path.node->common.dialer_proxy.empty()) return first;
    proxy = path.node->common.dialer_proxy;
  }
  CULVERT_LOG_SAMPLED(kWarning, "dial loop: {}", loop_text(g, owner_, proxy_));
  return Errc::kRejected;
}

Task<Result<flow::StreamPtr>> ChainDialer::dial(const flow::FlowMeta& meta, TimePoint deadline) {
  const Result<std::shared_ptr<Node>> node = next();
  if (!node.ok()) co_return node.error();
  co_return co_await (*node)->outbound->dial(meta, deadline);
}

Task<Result<std::unique_ptr<flow::PacketChannel>>> ChainDialer::open_packets(
    const flow::FlowMeta& meta, TimePoint deadline) {
  const Result<std::shared_ptr<Node>> node = next();
  if (!node.ok()) co_return node.error();
  co_return co_await (*node)->outbound->open_packets(meta, deadline);
}

}  // namespace culvert::engine
