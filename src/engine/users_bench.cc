// user_lookup_10k: credentials to a user among 10,000, always the same one; then any of them.
#include "engine/users.h"

#include <benchmark/benchmark.h>

#include "base/format.h"
#include "base/rng.h"
#include "bench/micro/per_operation.h"

namespace culvert::engine {
namespace {

constexpr uint32_t kUsers = 10'000;

User user(uint32_t i) {
  return {format("user{:05}", i), format("secret-{:09}", i * 7919u)};
}

void look_up(benchmark::State& state, size_t asked) {
  std::vector<User> all;
  for (uint32_t i = 0; i < kUsers; ++i) all.push_back(user(i));
  const Users users(std::move(all), {});
  SeededRng rng(1);
  std::vector<User> offered;
  for (size_t i = 0; i < asked; ++i) {
    offered.push_back(user(static_cast<uint32_t>(rng.next_u64() % kUsers)));
  }
  size_t at = 0;
  bench::PerOperation cost(state);
  for (auto _ : state) {
    const User& o = offered[at];
    at = at + 1 == offered.size() ? 0 : at + 1;
    std::optional<uint32_t> id = users.check(o.name, o.password);
    benchmark::DoNotOptimize(id);
  }
}
BENCHMARK_CAPTURE(look_up, one, 1)->Name("user_lookup_10k");
BENCHMARK_CAPTURE(look_up, random, 4096)->Name("user_lookup_10k/random");

}  // namespace
}  // namespace culvert::engine
