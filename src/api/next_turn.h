// co_await NextTurn(): goes on in the worker's next turn, when other events have had theirs. For
// work in steps that may never have to wait for anything. Not subject to cancellation: it is soon.
#pragma once

#include <coroutine>

#include "rt/worker.h"

namespace culvert::api {

class NextTurn final : private rt::Deferred {
 public:
  NextTurn() : Deferred(&NextTurn::on_turn) {}
  [[nodiscard]] bool await_ready() const { return false; }
  void await_suspend(std::coroutine_handle<> handle) {
    handle_ = handle;
    rt::Worker::here().defer(*this);
  }
  void await_resume() const {}

 private:
  static void on_turn(rt::Deferred& self) {
    rt::Worker::here().make_ready(static_cast<NextTurn&>(self).handle_);
  }
  std::coroutine_handle<> handle_;
};

}  // namespace culvert::api
