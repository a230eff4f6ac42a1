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

  // `peers` is the list of all cores, which this one goes to the end of; filled in before any of
  // them accepts.
  WorkerCore(rt::Worker& worker, const Surroundings& surroundings, const Cores& peers);
  ~WorkerCore() override;

  // A generation begins in two steps, so that it does on all workers or on none.
  //
  // prepare() opens this worker's socket of every listener of `next` that there is none for yet;
  // what they accept waits. A socket is taken over when its address and options are the same. Says
  // which listener of `next` failed. `at`: where listeners listen, in the order of `next`; entries
  // with port 0 are filled in by the first worker.
  Status prepare(const Generation& next, std::vector<Endpoint>& at, size_t& failed);
  // Takes back what prepare() opened.
  void abandon();
  // Serves `next` from now on: sockets that it has no listener for are closed, and open flows go
  // on. Afterwards nothing here refers to the generation before.
  void adopt(const Generation& next);

  // Serves `next`, which has the same listeners, from now on.
  void adopt_tables(const Generation& next) { generation_ = &next; }

  // For good: no generation opens any again.
  void close_listeners();
  [[nodiscard]] const Generation& generation() const { return *generation_; }

  const flow::Authenticator& authenticator(const flow::AcceptInfo& info) override;
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
  // Where a connection came in. Tunnels are many listeners with one name, and so one number: their
  // addresses tell them apart.
  struct Door {
    uint32_t listener = 0;  // its number
    uint16_t port = 0;
    Endpoint at;  // as the profile has it
  };
  // Places an accepted connection: here, or on the least loaded worker when this one carries more
  // than one and a half times its load.
  void place(const Door& door, rt::AcceptedSocket socket);
  void serve(const Door& door, rt::AcceptedSocket socket);
  flow::Task<void> session(flow::StreamPtr stream, flow::AcceptInfo info,
                           std::shared_ptr<flow::Inbound> inbound);
  // Where a flow goes and by which rule.
  struct Verdict {
    Path path;
    route::Decision decision;
    const route::Tables* tables = nullptr;  // of the rule, until the next wait
  };
  // By mode, listener and rules, with names resolved on demand.
  flow::Task<Result<Verdict>> decide(flow::FlowMeta& meta, TimePoint deadline);
  // The wall clock of this turn, by what it was at the start.
  [[nodiscard]] int64_t wall_ms() const;

  rt::Worker& worker_;
  const size_t index_;  // among the cores
  flow::Resolver& resolver_;
  const stats::Directory& directory_;
  const Generation* generation_ = nullptr;
  const Cores& peers_;
  rt::Scope scope_;
  stats::Conversations conversations_;
  flow::Relays relays_;
  std::vector<std::unique_ptr<Gate>> gates_;
  std::vector<std::unique_ptr<Gate>> prepared_;
  bool closed_ = false;
  Duration wall_offset_{};
  size_t sessions_ = 0;
};

}  // namespace culvert::engine
