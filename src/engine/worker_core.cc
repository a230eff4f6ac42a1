#include "engine/worker_core.h"

#include <algorithm>

#include "base/log.h"
#include "wire/host.h"

namespace culvert::engine {

using flow::FlowMeta;
using flow::StreamPtr;
using flow::Upstream;
using rt::Task;

namespace {

// Gives a meta its caller's host back when open() fails: the normalised one dies with its frame.
class HostRestorer {
 public:
  explicit HostRestorer(FlowMeta& meta)
      : meta_(meta), host_(meta.host), length_(meta.host_length) {}
  HostRestorer(const HostRestorer&) = delete;
  HostRestorer& operator=(const HostRestorer&) = delete;
  ~HostRestorer() {
    if (!keep_) {
      meta_.host = host_;
      meta_.host_length = length_;
    }
  }
  void keep() { keep_ = true; }

 private:
  FlowMeta& meta_;
  const char* host_;
  uint8_t length_;
  bool keep_ = false;
};

}  // namespace

// One listener's socket on this worker.
struct WorkerCore::Gate final : rt::Acceptor {
  Gate(WorkerCore& c, uint16_t i) : core(c), index(i) {}
  void accepted(rt::AcceptedSocket s) override { core.place(index, std::move(s)); }
  void accept_paused(Error error) override {
    CULVERT_LOG_SAMPLED(kWarning, "accepting pauses: {}", describe(error.code));
  }
  WorkerCore& core;
  const uint16_t index;
  std::unique_ptr<rt::Listener> socket;
};

WorkerCore::WorkerCore(rt::Worker& worker, flow::Resolver& resolver, const Generation& generation,
                       const std::vector<std::unique_ptr<WorkerCore>>& peers)
    : worker_(worker),
      resolver_(resolver),
      generation_(&generation),
      peers_(peers),
      scope_(&worker.scope()),
      conversations_(worker, generation.listeners.size(), generation.users->size(),
                     generation.outbounds.size()) {}

WorkerCore::~WorkerCore() = default;

Status WorkerCore::open_listeners(size_t& failed_index) {
  for (size_t i = 0; i < generation_->listeners.size(); ++i) {
    auto gate = std::make_unique<Gate>(*this, static_cast<uint16_t>(i));
    Endpoint at = generation_->listeners[i].at;
    // Port 0 is chosen once, by the first worker.
    if (at.port == 0 && peers_.front().get() != this) at = peers_.front()->listening_at(i);
    auto socket = worker_.backend().listen(
        at, {.leaves_reserve = true, .keep_alive = generation_->keep_alive}, *gate);
    if (!socket.ok()) {
      failed_index = i;
      return socket.error();
    }
    gate->socket = *std::move(socket);
    listening_at_.push_back(gate->socket->local());
    listeners_.push_back(std::move(gate));
  }
  return {};
}

void WorkerCore::close_listeners() {
  listeners_.clear();
}

Endpoint WorkerCore::listening_at(size_t index) const {
  return listeners_[index]->socket->local();
}

void WorkerCore::place(uint16_t listener, rt::AcceptedSocket socket) {
  WorkerCore* best = this;
  uint32_t least = worker_.load();
  for (const auto& peer : peers_) {
    const uint32_t load = peer->worker_.load();
    if (load < least) {
      least = load;
      best = peer.get();
    }
  }
  if (worker_.load() * 2 <= least * 3) best = this;
  best->worker_.add_load(1);
  if (best == this) {
    serve(listener, std::move(socket));
  } else {
    best->worker_.post(
        [best, listener, s = std::move(socket)]() mutable { best->serve(listener, std::move(s)); });
  }
}

void WorkerCore::serve(uint16_t listener, rt::AcceptedSocket socket) {
  const Endpoint source = socket.remote();
  const bool admitted = generation_->admits(source.ip) && !scope_.cancelled();
  Result<StreamPtr> stream = Errc::kRejected;
  if (admitted) stream = worker_.backend().adopt(std::move(socket));
  if (!stream.ok()) {
    CULVERT_LOG_SAMPLED(kWarning, "connection from {} refused: {}", source.to_string(),
                        describe(stream.code()));
    worker_.add_load(-1);
    return;
  }
  const Generation::ListenerSpec& spec = generation_->listeners[listener];
  const flow::AcceptInfo info{source, listening_at_[listener].port, listener,
                              worker_.now() + generation_->handshake_timeout};
  ++sessions_;
  scope_.spawn("session", session(*std::move(stream), info, *spec.inbound));
}

Task<void> WorkerCore::session(StreamPtr stream, flow::AcceptInfo info, flow::Inbound& inbound) {
  co_await inbound.serve(std::move(stream), info, *this);
  --sessions_;
  worker_.add_load(-1);
}

Task<Result<route::Decision>> WorkerCore::decide(FlowMeta& meta, TimePoint deadline) {
  using Kind = route::Decision::Kind;
  route::Decision d;
  if (generation_->mode == config::Mode::kDirect) {
    d.outbound = Generation::kDirect;
    co_return d;
  }
  route::Facts facts;
  const Generation* judged_by = generation_;
  d = judged_by->tables->match(meta, facts, 0);
  while (d.kind == Kind::kNeedIp) {
    flow::AddressList known;
    Status status = resolver_.try_cached(meta.host_name(), known);
    if (status.code() == Errc::kWouldBlock) {
      const Result<flow::AddressList> found =
          co_await resolver_.resolve(meta.host_name(), deadline);
      status = found.ok() ? Status() : Status(found.error());
      if (found.ok()) known = *found;
    }
    if (status.code() == Errc::kCancelled) co_return status.error();
    facts.ip_known = true;
    if (status.ok()) meta.resolved = known.front();
    // The rules may have been replaced meanwhile: then they are all asked again.
    const uint32_t from = judged_by == generation_ ? d.rule : 0;
    judged_by = generation_;
    d = judged_by->tables->match(meta, facts, from);
  }
  if (d.kind == Kind::kNoMatch) d.outbound = Generation::kDirect;
  co_return d;
}

Task<Result<Upstream>> WorkerCore::open(FlowMeta& meta) {
  // A name is compared, listed and dialled in one spelling; a literal is an address.
  wire::HostBuffer buffer;
  HostRestorer restorer(meta);
  if (meta.host_length != 0) {
    if (const auto ip = IpAddress::parse(meta.host_name())) {
      meta.destination.ip = *ip;
      meta.host_length = 0;
    } else {
      const auto host = wire::normalize_host(meta.host_name(), buffer);
      if (!host) {
        CULVERT_LOG_SAMPLED(kWarning, "[TCP] {} asked for a name that is none: {}",
                            meta.source.to_string(), log::printable(meta.host_name()));
        co_return Error(Errc::kBadMessage, Side::kClient);
      }
      meta.set_host(*host);
    }
  }
  if (meta.destination.port == 0) co_return Error(Errc::kBadMessage, Side::kClient);

  const TimePoint deadline = worker_.now() + kDialTimeout;
  const Result<route::Decision> decided = co_await decide(meta, deadline);
  if (!decided.ok()) co_return decided.error();
  // What is needed of the rule is copied: the tables may be gone after the dial.
  route::RuleList::Text payload;
  stats::FlowLabels labels;
  if (decided->kind == route::Decision::Kind::kMatched) {
    const route::RuleList& rules = generation_->tables->rules();
    const uint32_t rule = decided->rule;
    labels.rule_type = route::api_name(rules.type(rule));
    labels.rule_payload = rules.payload(rule, payload);
    meta.rule = rule;
    meta.address_named =
        rules.type(rule) == route::RuleType::kIpCidr && rules.prefix(rule).length != 0;
  }
  meta.outbound = decided->outbound;
  flow::Outbound& outbound = *generation_->outbounds[decided->outbound];
  labels.outbound = &outbound;

  Result<StreamPtr> stream = co_await outbound.dial(meta, deadline);
  if (!stream.ok()) {
    const Error error = stream.error();
    if (error.code == Errc::kRejected) {
      CULVERT_LOG(kInfo, "[TCP] {} --> {} match {}({}) using {}", meta.source.to_string(),
                  flow::destination_text(meta), labels.rule_type, labels.rule_payload,
                  outbound.name());
      if (error.retry) {
        const Status waited = co_await rt::sleep_until(worker_.now() + kDropTimeout);
        if (!waited.ok()) co_return waited.error();
      }
    } else if (error.code != Errc::kCancelled) {
      CULVERT_LOG_SAMPLED(kWarning, "[TCP] dial {} (match {}({})) {} --> {} error: {}",
                          outbound.name(), labels.rule_type, labels.rule_payload,
                          meta.source.to_string(), flow::destination_text(meta),
                          describe(error.code));
    }
    co_return error;
  }
  CULVERT_LOG(kInfo, "[TCP] {} --> {} match {}({}) using {}", meta.source.to_string(),
              flow::destination_text(meta), labels.rule_type, labels.rule_payload, outbound.name());
  Upstream up;
  up.stream = *std::move(stream);
  up.tracker = conversations_.begin(meta, labels);
  restorer.keep();
  if (meta.host_length != 0) meta.host = up.tracker->meta.host;
  co_return up;
}

void WorkerCore::relay(StreamPtr client, Upstream upstream) {
  relays_.start(std::move(client), std::move(upstream));
}

void WorkerCore::abort_all() {
  scope_.cancel();
  relays_.abort_all();
}

}  // namespace culvert::engine
