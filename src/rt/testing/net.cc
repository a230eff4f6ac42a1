#include "rt/testing/net.h"

#include <algorithm>

#include "rt/await.h"
#include "rt/epoll_backend.h"

namespace culvert::rt::testing {
namespace {

class SimNet final : public Net {
 public:
  Worker& worker() override { return worker_; }
  Endpoint loopback() override { return {IpAddress::v4(0x0a000001), 0}; }
  bool run_until(const std::function<bool()>& done) override {
    return world_.run_until(done, std::chrono::hours(1));
  }
  void settle() override { world_.run_until_idle(std::chrono::hours(1)); }

 private:
  sim::World world_{7};
  Worker& worker_ = world_.add_worker();
};

class EpollNet final : public Net {
 public:
  ~EpollNet() override {
    Worker::Enter enter(worker_);
    worker_.scope().cancel();
    while (worker_.scope().running() != 0) worker_.turn(TimePoint::min());
  }
  Worker& worker() override { return worker_; }
  Endpoint loopback() override { return {IpAddress::v4(0x7f000001), 0}; }
  bool run_until(const std::function<bool()>& done) override {
    Worker::Enter enter(worker_);
    const TimePoint limit = system_clock().now() + std::chrono::seconds(30);
    while (!done()) {
      if (system_clock().now() > limit) return false;
      worker_.turn(system_clock().now() + std::chrono::milliseconds(50));
    }
    return true;
  }
  void settle() override {
    Worker::Enter enter(worker_);
    while (worker_.turn(system_clock().now() + std::chrono::milliseconds(50))) {
    }
  }

 private:
  ByteBudget budget_{64 << 20};
  Worker worker_{{0, make_epoll_backend(), std::make_unique<SystemRng>(), &budget_}};
};

}  // namespace

std::unique_ptr<Net> make_net(const std::string& kind) {
  if (kind == "sim") return std::make_unique<SimNet>();
  return std::make_unique<EpollNet>();
}

Task<void> read_all(Stream& stream, std::string* out, Errc* end, TimePoint deadline) {
  for (;;) {
    const Result<MutableBytes> bytes = co_await read_some(stream, deadline);
    if (!bytes.ok()) {
      *end = bytes.code();
      co_return;
    }
    out->append(as_text(*bytes));
    stream.consume(bytes->size());
  }
}

Task<void> read_slowly(Stream& stream, size_t step, Duration pause, std::string* out, Errc* end) {
  for (;;) {
    const Result<MutableBytes> bytes = co_await read_some(stream, kNever);
    if (!bytes.ok()) {
      *end = bytes.code();
      co_return;
    }
    const size_t n = std::min(step, bytes->size());
    out->append(as_text(bytes->first(n)));
    stream.consume(n);
    const Status slept = co_await sleep_until(Worker::here().now() + pause);
    if (!slept.ok()) {
      *end = slept.code();
      co_return;
    }
  }
}

Task<void> send_all(Stream& stream, std::string data, bool finish, Errc* result,
                    TimePoint deadline) {
  const Status written = co_await write_all(stream, as_bytes(data), deadline);
  if (written.ok() && finish) {
    *result = stream.shutdown_write().code();
  } else {
    *result = written.code();
  }
}

std::string pattern(size_t size, uint64_t seed) {
  std::string out(size, 0);
  SeededRng rng(seed);
  rng.fill(MutableBytes(reinterpret_cast<uint8_t*>(out.data()), out.size()));
  return out;
}

}  // namespace culvert::rt::testing
