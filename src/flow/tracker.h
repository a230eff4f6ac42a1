// FlowTracker: the account of one live flow. The engine makes it when a flow opens; whoever moves
// the bytes counts them; ending it takes the flow off the books. Worker-local, but its counters may
// be read from any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "flow/meta.h"

namespace culvert::flow {

// Written by one thread, read by any: a plain add, made visible without a locked instruction.
class Counter {
 public:
  void add(uint64_t n) {
    value_.store(value_.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
  }
  [[nodiscard]] uint64_t value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<uint64_t> value_{0};
};

// Bytes of one direction pair; padded so that two workers' sums never share a cache line.
struct alignas(64) TrafficSum {
  Counter upload;
  Counter download;
};

struct FlowTracker {
  FlowTracker() = default;
  explicit FlowTracker(const FlowMeta& m) : meta(m) {}
  FlowMeta meta;
  Counter upload;    // client to destination
  Counter download;  // destination to client
  // This worker's sums for the flow's inbound, user and outbound; never null while the flow lives.
  TrafficSum* inbound_sum = nullptr;
  TrafficSum* user_sum = nullptr;
  TrafficSum* outbound_sum = nullptr;
  // Ends the account and frees this.
  void (*end)(FlowTracker& self) = nullptr;

  void count_upload(uint64_t n) {
    upload.add(n);
    inbound_sum->upload.add(n);
    user_sum->upload.add(n);
    outbound_sum->upload.add(n);
  }
  void count_download(uint64_t n) {
    download.add(n);
    inbound_sum->download.add(n);
    user_sum->download.add(n);
    outbound_sum->download.add(n);
  }
};

struct EndTracker {
  void operator()(FlowTracker* t) const { t->end(*t); }
};
using TrackerPtr = std::unique_ptr<FlowTracker, EndTracker>;

}  // namespace culvert::flow
