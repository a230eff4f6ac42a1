// A Waiter is what a stream calls when it became ready: a function pointer and nothing else, so
// that a relay can carry four of them. It is armed in one slot at a time and called at most once
// per arming, on the stream's worker, from the loop and never from inside the call that armed it.
#pragma once

namespace culvert::rt {

struct Waiter {
  using Fn = void (*)(Waiter& self);
  Fn fn = nullptr;

  Waiter() = default;
  explicit Waiter(Fn f) : fn(f) {}
  Waiter(const Waiter&) = delete;
  Waiter& operator=(const Waiter&) = delete;
  void fire() { fn(*this); }
};

}  // namespace culvert::rt
