// LogFeed: log lines on their way to one /logs client. Filled on whatever thread logs, emptied on
// the control worker; bounded: when the client is slow the oldest lines give way.
#pragma once

#include <deque>
#include <memory>
#include <mutex>
#include <string>

#include "base/log.h"
#include "rt/await.h"
#include "rt/worker.h"

namespace culvert::api {

class LogFeed final : public log::Sink, public std::enable_shared_from_this<LogFeed> {
 public:
  static constexpr size_t kMaxLines = 512;
  struct Line {
    log::Level level;
    WallTime when;
    std::string text;
  };
  explicit LogFeed(rt::Worker& control) : control_(control) {}

  void line(log::Level level, WallTime when, std::string_view text) override;

  // Control worker only.
  bool take(Line& out);
  [[nodiscard]] rt::Signal& arrived() { return arrived_; }
  void detach();

 private:
  rt::Worker& control_;
  std::mutex mutex_;
  std::deque<Line> lines_;
  bool told_ = false;
  bool attached_ = true;  // control worker only
  rt::Signal arrived_;
};

}  // namespace culvert::api
