#include "api/log_feed.h"

namespace culvert::api {

void LogFeed::line(log::Level level, WallTime when, std::string_view text) {
  {
    std::lock_guard lock(mutex_);
    if (lines_.size() >= kMaxLines) lines_.pop_front();
    lines_.push_back({level, when, std::string(text)});
    if (told_) return;
    told_ = true;
  }
  control_.post([self = shared_from_this()] {
    if (self->attached_) self->arrived_.raise();
  });
}

bool LogFeed::take(Line& out) {
  std::lock_guard lock(mutex_);
  if (lines_.empty()) {
    told_ = false;
    arrived_.reset();
    return false;
  }
  out = std::move(lines_.front());
  lines_.pop_front();
  return true;
}

void LogFeed::detach() {
  log::remove_sink(this);
  attached_ = false;
}

}  // namespace culvert::api
