#include "rt/timer.h"

#include <bit>

namespace culvert::rt {
namespace {
constexpr int64_t kTickNs = 1'000'000;
}

void Timer::cancel() {
  if (!linked()) return;
  TimerWheel* wheel = wheel_;
  unlink();
  wheel->removed(*this);
}

TimerWheel::TimerWheel(TimePoint now)
    : now_tick_(static_cast<uint64_t>(now.time_since_epoch().count() / kTickNs)) {}

uint64_t TimerWheel::to_tick_up(TimePoint t) {
  const int64_t ns = t.time_since_epoch().count();
  return ns <= 0 ? 0 : static_cast<uint64_t>(ns / kTickNs + (ns % kTickNs != 0 ? 1 : 0));
}

void TimerWheel::arm(Timer& timer, TimePoint when) {
  timer.cancel();
  if (when == kNever) return;
  timer.wheel_ = this;
  timer.tick_ = to_tick_up(when);
  ++armed_;
  insert(timer);
}

void TimerWheel::insert(Timer& timer) {
  // A slot of level L holds ticks that agree with now_tick_ above level L and differ at it. What is
  // due already goes into the next tick; what is beyond the top level waits in its farthest slot.
  uint64_t tick = timer.tick_ > now_tick_ ? timer.tick_ : now_tick_ + 1;
  const uint64_t horizon = (now_tick_ | ((uint64_t{1} << (kBits * kLevels)) - 1));
  if (tick > horizon) tick = horizon;
  const uint64_t diff = tick ^ now_tick_;
  const int level = diff == 0 ? 0 : (63 - std::countl_zero(diff)) / kBits;
  const int slot = static_cast<int>(tick >> (kBits * level)) & (kSlots - 1);
  timer.slot_ = static_cast<uint16_t>(level * kSlots + slot);
  slots_[static_cast<size_t>(level)][static_cast<size_t>(slot)].push_back(&timer);
  occupied_[static_cast<size_t>(level)] |= uint64_t{1} << slot;
}

void TimerWheel::removed(Timer& timer) {
  --armed_;
  const size_t level = timer.slot_ / kSlots;
  const size_t slot = timer.slot_ % kSlots;
  if (slots_[level][slot].empty()) occupied_[level] &= ~(uint64_t{1} << slot);
}

TimePoint TimerWheel::next() const {
  if (armed_ == 0) return kNever;
  // The lowest occupied level holds the earliest timers: its first slot after the current position.
  // On level 0 that is the time itself, above it the moment when the slot is spread out below.
  for (int level = 0; level < kLevels; ++level) {
    const uint64_t bits = occupied_[static_cast<size_t>(level)];
    if (bits == 0) continue;
    const int shift = kBits * level;
    const auto position = (now_tick_ >> shift) & (kSlots - 1);
    // Slots at or before the position belong to no one: they were emptied when it passed them.
    const uint64_t later = bits & ~((uint64_t{2} << position) - 1);
    const uint64_t base = now_tick_ >> (shift + kBits) << (shift + kBits);
    const uint64_t slot = later != 0 ? static_cast<uint64_t>(std::countr_zero(later)) : 0;
    const uint64_t tick = later != 0 ? base | slot << shift : base + (uint64_t{kSlots} << shift);
    return TimePoint(Duration(static_cast<int64_t>(tick) * kTickNs));
  }
  return kNever;
}

size_t TimerWheel::advance(TimePoint now) {
  const auto target = static_cast<uint64_t>(now.time_since_epoch().count() / kTickNs);
  size_t fired = 0;
  while (now_tick_ < target) {
    if (armed_ == 0) {
      now_tick_ = target;
      break;
    }
    // Jumps to the next tick at which something happens.
    const auto next_tick = static_cast<uint64_t>(next().time_since_epoch().count() / kTickNs);
    if (next_tick > target) {
      now_tick_ = target;
      break;
    }
    now_tick_ = next_tick;
    // Spreads out the slots whose time begins now, highest level first.
    for (int level = kLevels - 1; level > 0; --level) {
      const int shift = kBits * level;
      if ((now_tick_ & ((uint64_t{1} << shift) - 1)) != 0) continue;
      const auto slot = (now_tick_ >> shift) & (kSlots - 1);
      const auto l = static_cast<size_t>(level);
      if ((occupied_[l] >> slot & 1) == 0) continue;
      IntrusiveList<Timer> due;
      due.splice_back(slots_[l][slot]);
      occupied_[l] &= ~(uint64_t{1} << slot);
      while (Timer* t = due.pop_front()) {
        if (t->tick_ <= now_tick_) {
          // Due exactly now: fires with this tick's slot.
          const auto s0 = now_tick_ & (kSlots - 1);
          t->slot_ = static_cast<uint16_t>(s0);
          slots_[0][s0].push_back(t);
          occupied_[0] |= uint64_t{1} << s0;
        } else {
          insert(*t);
        }
      }
    }
    const auto slot = now_tick_ & (kSlots - 1);
    if ((occupied_[0] >> slot & 1) == 0) continue;
    IntrusiveList<Timer> due;
    due.splice_back(slots_[0][slot]);
    occupied_[0] &= ~(uint64_t{1} << slot);
    while (Timer* t = due.pop_front()) {
      // slot_ still names the slot just emptied, which removed() would look at: it is consistent.
      if (t->tick_ > now_tick_) {
        insert(*t);  // was parked at the horizon
        continue;
      }
      --armed_;
      ++fired;
      t->fn_(*t);
    }
  }
  return fired;
}

}  // namespace culvert::rt
