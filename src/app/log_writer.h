// LogWriter: the default log sink. Lines are queued, bounded, and written to standard output by the
// background thread, so that a worker never waits for a slow terminal or a full pipe. When the
// queue is full lines are dropped, and a line says how many.
#pragma once

#include <mutex>
#include <string>

#include "base/log.h"
#include "rt/background.h"

namespace culvert::app {

class LogWriter final : public log::Sink {
 public:
  static constexpr size_t kLimit = 256 << 10;  // bytes queued
  LogWriter(rt::Background& background, int fd) : background_(background), fd_(fd) {}
  void line(log::Level level, WallTime when, std::string_view text) override;
  // Writes what is queued; for the end, when the background thread is gone.
  void flush();

 private:
  rt::Background& background_;
  const int fd_;
  std::mutex mutex_;
  std::string queue_;
  uint64_t dropped_ = 0;
  bool scheduled_ = false;
};

}  // namespace culvert::app
