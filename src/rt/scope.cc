#include "rt/scope.h"

#include "rt/task.h"

namespace culvert::rt {

Scope::Scope(Scope* parent) : link_(this, &Scope::on_parent_cancelled) {
  if (parent == nullptr) return;
  if (parent->cancelled()) {
    cancelled_ = true;
  } else {
    parent->add(link_);
  }
}

Scope::~Scope() {
  CULVERT_CHECK(running_ == 0 && nodes_.empty());
}

void Scope::spawn(const char* /*name*/, Task<void> task) {
  auto handle = task.release();
  CULVERT_CHECK(handle);
  handle.promise().scope = this;
  handle.promise().spawned = true;
  ++running_;
  handle.resume();
}

void Scope::cancel() {
  if (cancelled_) return;
  cancelled_ = true;
  // A node's function unlinks it, and may unlink others: take them one by one.
  while (CancelNode* node = nodes_.pop_front()) node->fn_(*node);
}

void Scope::task_ended() {
  CULVERT_CHECK(running_ > 0);
  if (--running_ == 0 && joiner_) detail::make_ready(std::exchange(joiner_, nullptr));
}

void Scope::on_parent_cancelled(CancelNode& node) {
  static_cast<ParentLink&>(node).self->cancel();
}

}  // namespace culvert::rt
