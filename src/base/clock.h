// Time by interface, so that the simulator decides what it is.
#pragma once

#include <chrono>

namespace culvert {

using Duration = std::chrono::nanoseconds;
// Monotonic; its zero means nothing. A worker reads the clock once per loop turn (Worker::now()).
struct MonotonicEpoch {
  using duration = Duration;
  using rep = Duration::rep;
  using period = Duration::period;
  using time_point = std::chrono::time_point<MonotonicEpoch>;
  static constexpr bool is_steady = true;
};
using TimePoint = std::chrono::time_point<MonotonicEpoch>;
// Wall-clock time, for what people and certificates read.
using WallTime = std::chrono::time_point<std::chrono::system_clock, Duration>;

// A deadline that never passes. Every await takes a deadline; this one is written out on purpose.
inline constexpr TimePoint kNever = TimePoint::max();

class Clock {
 public:
  virtual ~Clock() = default;
  [[nodiscard]] virtual TimePoint now() const = 0;
  [[nodiscard]] virtual WallTime wall() const = 0;
};

// CLOCK_MONOTONIC and CLOCK_REALTIME. Safe from any thread.
const Clock& system_clock();

}  // namespace culvert
