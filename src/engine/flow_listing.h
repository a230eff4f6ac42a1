// FlowListing: the live flows of all workers, for a reader on the control worker that takes them a
// slice at a time and as slowly as it likes: one slice is held at once, and a worker copies the
// next only when it is asked for. Which flows are seen: stats::Conversations::collect().
#pragma once

#include <memory>

#include "engine/engine.h"
#include "rt/task.h"
#include "stats/conversations.h"

namespace culvert::engine {

class FlowListing {
 public:
  // Lives on the control worker, and no longer than the engine.
  explicit FlowListing(Engine& engine);
  FlowListing(const FlowListing&) = delete;
  FlowListing& operator=(const FlowListing&) = delete;
  // May come at any time, a call of next() that did not end well included.
  ~FlowListing();

  [[nodiscard]] bool complete() const;
  // Fetches the next slice, which may be empty. Not after complete(), nor after an error.
  rt::Task<Status> next(TimePoint deadline);
  // The slice that was fetched last.
  [[nodiscard]] const stats::FlowSnapshot& slice() const;

 private:
  struct Shared;
  Engine& engine_;
  size_t worker_ = 0;
  bool asking_ = false;             // a request is under way: what is shared is the worker's
  std::shared_ptr<Shared> shared_;  // with the message that is under way
};

}  // namespace culvert::engine
