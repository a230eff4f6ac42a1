// host_normalize: a name as clients send it, made normal; /mixed_case: with capitals and a dot
// behind; /letters: one outside ASCII.
#include "wire/host.h"

#include <benchmark/benchmark.h>

#include "bench/micro/per_operation.h"

namespace culvert::wire {
namespace {

void normalize(benchmark::State& state, std::string_view text) {
  bench::PerOperation cost(state);
  for (auto _ : state) {
    benchmark::DoNotOptimize(text);
    HostBuffer buffer;
    auto host = normalize_host(text, buffer);
    benchmark::DoNotOptimize(host);
    benchmark::ClobberMemory();
  }
}
BENCHMARK_CAPTURE(normalize, plain, "www.host1.example.com")->Name("host_normalize");
BENCHMARK_CAPTURE(normalize, mixed_case, "WWW.Host1.Example.com.")
    ->Name("host_normalize/mixed_case");
BENCHMARK_CAPTURE(normalize, letters, "www.bücher.example")->Name("host_normalize/letters");

}  // namespace
}  // namespace culvert::wire
