// dns_cache_hit_ipv4: the addresses of a name that is cached, among as many as the cache holds, as
// outbounds and rules ask first, by try_cached(); /resolve: by the coroutine.
// dns_cache_store_evict: an answer stored in a full cache, which forgets another for it.
#include "dns/system_resolver.h"

#include <benchmark/benchmark.h>

#include "base/format.h"
#include "bench/micro/per_operation.h"
#include "rt/testing/sim.h"

namespace culvert::dns {

struct CacheBench {
  static void store(SystemResolver& resolver, std::string_view name, TimePoint now) {
    SystemResolver::Answer answer;
    answer.addresses.add(IpAddress::v4(0xc6336401));
    answer.ttl = SystemResolver::kMaxTtl;
    resolver.store(name, answer, now);
  }
  static void read_files(SystemResolver& resolver, TimePoint now) { resolver.files(now); }
};

namespace {

// Twice what the cache holds, so that none is known when its turn comes again.
constexpr size_t kNames = 2 * SystemResolver::kCacheSize;

std::vector<std::string> names() {
  std::vector<std::string> out;
  for (size_t i = 0; i < kNames; ++i) out.push_back(format("www.host{}.example.com", i));
  return out;
}

SystemResolver::Options without_files() {
  SystemResolver::Options options;
  options.resolv_conf = options.hosts = "/dev/null";
  return options;
}

rt::Task<void> resolve_all(benchmark::State& state, SystemResolver& resolver,
                           std::string_view name) {
  bench::PerOperation cost(state);
  for (auto _ : state) {
    Result<flow::AddressList> list = co_await resolver.resolve(name, kNever);
    if (!list.ok()) std::abort();
    benchmark::DoNotOptimize(list);
  }
}

void dns_cache_hit_resolve(benchmark::State& state) {
  rt::sim::World world(1);
  rt::Worker& worker = world.add_worker();
  rt::Worker::Enter enter(worker);
  SystemResolver resolver(without_files());
  const std::vector<std::string> all = names();
  for (const std::string& name : all) CacheBench::store(resolver, name, worker.now());
  worker.scope().spawn("resolve", resolve_all(state, resolver, all.back()));
  while (worker.scope().running() != 0) worker.turn(TimePoint::min());
}
BENCHMARK(dns_cache_hit_resolve)->Name("dns_cache_hit_ipv4/resolve");

void dns_cache_hit_ipv4(benchmark::State& state) {
  rt::sim::World world(1);
  rt::Worker& worker = world.add_worker();
  rt::Worker::Enter enter(worker);
  SystemResolver resolver(without_files());
  const std::vector<std::string> all = names();
  for (const std::string& name : all) CacheBench::store(resolver, name, worker.now());
  CacheBench::read_files(resolver, worker.now());
  const std::string_view name = all.back();
  bench::PerOperation cost(state);
  for (auto _ : state) {
    flow::AddressList list;
    const Status known = resolver.try_cached(name, list);
    if (!known.ok()) std::abort();
    benchmark::DoNotOptimize(list);
  }
}
BENCHMARK(dns_cache_hit_ipv4);

void dns_cache_store_evict(benchmark::State& state) {
  rt::sim::World world(1);
  rt::Worker& worker = world.add_worker();
  SystemResolver resolver(without_files());
  const std::vector<std::string> all = names();
  for (const std::string& name : all) CacheBench::store(resolver, name, worker.now());
  size_t at = 0;
  bench::PerOperation cost(state);
  for (auto _ : state) {
    CacheBench::store(resolver, all[at], worker.now());
    at = at + 1 == kNames ? 0 : at + 1;
  }
  if (resolver.cached() != SystemResolver::kCacheSize) std::abort();
}
BENCHMARK(dns_cache_store_evict);

}  // namespace
}  // namespace culvert::dns
