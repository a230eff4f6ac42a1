// generation_build_10k: from the settings of a profile with 10,000 socks5 nodes and a group over
// all of them to a generation that is ready to serve. Beside the time, `node_bytes`: what a node
// takes of the heap, its settings not counted.
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <memory>
#include <string>

#include "app/registry.h"
#include "base/format.h"
#include "bench/micro/per_operation.h"
#include "config/settings.h"
#include "dns/system_resolver.h"
#include "engine/generation.h"

namespace culvert::app {
namespace {

constexpr int kNodes = 10'000;

std::string profile() {
  std::string text = "mixed-port: 7890\nproxies:\n";
  std::string members;
  for (int i = 0; i < kNodes; ++i) {
    text += format(
        "  - {{name: node-{}, type: socks5, server: s{}.example.com, port: 1080, username: user, "
        "password: word{}}}\n",
        i, i, i);
    members += format("      - node-{}\n", i);
  }
  return text + "proxy-groups:\n  - name: all\n    type: select\n    proxies:\n" + members +
         "rules:\n  - MATCH,all\n";
}

void generation_build_10k(benchmark::State& state) {
  const flow::Registry registry = make_registry();
  dns::SystemResolver resolver({});
  const engine::Surroundings surroundings(registry, resolver);
  Diagnostics diagnostics;
  auto loaded = config::load_text("profile.yaml", profile(), {.registry = &registry}, diagnostics);
  if (!loaded) std::abort();
  const auto settings = std::make_shared<const config::Settings>(*std::move(loaded));
  const auto build = [&] {
    auto generation = engine::Generation::build(settings, surroundings, nullptr, diagnostics);
    if (generation == nullptr) std::abort();
    return generation;
  };
  {
    const bench::HeapPeak heap;
    const auto generation = build();
    state.counters["node_bytes"] = static_cast<double>(heap.held()) / kNodes;
  }
  bench::PerOperation cost(state);
  for (auto _ : state) {
    const auto generation = build();
    benchmark::DoNotOptimize(generation.get());
  }
}
BENCHMARK(generation_build_10k)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace culvert::app
