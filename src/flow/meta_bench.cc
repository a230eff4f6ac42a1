// udp_metadata: the FlowMeta of one UDP packet, built from source, destination and inbound.
#include <benchmark/benchmark.h>

#include "bench/micro/per_operation.h"
#include "flow/meta.h"

namespace culvert::flow {
namespace {

FlowMeta make_udp_meta(const Endpoint& source, const Endpoint& destination, uint16_t inbound_port) {
  FlowMeta meta;
  meta.source = source;
  meta.destination = destination;
  meta.network = Network::kUdp;
  meta.inbound_type = InboundType::kSocks5;
  meta.inbound_port = inbound_port;
  return meta;
}

void udp_metadata(benchmark::State& state) {
  Endpoint source(IpAddress::v4(0xc0000201), 40000), destination(IpAddress::v4(0xc6336401), 443);
  bench::PerOperation cost(state);
  for (auto _ : state) {
    benchmark::DoNotOptimize(source);
    benchmark::DoNotOptimize(destination);
    FlowMeta meta = make_udp_meta(source, destination, 7890);
    benchmark::DoNotOptimize(meta);
  }
}
BENCHMARK(udp_metadata);

}  // namespace
}  // namespace culvert::flow
