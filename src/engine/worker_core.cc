#include "engine/worker_core.h"

#include <algorithm>
#include <deque>
#include <utility>

#include "base/format.h"
#include "base/log.h"
#include "route/targets.h"
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

// "PROXY[HK-1]": the outermost group and the node, as mihomo's log has it. Made when it is asked
// for.
struct ChainText {
  const stats::Directory& directory;
  const Path& path;
  [[nodiscard]] std::string text() const {
    const auto name = [&](uint32_t n) { return directory.name(stats::Dimension::kOutbound, n); };
    const auto chain = path.chain();
    if (chain.size() == 1) return std::string(name(chain.front()));
    return format("{}[{}]", name(chain.back()), name(chain.front()));
  }
};

// The listener with this number, and among several that are tunnels the one that `is_it` knows by
// its address.
template <class IsIt>
const Generation::Listener* listener_of(const Generation& g, uint32_t number, IsIt is_it) {
  const Generation::Listener* first = g.listener(number);
  if (first == nullptr || first->type != "tunnel" || is_it(first->at)) return first;
  const auto found = std::ranges::find_if(g.listeners, [&](const Generation::Listener& l) {
    return l.number == number && is_it(l.at);
  });
  return found == g.listeners.end() ? nullptr : &*found;
}

}  // namespace

// One listener's socket on this worker.
struct WorkerCore::Gate final : rt::Acceptor {
  Gate(WorkerCore& c, const Endpoint& w, const rt::ListenOptions& o)
      : core(c), wanted(w), options(o) {}
  void accepted(rt::AcceptedSocket s) override {
    if (waits) {
      // As long as a generation takes to begin: a few turns of the loop.
      waiting.push_back(std::move(s));
    } else {
      core.place({number, port, wanted}, std::move(s));
    }
  }
  void accept_paused(Error error) override {
    CULVERT_LOG_SAMPLED(kWarning, "accepting pauses: {}", describe(error.code));
  }
  WorkerCore& core;
  const Endpoint wanted;
  const rt::ListenOptions options;
  uint32_t number = 0;  // of the listener that it is for
  uint16_t port = 0;    // where it really listens
  bool waits = true;
  std::deque<rt::AcceptedSocket> waiting;
  std::unique_ptr<rt::Listener> socket;
};

WorkerCore::WorkerCore(rt::Worker& worker, const Surroundings& surroundings, const Cores& peers)
    : worker_(worker),
      index_(peers.size()),
      resolver_(surroundings.resolver()),
      directory_(surroundings.directory()),
      peers_(peers),
      scope_(&worker.scope()),
      conversations_(worker) {
  const Clock& clock = worker.backend().clock();
  wall_offset_ = clock.wall().time_since_epoch() - clock.now().time_since_epoch();
}

WorkerCore::~WorkerCore() = default;

// ---------------------------------------------------------------- generations

Status WorkerCore::prepare(const Generation& next, std::vector<Endpoint>& at, size_t& failed) {
  failed = 0;
  if (closed_) return Errc::kCancelled;
  for (size_t i = 0; i < next.listeners.size(); ++i) {
    const Generation::Listener& l = next.listeners[i];
    const auto is_it = [&](const std::unique_ptr<Gate>& gate) {
      return gate != nullptr && gate->wanted == l.at && gate->options == l.options;
    };
    auto gate = std::ranges::find_if(gates_, is_it);
    if (gate != gates_.end()) {
      at[i] = (*gate)->socket->local();
      prepared_.push_back(std::move(*gate));
      continue;
    }
    auto fresh = std::make_unique<Gate>(*this, l.at, l.options);
    auto socket = worker_.backend().listen(at[i], l.options, *fresh);
    if (!socket.ok()) {
      failed = i;
      return socket.error();
    }
    fresh->socket = *std::move(socket);
    at[i] = fresh->socket->local();
    fresh->port = at[i].port;
    prepared_.push_back(std::move(fresh));
  }
  return {};
}

void WorkerCore::abandon() {
  std::erase(gates_, nullptr);
  for (auto& gate : prepared_) {
    if (!gate->waits) gates_.push_back(std::move(gate));
  }
  prepared_.clear();
}

void WorkerCore::adopt(const Generation& next) {
  generation_ = &next;
  gates_ = std::exchange(prepared_, {});
  for (size_t i = 0; i < gates_.size(); ++i) {
    Gate& gate = *gates_[i];
    gate.number = next.listeners[i].number;
    gate.waits = false;
    for (rt::AcceptedSocket& s : std::exchange(gate.waiting, {})) gate.accepted(std::move(s));
  }
}

void WorkerCore::close_listeners() {
  closed_ = true;
  gates_.clear();
  prepared_.clear();
}

// ---------------------------------------------------------------- connections

void WorkerCore::place(const Door& door, rt::AcceptedSocket socket) {
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
    serve(door, std::move(socket));
  } else {
    best->worker_.post(
        [best, door, s = std::move(socket)]() mutable { best->serve(door, std::move(s)); });
  }
}

void WorkerCore::serve(const Door& door, rt::AcceptedSocket socket) {
  const Endpoint source = socket.remote();
  // It may have gone while the connection was on its way here.
  const Generation::Listener* l =
      listener_of(*generation_, door.listener, [&](const Endpoint& at) { return at == door.at; });
  const bool admitted =
      l != nullptr && !scope_.cancelled() && (!l->classic || generation_->admits(source.ip));
  Result<StreamPtr> stream = Errc::kRejected;
  if (admitted) stream = worker_.backend().adopt(std::move(socket));
  if (!stream.ok()) {
    CULVERT_LOG_SAMPLED(kWarning, "connection from {} refused: {}", source.to_string(),
                        describe(stream.code()));
    worker_.add_load(-1);
    return;
  }
  const flow::AcceptInfo info{source, door.port, door.listener,
                              worker_.now() + generation_->settings->handshake_timeout};
  ++sessions_;
  scope_.spawn("session", session(*std::move(stream), info, l->inbound));
}

Task<void> WorkerCore::session(StreamPtr stream, flow::AcceptInfo info,
                               std::shared_ptr<flow::Inbound> inbound) {
  co_await inbound->serve(std::move(stream), info, *this);
  --sessions_;
  worker_.add_load(-1);
}

const flow::Authenticator& WorkerCore::authenticator(const flow::AcceptInfo& info) {
  const Generation::Listener* l = generation_->listener(info.inbound);
  return l == nullptr ? *generation_->users : *l->users;
}

// ---------------------------------------------------------------- flows

int64_t WorkerCore::wall_ms() const {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             (worker_.now() + wall_offset_).time_since_epoch())
      .count();
}

Task<Result<WorkerCore::Verdict>> WorkerCore::decide(FlowMeta& meta, TimePoint deadline) {
  using Kind = route::Decision::Kind;
  route::Facts facts;
  const Generation* judged_by = nullptr;
  uint32_t from = 0;
  for (;;) {
    const Generation& g = *generation_;
    const Generation::Listener* listener = listener_of(
        g, meta.inbound, [&](const Endpoint& at) { return at.port == meta.inbound_port; });
    Verdict v;
    if (listener != nullptr && listener->proxy) {
      v.path = g.resolve(*listener->proxy);
      co_return v;
    }
    if (g.mode != config::Mode::kRule) {
      v.path = g.resolve(g.mode == config::Mode::kGlobal ? route::kGlobal : route::kDirect);
      // There is no next rule.
      if (v.path.pass) v.path = g.resolve(route::kDirect);
      co_return v;
    }
    v.tables = listener == nullptr ? g.tables.get() : listener->tables;
    facts.inbound_name = listener == nullptr ? std::string_view() : listener->name;
    facts.user_name = directory_.name(stats::Dimension::kUser, meta.user);
    // The rules may have been replaced while a name was resolved: then they are all asked again.
    if (judged_by != &g) from = 0;
    judged_by = &g;
    // Only the rules that the API lists are counted.
    route::HitCounters* hits = v.tables == g.tables.get() ? g.hits[index_].get() : nullptr;
    const int64_t when = hits == nullptr ? 0 : wall_ms();
    for (;;) {
      v.decision = v.tables->match(meta, facts, from);
      if (v.decision.kind != Kind::kMatched) break;
      v.path = g.resolve(v.decision.outbound);
      if (!v.path.pass) {
        if (hits != nullptr) hits->hit(v.decision.rule, when);
        co_return v;
      }
      if (hits != nullptr) hits->pass(v.decision.rule, when);
      from = v.decision.rule + 1;
    }
    if (v.decision.kind == Kind::kNoMatch) {
      if (hits != nullptr) hits->no_match(when);
      v.path = g.resolve(route::kDirect);
      co_return v;
    }
    from = v.decision.rule;
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
  }
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
  Result<Verdict> decided = co_await decide(meta, deadline);
  if (!decided.ok()) co_return decided.error();
  // What is needed of the rule is copied: the tables may be gone after the dial.
  route::RuleList::Text payload;
  stats::FlowLabels labels;
  if (decided->decision.kind == route::Decision::Kind::kMatched) {
    const route::RuleList& rules = decided->tables->rules();
    const uint32_t rule = decided->decision.rule;
    labels.rule_type = route::api_name(rules.type(rule));
    labels.rule_payload = rules.payload(rule, payload);
    meta.rule = rule;
    meta.address_named =
        rules.type(rule) == route::RuleType::kIpCidr && rules.prefix(rule).length != 0;
  }
  const Path& path = decided->path;
  meta.outbound = path.numbers[0];
  labels.chain = path.chain();
  const ChainText chain{directory_, path};

  Result<StreamPtr> stream = co_await path.node->outbound->dial(meta, deadline);
  if (!stream.ok()) {
    const Error error = stream.error();
    if (error.code == Errc::kRejected) {
      CULVERT_LOG(kInfo, "[TCP] {} --> {} match {}({}) using {}", meta.source.to_string(),
                  flow::destination_text(meta), labels.rule_type, labels.rule_payload,
                  chain.text());
      if (error.retry) {
        const Status waited = co_await rt::sleep_until(worker_.now() + kDropTimeout);
        if (!waited.ok()) co_return waited.error();
      }
    } else if (error.code != Errc::kCancelled) {
      CULVERT_LOG_SAMPLED(kWarning, "[TCP] dial {} (match {}({})) {} --> {} error: {}",
                          chain.text(), labels.rule_type, labels.rule_payload,
                          meta.source.to_string(), flow::destination_text(meta),
                          describe(error.code));
    }
    co_return error;
  }
  CULVERT_LOG(kInfo, "[TCP] {} --> {} match {}({}) using {}", meta.source.to_string(),
              flow::destination_text(meta), labels.rule_type, labels.rule_payload, chain.text());
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
