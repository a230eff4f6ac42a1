#include "base/clock.h"

#include <ctime>

namespace culvert {
namespace {

Duration read_clock(clockid_t id) {
  timespec ts{};
  clock_gettime(id, &ts);
  return std::chrono::seconds(ts.tv_sec) + std::chrono::nanoseconds(ts.tv_nsec);
}

class SystemClock final : public Clock {
 public:
  TimePoint now() const override { return TimePoint(read_clock(CLOCK_MONOTONIC)); }
  WallTime wall() const override { return WallTime(read_clock(CLOCK_REALTIME)); }
};

}  // namespace

const Clock& system_clock() {
  static const SystemClock clock;
  return clock;
}

}  // namespace culvert
