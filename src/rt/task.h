// Task<T>: a lazy coroutine that its awaiter owns. For connection stages (handshakes, dials), never
// per packet.
//
//   Task<Result<int>> f(Stream& s, TimePoint deadline);
//   Result<int> r = co_await f(stream, deadline);
//
// g++ 12 does not guarantee tail calls for symmetric transfer (it overflows the stack at -O0, at
// -O1 and under sanitizers), so none is relied on: awaiting a task resumes it inline and asks
// whether it is still pending; a task that ends after waiting hands its awaiter to the worker's
// ready queue. Stack depth is the depth of the call structure, however many awaits complete at
// once.
//
// Rules: parameters by value, or references to what outlives the await; no co_await inside ?:,
// initialiser lists or call arguments with non-trivial temporaries (g++ 12 mishandles them); no
// capturing lambda coroutines. A task is awaited at most once, and dies unstarted if it never is.
#pragma once

#include <coroutine>
#include <cstddef>
#include <optional>
#include <utility>

#include "base/result.h"
#include "rt/frame_pool.h"
#include "rt/scope.h"

namespace culvert::rt {

namespace detail {

// Makes `handle` run soon on the current worker.
void make_ready(std::coroutine_handle<> handle);
// Destroys `handle`'s frame soon, when nothing runs in it any more.
void destroy_later(std::coroutine_handle<> handle);

class PromiseBase {
 public:
  Scope* scope = nullptr;                // inherited from the awaiter
  std::coroutine_handle<> continuation;  // set once the awaiter really waits
  bool spawned = false;                  // owned by `scope` instead of an awaiter

  static void* operator new(size_t size) { return allocate_frame(size); }
  static void operator delete(void* p, size_t size) { free_frame(p, size); }

  std::suspend_always initial_suspend() noexcept { return {}; }
  void unhandled_exception() noexcept {
    abort_with("exception in a coroutine", __FILE__, __LINE__);
  }

  struct Final {
    bool await_ready() noexcept { return false; }
    template <class P>
    void await_suspend(std::coroutine_handle<P> self) noexcept {
      PromiseBase& promise = self.promise();
      if (promise.spawned) {
        Scope* owner = promise.scope;
        destroy_later(self);
        owner->task_ended();
      } else if (promise.continuation) {
        make_ready(promise.continuation);
      }
    }
    void await_resume() noexcept {}
  };
  Final final_suspend() noexcept { return {}; }

 private:
  [[noreturn]] static void abort_with(const char* what, const char* file, int line) {
    ::culvert::detail::abort_with(what, file, line);
  }
};

template <class T>
class Promise : public PromiseBase {
 public:
  Task<T> get_return_object();
  template <class U>
  void return_value(U&& value) {
    value_.emplace(std::forward<U>(value));
  }
  T take() { return std::move(*value_); }

 private:
  std::optional<T> value_;
};

template <>
class Promise<void> : public PromiseBase {
 public:
  Task<void> get_return_object();
  void return_void() {}
  void take() {}
};

}  // namespace detail

template <class T = void>
class [[nodiscard]] Task {
 public:
  using promise_type = detail::Promise<T>;
  using Handle = std::coroutine_handle<promise_type>;

  Task() = default;
  explicit Task(Handle handle) : handle_(handle) {}
  Task(Task&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Task& operator=(Task&& other) noexcept {
    if (this != &other) {
      if (handle_) handle_.destroy();
      handle_ = std::exchange(other.handle_, nullptr);
    }
    return *this;
  }
  ~Task() {
    if (handle_) handle_.destroy();
  }

  class Awaiter {
   public:
    explicit Awaiter(Handle handle) : handle_(handle) {}
    bool await_ready() const noexcept { return false; }
    template <class P>
    bool await_suspend(std::coroutine_handle<P> parent) {
      promise_type& child = handle_.promise();
      child.scope = parent.promise().scope;
      handle_.resume();
      if (handle_.done()) return false;
      child.continuation = parent;
      return true;
    }
    T await_resume() { return handle_.promise().take(); }

   private:
    Handle handle_;
  };
  Awaiter operator co_await() && { return Awaiter(handle_); }

  // For Scope::spawn(): gives up the frame.
  Handle release() { return std::exchange(handle_, nullptr); }

 private:
  Handle handle_;
};

namespace detail {
template <class T>
Task<T> Promise<T>::get_return_object() {
  return Task<T>(std::coroutine_handle<Promise<T>>::from_promise(*this));
}
inline Task<void> Promise<void>::get_return_object() {
  return Task<void>(std::coroutine_handle<Promise<void>>::from_promise(*this));
}
}  // namespace detail

}  // namespace culvert::rt
