#include "app/log_writer.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace culvert::app {
namespace {

// A reader that takes nothing for this long loses the rest of the batch.
constexpr int kPatienceMs = 1000;

void write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = ::write(fd, text.data(), text.size());
    if (n > 0) {
      text.remove_prefix(static_cast<size_t>(n));
    } else if (n < 0 && errno == EAGAIN) {
      pollfd p{fd, POLLOUT, 0};
      if (::poll(&p, 1, kPatienceMs) <= 0) return;
    } else if (n == 0 || errno != EINTR) {
      return;  // a closed pipe or a full disk: the program goes on without its log
    }
  }
}

}  // namespace

void LogWriter::line(log::Level level, WallTime when, std::string_view text) {
  char buffer[1200];
  const std::string_view formatted = log::format_line(buffer, sizeof buffer, level, when, text);
  bool schedule = false;
  {
    std::lock_guard lock(mutex_);
    if (queue_.size() + formatted.size() > kLimit) {
      ++dropped_;
      return;
    }
    queue_.append(formatted);
    if (!scheduled_) schedule = scheduled_ = true;
  }
  if (!schedule) return;
  const bool accepted = background_.submit([this] { flush(); });
  if (!accepted) {
    std::lock_guard lock(mutex_);
    scheduled_ = false;
  }
}

void LogWriter::flush() {
  std::string batch;
  uint64_t dropped;
  {
    std::lock_guard lock(mutex_);
    batch.swap(queue_);
    dropped = std::exchange(dropped_, 0);
    scheduled_ = false;
  }
  if (dropped != 0) {
    char buffer[256];
    batch.append(
        log::format_line(buffer, sizeof buffer, log::Level::kWarning, system_clock().wall(),
                         format("{} log lines dropped: they came faster than they could be "
                                "written",
                                dropped)));
  }
  write_all(fd_, batch);
}

}  // namespace culvert::app
