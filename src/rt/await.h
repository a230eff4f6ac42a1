// What coroutines wait on. Every await takes a deadline (kNever is written out) and obeys its
// scope's cancellation: whichever of readiness, deadline and cancellation comes first decides, and
// the outcome is an ordinary Status.
#pragma once

#include <coroutine>
#include <cstdint>
#include <span>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/result.h"
#include "rt/scope.h"
#include "rt/stream.h"
#include "rt/task.h"
#include "rt/timer.h"
#include "rt/waiter.h"

namespace culvert::rt {

// One suspended await. Lives in the awaiting frame; resumed once, through the ready queue.
class Suspension {
 public:
  Suspension() = default;
  Suspension(const Suspension&) = delete;
  Suspension& operator=(const Suspension&) = delete;

  // False when the outcome is known without waiting (cancelled, deadline already passed).
  bool begin(std::coroutine_handle<> handle, Scope* scope, TimePoint deadline);
  // Ends the wait; later calls do nothing.
  void finish(Status outcome);
  [[nodiscard]] bool pending() const { return static_cast<bool>(handle_); }
  [[nodiscard]] Status outcome() const { return outcome_; }

 protected:
  ~Suspension() = default;
  // Lets go of whatever was to call finish(). Called once, before the coroutine is made ready.
  virtual void disarm() {}

 private:
  struct Deadline : Timer {
    explicit Deadline(Suspension* s) : Timer(&Suspension::on_deadline), self(s) {}
    Suspension* self;
  };
  struct Cancel : CancelNode {
    explicit Cancel(Suspension* s) : CancelNode(&Suspension::on_cancel), self(s) {}
    Suspension* self;
  };
  static void on_deadline(Timer& timer);
  static void on_cancel(CancelNode& node);

  std::coroutine_handle<> handle_;
  Status outcome_;
  Deadline deadline_{this};
  Cancel cancel_{this};
};

// co_await read_some(stream, deadline) -> Result<MutableBytes>: what lend() shows, once it shows
// something. The bytes stay unread until consume().
class ReadSome final : public Suspension {
 public:
  ReadSome(Stream& stream, TimePoint deadline) : stream_(stream), deadline_(deadline) {}
  bool await_ready() {
    result_ = stream_.lend();
    return result_.code() != Errc::kWouldBlock;
  }
  template <class P>
  bool await_suspend(std::coroutine_handle<P> handle) {
    if (!begin(handle, handle.promise().scope, deadline_)) return false;
    stream_.wait_readable(&waiter_);
    return true;
  }
  Result<MutableBytes> await_resume() {
    if (!outcome().ok()) return outcome().error();
    return result_;
  }

 private:
  struct Link : Waiter {
    explicit Link(ReadSome* s) : Waiter(&ReadSome::on_ready), self(s) {}
    ReadSome* self;
  };
  static void on_ready(Waiter& waiter);
  void disarm() override { stream_.wait_readable(nullptr); }

  Stream& stream_;
  TimePoint deadline_;
  Result<MutableBytes> result_{Errc::kWouldBlock};
  Link waiter_{this};
};
inline ReadSome read_some(Stream& stream, TimePoint deadline) {
  return {stream, deadline};
}

// co_await readable(stream, deadline) / writable(stream, deadline) -> Status: the stream's waiter
// fired. It may be a false alarm.
class Readiness final : public Suspension {
 public:
  enum class Direction : uint8_t { kRead, kWrite };
  Readiness(Stream& stream, Direction direction, TimePoint deadline)
      : stream_(stream), deadline_(deadline), direction_(direction) {}
  bool await_ready() const { return false; }
  template <class P>
  bool await_suspend(std::coroutine_handle<P> handle) {
    if (!begin(handle, handle.promise().scope, deadline_)) return false;
    arm(&waiter_);
    return true;
  }
  Status await_resume() { return outcome(); }

 private:
  struct Link : Waiter {
    explicit Link(Readiness* s) : Waiter(&Readiness::on_ready), self(s) {}
    Readiness* self;
  };
  static void on_ready(Waiter& waiter);
  void arm(Waiter* waiter) {
    if (direction_ == Direction::kRead) {
      stream_.wait_readable(waiter);
    } else {
      stream_.wait_writable(waiter);
    }
  }
  void disarm() override { arm(nullptr); }

  Stream& stream_;
  TimePoint deadline_;
  Direction direction_;
  Link waiter_{this};
};
inline Readiness readable(Stream& stream, TimePoint deadline) {
  return {stream, Readiness::Direction::kRead, deadline};
}
inline Readiness writable(Stream& stream, TimePoint deadline) {
  return {stream, Readiness::Direction::kWrite, deadline};
}

// co_await sleep_until(when) -> Status: ok when `when` passed, kCancelled before.
class Sleep final : public Suspension {
 public:
  explicit Sleep(TimePoint when) : when_(when) {}
  bool await_ready() const { return false; }
  template <class P>
  bool await_suspend(std::coroutine_handle<P> handle) {
    return begin(handle, handle.promise().scope, when_);
  }
  Status await_resume() { return outcome().code() == Errc::kTimedOut ? Status() : outcome(); }

 private:
  TimePoint when_;
};
inline Sleep sleep_until(TimePoint when) {
  return Sleep(when);
}

// A flag that one coroutine waits for and others of the same worker raise.
class Signal {
 public:
  Signal() = default;
  Signal(const Signal&) = delete;
  Signal& operator=(const Signal&) = delete;
  void raise();
  // Lowers it again.
  void reset() { raised_ = false; }
  [[nodiscard]] bool raised() const { return raised_; }

  class Wait final : public Suspension {
   public:
    Wait(Signal& signal, TimePoint deadline) : signal_(signal), deadline_(deadline) {}
    bool await_ready() const { return signal_.raised_; }
    template <class P>
    bool await_suspend(std::coroutine_handle<P> handle) {
      if (!begin(handle, handle.promise().scope, deadline_)) return false;
      signal_.waiting_ = this;
      return true;
    }
    Status await_resume() { return outcome(); }

   private:
    void disarm() override { signal_.waiting_ = nullptr; }
    Signal& signal_;
    TimePoint deadline_;
  };
  // One waiter at a time.
  [[nodiscard]] Wait wait(TimePoint deadline) { return {*this, deadline}; }

 private:
  Wait* waiting_ = nullptr;
  bool raised_ = false;
};

// co_await CurrentScope() -> Scope*: the coroutine's own scope, so that a child of it can be made.
class CurrentScope {
 public:
  bool await_ready() const { return false; }
  template <class P>
  bool await_suspend(std::coroutine_handle<P> handle) {
    scope_ = handle.promise().scope;
    return false;
  }
  Scope* await_resume() const { return scope_; }

 private:
  Scope* scope_ = nullptr;
};

// Writes all of `data`, which stays valid until the task ends.
Task<Status> write_all(Stream& stream, Bytes data, TimePoint deadline);
// Waits until the stream is open; its error otherwise.
Task<Status> await_opened(Stream& stream, TimePoint deadline);

}  // namespace culvert::rt
