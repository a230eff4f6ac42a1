// Logging. A call below the level costs one load and one branch; its arguments are not evaluated.
//
//   CULVERT_LOG(kInfo, "[{}] {} --> {}", network, from, to);
//   CULVERT_LOG_SAMPLED(kWarning, "{}: {}", from, describe(error.code));
//
// A line goes to every sink attached: standard error, and the controller's /logs subscribers. A
// sink never blocks the caller. The sampled form writes at most one line per call site in ten
// seconds and says how many it left out: use it for anything a peer can cause. Never log a secret,
// key, password or token, or anything derived from one.
#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>

#include "base/clock.h"
#include "base/format.h"

namespace culvert::log {

// mihomo's log-level words, in order of how much they say.
enum class Level : uint8_t { kSilent = 0, kError = 1, kWarning = 2, kInfo = 3, kDebug = 4 };

std::string_view name(Level level);

// Receives finished lines, on whichever thread logged; must be thread-safe and must not block.
class Sink {
 public:
  virtual ~Sink() = default;
  // `text` has no trailing newline and is valid during the call only.
  virtual void line(Level level, WallTime when, std::string_view text) = 0;
};

// The level of the default sink (standard error until app/ replaces it).
void set_level(Level level);
Level level();
// Replaces the default sink; nullptr restores plain standard error. The caller owns the sink and
// keeps it alive until it is replaced and no other thread logs.
void set_default_sink(Sink* sink);
// Further sinks, each with its own level. At most 16; false when full.
bool add_sink(Sink* sink, Level level);
void remove_sink(Sink* sink);

namespace detail {
// The most talkative level any sink wants.
extern std::atomic<uint8_t> g_threshold;
void write(Level level, fmt::string_view pattern, fmt::format_args args);
}  // namespace detail

inline bool enabled(Level level) {
  return static_cast<uint8_t>(level) <= detail::g_threshold.load(std::memory_order_relaxed);
}

template <class... Args>
void write(Level level, fmt::format_string<Args...> pattern, Args&&... args) {
  detail::write(level, pattern, fmt::make_format_args(args...));
}

// One per call site of a sampled line.
class Sampler {
 public:
  // True when a line may be written now; `left_out` is then the number suppressed since the last.
  bool admit(TimePoint now, uint64_t& left_out);

 private:
  static constexpr Duration kPeriod = std::chrono::seconds(10);
  std::atomic<int64_t> next_ns_{0};
  std::atomic<uint64_t> left_out_{0};
};

// mihomo's line form, with the newline: time="..." level=info msg="...". Cut at `size`.
std::string_view format_line(char* out, size_t size, Level level, WallTime when,
                             std::string_view text);

// Texts from peers (names, header values) go through this before they are logged: control bytes and
// anything beyond 7-bit ASCII that is not valid in a log line become '.', cut at `limit` bytes.
std::string printable(std::string_view text, size_t limit = 128);

}  // namespace culvert::log

#define CULVERT_LOG(level, ...)                                             \
  do {                                                                      \
    if (::culvert::log::enabled(::culvert::log::Level::level)) [[unlikely]] \
      ::culvert::log::write(::culvert::log::Level::level, __VA_ARGS__);     \
  } while (0)

#define CULVERT_LOG_SAMPLED(level, pattern, ...)                                              \
  do {                                                                                        \
    if (::culvert::log::enabled(::culvert::log::Level::level)) [[unlikely]] {                 \
      static ::culvert::log::Sampler culvert_sampler;                                         \
      uint64_t culvert_left_out = 0;                                                          \
      if (culvert_sampler.admit(::culvert::system_clock().now(), culvert_left_out)) {         \
        if (culvert_left_out == 0)                                                            \
          ::culvert::log::write(::culvert::log::Level::level, pattern, __VA_ARGS__);          \
        else                                                                                  \
          ::culvert::log::write(::culvert::log::Level::level, pattern " ({} more like this)", \
                                __VA_ARGS__, culvert_left_out);                               \
      }                                                                                       \
    }                                                                                         \
  } while (0)
