// Timers of one worker: a hierarchical wheel of 1 ms ticks, insertion and removal O(1), no
// allocation. A timer never fires early, and at most one tick late plus the length of a loop turn.
// There is no periodic timer per connection: whoever refreshes often stores the time of the last
// event and looks at it when the timer fires.
#pragma once

#include <array>
#include <cstdint>

#include "base/clock.h"
#include "base/intrusive_list.h"

namespace culvert::rt {

class TimerWheel;

class Timer : public ListNode {
 public:
  using Fn = void (*)(Timer& self);
  explicit Timer(Fn fn) : fn_(fn) {}
  ~Timer() { cancel(); }
  [[nodiscard]] bool armed() const { return linked(); }
  void cancel();

 private:
  friend class TimerWheel;
  Fn fn_;
  uint64_t tick_ = 0;
  TimerWheel* wheel_ = nullptr;
  uint16_t slot_ = 0;
};

class TimerWheel {
 public:
  explicit TimerWheel(TimePoint now);
  // Arms `timer` for `when` (re-arming moves it); kNever only cancels. The timer is disarmed before
  // its function is called, and may be re-armed or destroyed by it.
  void arm(Timer& timer, TimePoint when);
  // Fires everything due at `now`; returns how many.
  size_t advance(TimePoint now);
  // When advance() has to be called next: never later than the earliest timer, and kNever when
  // there is none.
  [[nodiscard]] TimePoint next() const;
  [[nodiscard]] size_t size() const { return armed_; }

 private:
  friend class Timer;
  static constexpr int kBits = 6;
  static constexpr int kSlots = 1 << kBits;
  static constexpr int kLevels = 6;  // 64^6 ms, about 2 years; further deadlines are re-inserted
  static uint64_t to_tick_up(TimePoint t);
  void insert(Timer& timer);
  void removed(Timer& timer);

  uint64_t now_tick_;
  size_t armed_ = 0;
  std::array<uint64_t, kLevels> occupied_{};
  std::array<std::array<IntrusiveList<Timer>, kSlots>, kLevels> slots_;
};

}  // namespace culvert::rt
