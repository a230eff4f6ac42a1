#include "base/log.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <mutex>

namespace culvert::log {
namespace detail {
std::atomic<uint8_t> g_threshold{static_cast<uint8_t>(Level::kInfo)};
}

namespace {

struct Attached {
  Sink* sink = nullptr;
  Level level = Level::kSilent;
};

// Process-wide on purpose: there is one log. Touched only when a line is really written.
struct State {
  std::mutex mutex;
  Level level = Level::kInfo;
  Sink* default_sink = nullptr;
  std::array<Attached, 16> extra;
};

State& state() {
  static State s;
  return s;
}

void update_threshold(State& s) {
  Level most = s.level;
  for (const Attached& a : s.extra) {
    if (a.sink != nullptr) most = std::max(most, a.level);
  }
  detail::g_threshold.store(static_cast<uint8_t>(most), std::memory_order_relaxed);
}

void write_stderr(Level level, WallTime when, std::string_view text) {
  char stack[2048];
  std::string_view line = format_line(stack, sizeof stack, level, when, text);
  ssize_t ignored = ::write(STDERR_FILENO, line.data(), line.size());
  (void)ignored;  // nowhere to say that the log cannot be written
}

}  // namespace

std::string_view format_line(char* out, size_t size, Level level, WallTime when,
                             std::string_view text) {
  const auto since = when.time_since_epoch();
  const time_t seconds = std::chrono::duration_cast<std::chrono::seconds>(since).count();
  const auto nanos = static_cast<long>((since - std::chrono::seconds(seconds)).count());
  tm t{};
  gmtime_r(&seconds, &t);
  const std::string_view line = format_to(
      out, size - 1, "time=\"{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:09}Z\" level={} msg=\"{}\"",
      t.tm_year + 1900, t.tm_mon + 1, t.tm_mday, t.tm_hour, t.tm_min, t.tm_sec, nanos, name(level),
      text);
  out[line.size()] = '\n';
  return {out, line.size() + 1};
}

std::string_view name(Level level) {
  switch (level) {
    case Level::kSilent:
      return "silent";
    case Level::kError:
      return "error";
    case Level::kWarning:
      return "warning";
    case Level::kInfo:
      return "info";
    case Level::kDebug:
      return "debug";
  }
  return "info";
}

void set_level(Level level) {
  State& s = state();
  std::lock_guard lock(s.mutex);
  s.level = level;
  update_threshold(s);
}

Level level() {
  State& s = state();
  std::lock_guard lock(s.mutex);
  return s.level;
}

void set_default_sink(Sink* sink) {
  State& s = state();
  std::lock_guard lock(s.mutex);
  s.default_sink = sink;
}

bool add_sink(Sink* sink, Level level) {
  State& s = state();
  std::lock_guard lock(s.mutex);
  for (Attached& a : s.extra) {
    if (a.sink != nullptr) continue;
    a = {sink, level};
    update_threshold(s);
    return true;
  }
  return false;
}

void remove_sink(Sink* sink) {
  State& s = state();
  std::lock_guard lock(s.mutex);
  for (Attached& a : s.extra) {
    if (a.sink == sink) a = {};
  }
  update_threshold(s);
}

void detail::write(Level level, fmt::string_view pattern, fmt::format_args args) {
  char stack[1024];
  const size_t n = culvert::detail::vformat_to(stack, sizeof stack, pattern, args);
  const std::string_view text(stack, std::min(n, sizeof stack));
  const WallTime when = system_clock().wall();
  State& s = state();
  std::lock_guard lock(s.mutex);
  if (level <= s.level) {
    if (s.default_sink != nullptr) {
      s.default_sink->line(level, when, text);
    } else {
      write_stderr(level, when, text);
    }
  }
  for (const Attached& a : s.extra) {
    if (a.sink != nullptr && level <= a.level) a.sink->line(level, when, text);
  }
}

bool Sampler::admit(TimePoint now, uint64_t& left_out) {
  const int64_t t = now.time_since_epoch().count();
  int64_t next = next_ns_.load(std::memory_order_relaxed);
  if (t < next ||
      !next_ns_.compare_exchange_strong(next, t + kPeriod.count(), std::memory_order_relaxed)) {
    left_out_.fetch_add(1, std::memory_order_relaxed);
    return false;
  }
  left_out = left_out_.exchange(0, std::memory_order_relaxed);
  return true;
}

std::string printable(std::string_view text, size_t limit) {
  std::string out(text.substr(0, limit));
  for (char& c : out) {
    const auto u = static_cast<unsigned char>(c);
    if (u < 0x20 || u > 0x7e || c == '"' || c == '\\') c = '.';
  }
  if (text.size() > limit) out += "...";
  return out;
}

}  // namespace culvert::log
