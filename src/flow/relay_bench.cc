// relay_32k: a source twin copies 32 KiB into a pooled buffer, the relay offers it to a sink twin
// that counts and drops; in the second row the sink copies it out, as a socket would.
#include <benchmark/benchmark.h>

#include <cstring>

#include "bench/micro/per_operation.h"
#include "flow/relay.h"
#include "rt/testing/sim.h"

namespace culvert::flow {
namespace {

constexpr size_t kBlock = 32 << 10;

class SourceTwin final : public Stream {
 public:
  Status opened() override { return {}; }
  Result<MutableBytes> lend() override {
    if (!armed_) return Errc::kWouldBlock;
    if (!buffer_) {
      buffer_ = rt::Worker::here().buffers().try_acquire(kBlock);
      std::memcpy(buffer_.data, data_, kBlock);
    }
    return MutableBytes(buffer_.data, kBlock);
  }
  void consume(size_t n) override {
    if (n != kBlock) std::abort();
    armed_ = false;
    rt::Worker::here().buffers().release(std::exchange(buffer_, {}));
  }
  size_t unread() const override { return 0; }
  Result<size_t> write(std::span<const iovec>) override { return Errc::kWouldBlock; }
  Status shutdown_write() override { return {}; }
  void close() override {}
  void abort() override {}
  void wait_readable(rt::Waiter* w) override { reader_ = w; }
  void wait_writable(rt::Waiter*) override {}
  Endpoint local() const override { return {}; }
  Endpoint remote() const override { return {}; }
  void offer() {
    armed_ = true;
    std::exchange(reader_, nullptr)->fire();
  }

 private:
  uint8_t data_[kBlock] = {1};
  rt::Buffer buffer_;
  rt::Waiter* reader_ = nullptr;
  bool armed_ = false;
};

class SinkTwin final : public Stream {
 public:
  explicit SinkTwin(bool copies) : copies_(copies) {}
  Status opened() override { return {}; }
  Result<MutableBytes> lend() override { return Errc::kWouldBlock; }
  void consume(size_t) override {}
  size_t unread() const override { return 0; }
  Result<size_t> write(std::span<const iovec> data) override {
    if (copies_) std::memcpy(out_, data[0].iov_base, data[0].iov_len);
    total += data[0].iov_len;
    return data[0].iov_len;
  }
  Status shutdown_write() override { return {}; }
  void close() override {}
  void abort() override {}
  void wait_readable(rt::Waiter*) override {}
  void wait_writable(rt::Waiter*) override {}
  Endpoint local() const override { return {}; }
  Endpoint remote() const override { return {}; }
  size_t total = 0;

 private:
  bool copies_;
  uint8_t out_[kBlock];
};

void relay(benchmark::State& state, bool copies) {
  rt::sim::World world(1);
  rt::Worker& worker = world.add_worker();
  rt::Worker::Enter enter(worker);
  Relays relays;
  auto source = std::make_unique<SourceTwin>();
  auto sink = std::make_unique<SinkTwin>(copies);
  SourceTwin* from = source.get();
  SinkTwin* to = sink.get();
  relays.start(std::move(source), Upstream{std::move(sink), nullptr});
  bench::PerOperation cost(state);
  for (auto _ : state) from->offer();
  state.SetBytesProcessed(static_cast<int64_t>(to->total));
}

BENCHMARK_CAPTURE(relay, drop, false)->Name("relay_32k");
BENCHMARK_CAPTURE(relay, copy, true)->Name("relay_32k/copying_sink");

}  // namespace
}  // namespace culvert::flow
