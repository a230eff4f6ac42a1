#include "transport/http1/linger.h"

#include "rt/worker.h"

namespace culvert::transport {
namespace {

constexpr Duration kLingerTime = std::chrono::seconds(1);
constexpr size_t kLingerBytes = 256 << 10;

}  // namespace

flow::Task<void> linger_and_close(flow::Stream& stream) {
  const Status shut = stream.shutdown_write();
  const TimePoint soon = rt::Worker::here().now() + kLingerTime;
  for (size_t taken = 0; shut.ok() && taken < kLingerBytes;) {
    const Result<MutableBytes> bytes = co_await rt::read_some(stream, soon);
    if (!bytes.ok()) break;
    taken += bytes->size();
    stream.consume(bytes->size());
  }
  stream.close();
}

}  // namespace culvert::transport
