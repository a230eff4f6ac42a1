// Scope: who owns background work, and how it is told to stop.
//
// Coroutines run in exactly one scope: a spawned task's, inherited by everything it awaits.
// Cancelling a scope makes each await under it return kCancelled, now and from then on; a cancelled
// scope's child scopes are cancelled with it. Frames are never destroyed from outside: a task ends
// by returning. A scope must be empty when it dies: co_await scope.join() first.
//
// Worker-local: made, used and destroyed on one worker.
#pragma once

#include <coroutine>
#include <cstddef>

#include "base/intrusive_list.h"

namespace culvert::rt {

template <class T>
class Task;

// Something to tell when the scope is cancelled.
class CancelNode : public ListNode {
 public:
  using Fn = void (*)(CancelNode& self);
  explicit CancelNode(Fn fn) : fn_(fn) {}

 private:
  friend class Scope;
  Fn fn_;
};

class Scope {
 public:
  // A child of `parent` (cancelled with it), or a root when nullptr.
  explicit Scope(Scope* parent = nullptr);
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;
  ~Scope();

  // Starts `task` at once, up to its first wait. `name` is a literal, for diagnostics.
  void spawn(const char* name, Task<void> task);
  void cancel();
  [[nodiscard]] bool cancelled() const { return cancelled_; }
  [[nodiscard]] size_t running() const { return running_; }

  // Waits until no spawned task is left. Not subject to cancellation itself.
  class Join {
   public:
    explicit Join(Scope& scope) : scope_(scope) {}
    [[nodiscard]] bool await_ready() const { return scope_.running_ == 0; }
    void await_suspend(std::coroutine_handle<> handle) { scope_.joiner_ = handle; }
    void await_resume() const {}

   private:
    Scope& scope_;
  };
  [[nodiscard]] Join join() { return Join(*this); }

  // For awaits: hears of cancellation until unlinked. The scope must not be cancelled already.
  void add(CancelNode& node) { nodes_.push_back(&node); }
  // For the promise of a spawned task.
  void task_ended();

 private:
  struct ParentLink : CancelNode {
    ParentLink(Scope* s, Fn fn) : CancelNode(fn), self(s) {}
    Scope* self;
  };
  static void on_parent_cancelled(CancelNode& node);

  IntrusiveList<CancelNode> nodes_;
  ParentLink link_;
  std::coroutine_handle<> joiner_;
  size_t running_ = 0;
  bool cancelled_ = false;
};

}  // namespace culvert::rt
