// parse_address: one SOCKS address of each type; the plain row is a domain.
#include <benchmark/benchmark.h>

#include <string_view>

#include "bench/micro/per_operation.h"
#include "wire/address.h"

namespace culvert::wire {
namespace {

using namespace std::string_view_literals;

void parse_one(benchmark::State& state, std::string_view raw) {
  Bytes in = as_bytes(raw);
  bench::PerOperation cost(state);
  for (auto _ : state) {
    benchmark::DoNotOptimize(in);
    SocksAddress address;
    const Parse parsed = parse_address(in, address);
    benchmark::DoNotOptimize(parsed);
    benchmark::DoNotOptimize(address);
  }
}

void domain(benchmark::State& state) {
  parse_one(state, "\x03\x0fwww.example.com\x01\xbb"sv);
}
void ipv4(benchmark::State& state) {
  parse_one(state, "\x01\xc0\x00\x02\x01\x01\xbb"sv);
}
void ipv6(benchmark::State& state) {
  parse_one(state,
            "\x04\x20\x01\x0d\xb8\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01\x01\xbb"sv);
}
BENCHMARK(domain)->Name("parse_address");
BENCHMARK(ipv4)->Name("parse_address/ipv4");
BENCHMARK(ipv6)->Name("parse_address/ipv6");

}  // namespace
}  // namespace culvert::wire
