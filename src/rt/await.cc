#include "rt/await.h"

#include "rt/worker.h"

namespace culvert::rt {

bool Suspension::begin(std::coroutine_handle<> handle, Scope* scope, TimePoint deadline) {
  Worker& worker = Worker::here();
  if (scope != nullptr && scope->cancelled()) {
    outcome_ = Errc::kCancelled;
    return false;
  }
  if (deadline <= worker.now()) {
    outcome_ = Errc::kTimedOut;
    return false;
  }
  handle_ = handle;
  if (scope != nullptr) scope->add(cancel_);
  worker.timers().arm(deadline_, deadline);
  return true;
}

void Suspension::finish(Status outcome) {
  if (!handle_) return;
  outcome_ = outcome;
  deadline_.cancel();
  cancel_.unlink();
  disarm();
  Worker::here().make_ready(std::exchange(handle_, nullptr));
}

void Suspension::on_deadline(Timer& timer) {
  static_cast<Deadline&>(timer).self->finish(Errc::kTimedOut);
}
void Suspension::on_cancel(CancelNode& node) {
  static_cast<Cancel&>(node).self->finish(Errc::kCancelled);
}

void ReadSome::on_ready(Waiter& waiter) {
  ReadSome& self = *static_cast<Link&>(waiter).self;
  self.result_ = self.stream_.lend();
  if (self.result_.code() == Errc::kWouldBlock) {
    self.stream_.wait_readable(&self.waiter_);
  } else {
    self.finish({});
  }
}

void Readiness::on_ready(Waiter& waiter) {
  static_cast<Link&>(waiter).self->finish({});
}

void Signal::raise() {
  raised_ = true;
  if (waiting_ != nullptr) waiting_->finish({});
}

Task<Status> write_all(Stream& stream, Bytes data, TimePoint deadline) {
  while (!data.empty()) {
    const Result<size_t> n = stream.write(data);
    if (n.ok()) {
      data = data.subspan(*n);
      continue;
    }
    if (n.code() != Errc::kWouldBlock) co_return n.error();
    const Status ready = co_await writable(stream, deadline);
    if (!ready.ok()) co_return ready.error();
  }
  co_return Status();
}

Task<Status> await_opened(Stream& stream, TimePoint deadline) {
  for (;;) {
    const Status opened = stream.opened();
    if (opened.code() != Errc::kWouldBlock) co_return opened;
    const Status ready = co_await writable(stream, deadline);
    if (!ready.ok()) co_return ready.error();
  }
}

}  // namespace culvert::rt
