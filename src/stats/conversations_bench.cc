// count_upload: a packet's bytes onto inbound, user and outbound sums, which share one cell.
// tcp_tracker_lifecycle: a live conversation registered, counted and ended.
#include <benchmark/benchmark.h>

#include "bench/micro/per_operation.h"
#include "rt/testing/sim.h"
#include "stats/conversations.h"

namespace culvert::stats {
namespace {

// A rule's target is a node, with no group between.
constexpr uint32_t kDirect[] = {0};

flow::FlowMeta meta() {
  flow::FlowMeta m;
  m.source = Endpoint(IpAddress::v4(0xc0000201), 40000);
  m.destination.port = 443;
  m.set_host("www.example.com");
  m.outbound = 0;
  return m;
}

void count_upload(benchmark::State& state) {
  rt::sim::World world(1);
  rt::Worker& worker = world.add_worker();
  rt::Worker::Enter enter(worker);
  Conversations conversations(worker);
  flow::TrackerPtr t = conversations.begin(meta(), {});
  bench::PerOperation cost(state);
  for (auto _ : state) {
    t->cell->upload.add(1500);
    benchmark::ClobberMemory();
  }
}
BENCHMARK(count_upload);

// The floor of the line above: one add to one place in memory, again and again.
void count_one(benchmark::State& state) {
  flow::TrafficSum sum;
  flow::TrafficSum* where = &sum;
  benchmark::DoNotOptimize(where);
  bench::PerOperation cost(state);
  for (auto _ : state) {
    where->upload.add(1500);
    benchmark::ClobberMemory();
  }
}
BENCHMARK(count_one)->Name("count_upload/one_sum");

void tcp_tracker_lifecycle(benchmark::State& state) {
  rt::sim::World world(1);
  rt::Worker& worker = world.add_worker();
  rt::Worker::Enter enter(worker);
  Conversations conversations(worker);
  const flow::FlowMeta m = meta();
  bench::PerOperation cost(state);
  for (auto _ : state) {
    flow::TrackerPtr t = conversations.begin(m, {kDirect, "Match", ""});
    t->count_upload(64);
    t->count_download(64);
    benchmark::DoNotOptimize(t.get());
  }
}
BENCHMARK(tcp_tracker_lifecycle);

// The worst case: no flow finds its combination's cell, and each eighth of the table is folded
// once.
void tcp_tracker_many_users(benchmark::State& state) {
  constexpr uint32_t kUsers = 10'000;
  rt::sim::World world(1);
  rt::Worker& worker = world.add_worker();
  rt::Worker::Enter enter(worker);
  Conversations conversations(worker);
  flow::FlowMeta m = meta();
  for (m.user = 0; m.user + 1 < kUsers; ++m.user) conversations.begin(m, {}).reset();
  bench::PerOperation cost(state);
  for (auto _ : state) {
    m.user = m.user + 1 == kUsers ? 0 : m.user + 1;
    flow::TrackerPtr t = conversations.begin(m, {kDirect, "Match", ""});
    t->count_upload(64);
    t->count_download(64);
    benchmark::DoNotOptimize(t.get());
  }
}
BENCHMARK(tcp_tracker_many_users)->Name("tcp_tracker_lifecycle/many_users");

}  // namespace
}  // namespace culvert::stats
