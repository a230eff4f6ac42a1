// FlowTracker: the account of one live flow. The engine makes it when a flow opens; whoever moves
// the bytes counts them; ending it takes the flow off the books. Worker-local, but its counters may
// be read from any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "flow/meta.h"

namespace culvert::flow {

// Written by one thread, read by any: a plain add, made visible without a locked instruction. Who
// sees a value also sees what its writer did before, such as which flows a sum is of by now; on x86
// that costs nothing.
class Counter {
 public:
  void add(uint64_t n) {
    value_.store(value_.load(std::memory_order_relaxed) + n, std::memory_order_release);
  }
  [[nodiscard]] uint64_t value() const { return value_.load(std::memory_order_acquire); }

 private:
  std::atomic<uint64_t> value_{0};
};

// Bytes both ways of all flows of one kind on one worker. Whoever makes it keeps two workers' sums
// off each other's cache lines.
struct TrafficSum {
  Counter upload;
  Counter download;
};

struct FlowTracker {
  FlowTracker() = default;
  explicit FlowTracker(const FlowMeta& m) : meta(m) {}
  FlowMeta meta;
  Counter upload;    // client to destination
  Counter download;  // destination to client
  // What this worker's flows of the same inbound, user and outbound share, so that a packet costs
  // one addition for all three; never null while the flow lives.
  TrafficSum* cell = nullptr;
  // Ends the account and frees this.
  void (*end)(FlowTracker& self) = nullptr;
  // Ends the flow at once, on both sides, and with it perhaps this account. Set by whoever carries
  // the flow; null while it is handed from one to another.
  void (*interrupt)(FlowTracker& self) = nullptr;
  void* carrier = nullptr;  // for interrupt()

  void count_upload(uint64_t n) {
    upload.add(n);
    cell->upload.add(n);
  }
  void count_download(uint64_t n) {
    download.add(n);
    cell->download.add(n);
  }
};

struct EndTracker {
  void operator()(FlowTracker* t) const { t->end(*t); }
};
using TrackerPtr = std::unique_ptr<FlowTracker, EndTracker>;

}  // namespace culvert::flow
