// config_load_50k: a profile of 50,000 lines, nearly all of them rules, to a generation that is
// ready to serve. Beside the time, in multiples of the file's size: `peak_x`, the most that loading
// takes from the heap, and `steady_x`, what settings and generation hold afterwards.
#include <benchmark/benchmark.h>

#include <string>

#include "app/registry.h"
#include "base/format.h"
#include "base/rng.h"
#include "bench/micro/per_operation.h"
#include "config/settings.h"
#include "dns/system_resolver.h"
#include "engine/generation.h"

namespace culvert::app {
namespace {

constexpr int kLines = 50'000;

std::string word(Rng& rng, size_t least, size_t most) {
  std::string out(least + rng.below(most - least + 1), ' ');
  for (char& c : out) c = static_cast<char>('a' + rng.below(26));
  return out;
}

// 4 in 5 rules are suffixes, the rest domains, CIDRs and keywords, as in published rule lists.
std::string profile() {
  SeededRng rng(1);
  std::string text = "mixed-port: 7890\nmode: rule\nlog-level: info\nipv6: true\nrules:\n";
  static constexpr std::string_view kTops[] = {"com", "net", "org", "cn", "com.cn"};
  for (int i = 6; i < kLines; ++i) {
    const std::string name = word(rng, 4, 16) + "." + std::string(kTops[rng.below(5)]);
    const std::string_view target = rng.below(3) == 0 ? "REJECT" : "DIRECT";
    const uint64_t kind = rng.below(100);
    if (kind < 80) {
      text += format("  - DOMAIN-SUFFIX,{},{}\n", name, target);
    } else if (kind < 89) {
      text += format("  - DOMAIN,{}.{},{}\n", word(rng, 2, 6), name, target);
    } else if (kind < 99) {
      text += format("  - IP-CIDR,{}.{}.{}.0/24,{},no-resolve\n", 1 + rng.below(223),
                     rng.below(256), rng.below(256), target);
    } else {
      text += format("  - DOMAIN-KEYWORD,{},{}\n", word(rng, 5, 9), target);
    }
  }
  return text + "  - MATCH,DIRECT\n";
}

struct Loaded {
  std::shared_ptr<engine::Generation> generation;
};

Loaded load(const std::string& text, const engine::Surroundings& surroundings) {
  Diagnostics diagnostics;
  Loaded out;
  auto settings =
      config::load_text("profile.yaml", text, {.registry = &surroundings.registry()}, diagnostics);
  if (settings) {
    out.generation =
        engine::Generation::build(std::make_shared<config::Settings>(*std::move(settings)),
                                  surroundings, nullptr, diagnostics);
  }
  if (out.generation == nullptr) std::abort();
  return out;
}

void config_load_50k(benchmark::State& state) {
  const std::string text = profile();
  const flow::Registry registry = make_registry();
  dns::SystemResolver resolver({});
  const engine::Surroundings surroundings(registry, resolver);
  {
    const bench::HeapPeak heap;
    const Loaded loaded = load(text, surroundings);
    const auto size = static_cast<double>(text.size());
    state.counters["peak_x"] = static_cast<double>(heap.bytes()) / size;
    state.counters["steady_x"] = static_cast<double>(heap.held()) / size;
  }
  bench::PerOperation cost(state);
  for (auto _ : state) {
    const Loaded loaded = load(text, surroundings);
    benchmark::DoNotOptimize(loaded.generation.get());
  }
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * text.size()));
}
BENCHMARK(config_load_50k)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace culvert::app
