// WorkerCore: the engine's share of one worker. Accepts, serves sessions, routes and dials their
// flows, and relays them. Everything in it runs on its worker.
#pragma once

#include <memory>
#include <vector>

#include "engine/generation.h"
#include "flow/inbound.h"
#include "flow/relay.h"
#include "rt/worker.h"
#include "stats/conversations.h"

namespace culvert::engine {

class WorkerCore final : public flow::FlowSink {
 public:
  // Dials take at most this long, name resolution included (mihomo's default).
  static constexpr Duration kDialTimeout = std::chrono::seconds(5);
  // How long REJECT-DROP keeps a client waiting.
  static constexpr Duration kDropTimeout = std::chrono::seconds(60);

  // `peers` is the list of all cores, filled in before any of them accepts.
  WorkerCore(rt::Worker& worker, flow::Resolver& resolver, const Generation& generation,
             const std::vector<std::unique_ptr<WorkerCore>>& peers);
  ~WorkerCore() override;

  // Opens this worker's socket of every listener of the generation.
  Status open_listeners(size_t& failed_index);
  void close_listeners();
  // Where listener `index` really listens (its port may have been 0).
  [[nodiscard]] Endpoint listening_at(size_t index) const;

  // Places an accepted connection: here, or on the least loaded worker when this one carries more
  // than one and a half times its load.
  void place(uint16_t listener, rt::AcceptedSocket socket);

  flow::Task<Result<flow::Upstream>> open(flow::FlowMeta& meta) override;
  void relay(flow::StreamPtr client, flow::Upstream upstream) override;

  [[nodiscard]] rt::Worker& worker() { return worker_; }
  [[nodiscard]] stats::Conversations& conversations() { return conversations_; }
  [[nodiscard]] size_t flows() const { return relays_.size() + sessions_; }
  // Resets every relay and cancels every session.
  void abort_all();
  [[nodiscard]] rt::Scope& scope() { return scope_; }

 private:
  struct Gate;
  void serve(uint16_t listener, rt::AcceptedSocket socket);
  flow::Task<void> session(flow::StreamPtr stream, flow::AcceptInfo info, flow::Inbound& inbound);
  // Rules, with names resolved on demand.
  flow::Task<Result<route::Decision>> decide(flow::FlowMeta& meta, TimePoint deadline);

  rt::Worker& worker_;
  flow::Resolver& resolver_;
  const Generation* generation_;
  const std::vector<std::unique_ptr<WorkerCore>>& peers_;
  rt::Scope scope_;
  stats::Conversations conversations_;
  flow::Relays relays_;
  std::vector<std::unique_ptr<Gate>> listeners_;
  std::vector<Endpoint> listening_at_;  // stays when the listeners are closed
  size_t sessions_ = 0;
};

}  // namespace culvert::engine
