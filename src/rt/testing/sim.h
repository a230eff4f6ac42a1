// The simulated backend: a network, a clock and workers that all run on one thread, in an order
// that depends on a seed and nothing else. Faults are part of it: latency, short reads and writes,
// resets, lost, doubled and late datagrams, small receive windows (slow readers).
//
//   sim::World world(seed, faults);
//   rt::Worker& w = world.add_worker();
//   { rt::Worker::Enter enter(w); w.scope().spawn("client", client(...)); }
//   world.run_until(...) / world.run_until_idle();
//
// Options of the kernel's (marks, interfaces, fast open, multipath) mean nothing here.
//
// The same seed and faults replay the same run: hash() sums up everything that happened.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <queue>
#include <string>
#include <vector>

#include "rt/worker.h"

namespace culvert::rt::sim {

struct Faults {
  Duration latency_min = std::chrono::microseconds(50);
  Duration latency_max = std::chrono::milliseconds(5);
  uint32_t window = 64 << 10;  // bytes a receiver holds unread, in flight included
  double short_read = 0;       // chance that a read shows only a part
  double short_write = 0;      // chance that a write takes only a part
  double reset = 0;            // chance per delivered segment that the connection is reset
  double refuse = 0;           // chance per connection attempt
  double blackhole = 0;        // chance per connection attempt that nothing ever answers
  double lose = 0;             // datagrams
  double duplicate = 0;
};

class SimBackend;
class SimStream;
class SimListener;
class SimDatagram;

class World final : public HandleCloser {
 public:
  explicit World(uint64_t seed, Faults faults = {});
  World(const World&) = delete;
  World& operator=(const World&) = delete;
  ~World();

  // A worker with a backend of this world. `address` is what its outgoing connections come from.
  Worker& add_worker(IpAddress address = IpAddress::v4(0x0a000001));
  // The same, owned by the caller (an engine), which ends it before the world.
  std::unique_ptr<Worker> make_worker(IpAddress address = IpAddress::v4(0x0a000001));

  [[nodiscard]] TimePoint now() const { return clock_.now(); }
  [[nodiscard]] const Clock& clock() const { return clock_; }
  [[nodiscard]] Rng& rng() { return rng_; }
  [[nodiscard]] Faults& faults() { return faults_; }
  [[nodiscard]] ByteBudget& budget() { return budget_; }

  // Runs until `done` holds or virtual time passes `limit` from now; what `done` says in the end.
  bool run_until(const std::function<bool()>& done, Duration limit);
  // Runs until nothing is left to happen, or `limit` passed; true when nothing is left.
  bool run_until_idle(Duration limit);
  void run_for(Duration time);

  // A digest of every event so far.
  [[nodiscard]] uint64_t hash() const { return hash_; }
  // Open stream ends: back to where it was when nothing leaks.
  [[nodiscard]] size_t open_streams() const { return open_streams_; }

  void close_handle(int handle) override;

 private:
  friend class SimBackend;
  friend class SimStream;
  friend class SimListener;
  friend class SimDatagram;
  class VirtualClock final : public Clock {
   public:
    TimePoint now() const override { return time; }
    WallTime wall() const override {
      return WallTime(std::chrono::seconds(1'700'000'000)) + time.time_since_epoch();
    }
    TimePoint time{std::chrono::seconds(1000)};
  };
  struct Event {
    TimePoint at;
    uint64_t order;
    std::function<void()> action;
  };
  struct Later {
    bool operator()(const Event& a, const Event& b) const {
      return a.at != b.at ? a.at > b.at : a.order > b.order;
    }
  };
  struct Connection;

  bool step(TimePoint limit);
  bool chance(double p);
  Duration latency();
  void at(TimePoint when, std::function<void()> action);
  void note(uint64_t what);

  VirtualClock clock_;
  SeededRng rng_;
  Faults faults_;
  ByteBudget budget_{64 << 20};
  std::priority_queue<Event, std::vector<Event>, Later> events_;
  uint64_t next_order_ = 0;
  uint64_t hash_ = 0xcbf29ce484222325ULL;
  uint16_t next_port_ = 40000;
  size_t open_streams_ = 0;
  std::map<std::string, std::vector<SimListener*>> listeners_;
  std::map<std::string, SimDatagram*> datagrams_;
  std::map<int, std::shared_ptr<Connection>> unadopted_;
  int next_handle_ = 1;
  std::vector<Worker*> workers_;
  std::vector<SimBackend*> backends_;
  std::vector<std::unique_ptr<Worker>> owned_;
};

}  // namespace culvert::rt::sim
