#include "engine/flow_listing.h"

#include "rt/await.h"

namespace culvert::engine {

namespace {
constexpr size_t kUsualText = 32;  // bytes of a flow's host and rule payload
}  // namespace

struct FlowListing::Shared {
  explicit Shared(rt::Worker& c) : control(c) {}
  rt::Worker& control;
  // The worker's while a message is under way to it, the reader's otherwise.
  stats::FlowCursor cursor;
  stats::FlowSnapshot slice;
  bool worker_done = true;
  // Control worker only.
  rt::Signal arrived;
};

FlowListing::FlowListing(Engine& engine)
    : engine_(engine), shared_(std::make_shared<Shared>(engine.control())) {
  // The worker is not to wait for memory.
  shared_->slice.items.reserve(stats::Conversations::kSlice);
  shared_->slice.text.reserve(kUsualText * stats::Conversations::kSlice);
}

FlowListing::~FlowListing() {
  if (!asking_ && shared_->worker_done) return;
  // A request that is under way still comes before this.
  if (worker_ < engine_.core_count()) {
    engine_.core(worker_).worker().post([shared = shared_] { shared->cursor.release(); });
  }
}

bool FlowListing::complete() const {
  return worker_ >= engine_.core_count();
}

const stats::FlowSnapshot& FlowListing::slice() const {
  return shared_->slice;
}

rt::Task<Status> FlowListing::next(TimePoint deadline) {
  asking_ = true;
  shared_->arrived.reset();
  shared_->slice.clear();
  WorkerCore& core = engine_.core(worker_);
  core.worker().post([&core, shared = shared_] {
    shared->worker_done = core.conversations().collect(shared->cursor, shared->slice);
    shared->control.post([shared] { shared->arrived.raise(); });
  });
  const Status waited = co_await shared_->arrived.wait(deadline);
  if (!waited.ok()) co_return waited;
  asking_ = false;
  if (shared_->worker_done) ++worker_;
  co_return Status();
}

}  // namespace culvert::engine
