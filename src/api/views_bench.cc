// list_10k_conversations: 10,000 live entries of two workers, collected for a client of
// /connections and sent to it as a WebSocket message, up to its socket. Beside the time:
// `peak_bytes`, the most that one listing takes from the heap; `hold_ns`, the longest turn of a
// worker that carries flows, and `control_ns`, of the one that writes the JSON. All three are the
// least of several listings.
#include "api/connections_text.h"

#include <benchmark/benchmark.h>
#include <time.h>

#include <algorithm>
#include <optional>

#include "api/push.h"
#include "base/format.h"
#include "bench/micro/per_operation.h"
#include "config/settings.h"
#include "flow/testing/twins.h"
#include "rt/testing/sim.h"

namespace culvert::api {
namespace {

constexpr size_t kFlows = 10'000;
constexpr size_t kWorkers = 2;
constexpr int kListings = 3;

class NoInbound final : public flow::Inbound {
 public:
  flow::Task<void> serve(flow::StreamPtr, flow::AcceptInfo, flow::FlowSink&) override { co_return; }
};

std::unique_ptr<flow::Inbound> make_inbound(const flow::Options*, const flow::BuildContext&) {
  return std::make_unique<NoInbound>();
}

std::unique_ptr<flow::Outbound> make_outbound(std::string_view, const flow::Options*,
                                              const flow::BuildContext&) {
  return std::make_unique<flow::testing::ScriptedOutbound>();
}

int64_t cpu_ns() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return t.tv_sec * 1'000'000'000 + t.tv_nsec;
}

// Takes everything at once and keeps nothing.
class Client final : public flow::Stream {
 public:
  Status opened() override { return {}; }
  Result<MutableBytes> lend() override { return Errc::kWouldBlock; }
  void consume(size_t) override {}
  size_t unread() const override { return 0; }
  using Stream::write;
  Result<size_t> write(std::span<const iovec> data) override {
    size_t n = 0;
    for (const iovec& v : data) n += v.iov_len;
    bytes += n;
    return n;
  }
  Status shutdown_write() override { return {}; }
  void close() override {}
  void abort() override {}
  void wait_readable(rt::Waiter*) override {}
  void wait_writable(rt::Waiter*) override {}
  Endpoint local() const override { return {}; }
  Endpoint remote() const override { return {}; }
  size_t bytes = 0;
  bool done = false;
};

flow::Task<void> send(engine::Engine& engine, Client& client) {
  Push push(client, "key", false);
  const Status sent = co_await send_connections(push, engine, kNever);
  if (!sent.ok()) std::abort();
  client.done = true;
}

// An engine on the simulated network, with flows that nobody relays.
class Listing {
 public:
  Listing() {
    registry_.add(flow::InboundKind{.name = "mixed", .make = &make_inbound});
    for (const std::string_view name : {"direct", "reject", "reject-drop"}) {
      registry_.add(flow::OutboundKind{.name = name, .make = &make_outbound});
    }
    std::vector<std::unique_ptr<rt::Worker>> workers;
    for (size_t i = 0; i < kWorkers; ++i) workers.push_back(world_.make_worker());
    engine_.emplace(control_, std::move(workers), surroundings_, false);
    Diagnostics diagnostics;
    auto settings = config::load_text("bench", "mixed-port: 7890\nrules:\n  - MATCH,DIRECT\n",
                                      {.registry = &registry_}, diagnostics);
    if (!settings || !engine_
                          ->start(engine::Generation::build(
                                      std::make_shared<config::Settings>(*std::move(settings)),
                                      surroundings_, nullptr, diagnostics),
                                  {}, diagnostics)
                          .ok()) {
      std::abort();
    }
    for (size_t i = 0; i < kFlows; ++i) begin_flow(i);
  }

  // One listing to a WebSocket client that takes all it is given; how many bytes that was. The
  // longest turns are added to `hold` and `control_hold`.
  size_t list(int64_t* hold, int64_t* control_hold) {
    Client client;
    {
      rt::Worker::Enter enter(control_);
      control_.scope().spawn("listing", send(*engine_, client));
    }
    while (!client.done) {
      for (size_t i = 0; i < kWorkers; ++i) turn(engine_->core(i).worker(), hold);
      turn(control_, control_hold);
    }
    return client.bytes;
  }

 private:
  void begin_flow(size_t i) {
    engine::WorkerCore& core = engine_->core(i % kWorkers);
    const std::string host = format("www.host{}.example.com", i);
    flow::FlowMeta meta;
    meta.source = Endpoint(IpAddress::v4(0xc0a80000 + static_cast<uint32_t>(i / 100)),
                           static_cast<uint16_t>(20000 + i));
    meta.inbound_port = 7890;
    meta.destination.port = 443;
    meta.set_host(host);
    const engine::Path direct = engine_->generation().resolve(route::kDirect);
    meta.outbound = direct.numbers[0];
    rt::Worker::Enter enter(core.worker());
    flows_.push_back(
        core.conversations().begin(meta, {direct.chain(), "DomainSuffix", "example.com"}));
    flows_.back()->count_upload(1500 + i);
    flows_.back()->count_download(150'000 + 100 * i);
  }

  static void turn(rt::Worker& worker, int64_t* longest) {
    rt::Worker::Enter enter(worker);
    const int64_t start = longest != nullptr ? cpu_ns() : 0;
    worker.turn(TimePoint::min());
    if (longest != nullptr) *longest = std::max(*longest, cpu_ns() - start);
  }

  rt::sim::World world_{1};
  rt::Worker& control_ = world_.add_worker();
  flow::Registry registry_;
  flow::testing::TableResolver resolver_;
  engine::Surroundings surroundings_{registry_, resolver_};
  std::optional<engine::Engine> engine_;
  std::vector<flow::TrackerPtr> flows_;
};

void list_10k_conversations(benchmark::State& state) {
  Listing listing;
  int64_t peak = INT64_MAX, hold = INT64_MAX, control = INT64_MAX;
  for (int i = 0; i < kListings; ++i) {
    int64_t h = 0, c = 0;
    listing.list(&h, &c);
    hold = std::min(hold, h);
    control = std::min(control, c);
    // Apart: watching the heap takes time.
    const bench::HeapPeak heap;
    listing.list(nullptr, nullptr);
    peak = std::min(peak, heap.bytes());
  }
  state.counters["peak_bytes"] = static_cast<double>(peak);
  state.counters["hold_ns"] = static_cast<double>(hold);
  state.counters["control_ns"] = static_cast<double>(control);
  bench::PerOperation cost(state);
  for (auto _ : state) {
    size_t size = listing.list(nullptr, nullptr);
    benchmark::DoNotOptimize(size);
  }
}
BENCHMARK(list_10k_conversations);

}  // namespace
}  // namespace culvert::api
