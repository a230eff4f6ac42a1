#include "api/feeds.h"

#include <algorithm>
#include <charconv>
#include <memory>
#include <string>

#include "api/json_writer.h"
#include "api/log_feed.h"
#include "api/views.h"
#include "rt/await.h"
#include "wire/url.h"

namespace culvert::api {

using flow::Task;

namespace {

constexpr Duration kTick = std::chrono::seconds(1);
constexpr int64_t kMinInterval = 100;  // milliseconds
constexpr int64_t kMaxInterval = 600'000;

TimePoint now() {
  return rt::Worker::here().now();
}

int64_t interval_of(std::string_view query) {
  const auto text = wire::query_value(query, "interval");
  int64_t v = 1000;
  if (text && !text->empty()) {
    const auto [end, ec] = std::from_chars(text->data(), text->data() + text->size(), v);
    if (ec != std::errc() || end != text->data() + text->size()) return -1;
  }
  return std::clamp(v, kMinInterval, kMaxInterval);
}

std::optional<log::Level> level_of(std::string_view query) {
  const auto text = wire::query_value(query, "level");
  if (!text || text->empty()) return log::Level::kInfo;
  for (const log::Level level : {log::Level::kSilent, log::Level::kError, log::Level::kWarning,
                                 log::Level::kInfo, log::Level::kDebug}) {
    if (wire::equal_ignoring_case(*text, log::name(level))) return level;
  }
  return std::nullopt;
}

Task<void> push_traffic(engine::Engine& engine, Push& push) {
  uint64_t up = engine.uploaded(), down = engine.downloaded();
  for (TimePoint next = now() + kTick;; next += kTick) {
    const Status waited = co_await push.wait(next, nullptr);
    if (!waited.ok()) co_return;
    const uint64_t up_now = engine.uploaded(), down_now = engine.downloaded();
    const std::string json = traffic_json(up_now - up, down_now - down, up_now, down_now);
    up = up_now;
    down = down_now;
    const Status sent = co_await push.send(json);
    if (!sent.ok()) co_return;
    if (next < now() - kTick) next = now();  // a slow client is not caught up with
  }
}

Task<void> push_memory(Push& push) {
  // The first value is 0: clients draw from it (mihomo's behaviour).
  uint64_t in_use = 0;
  for (TimePoint next = now() + kTick;; next += kTick) {
    const std::string json = memory_json(in_use);
    const Status sent = co_await push.send(json);
    if (!sent.ok()) co_return;
    const Status waited = co_await push.wait(next, nullptr);
    if (!waited.ok()) co_return;
    in_use = resident_memory();
    if (next < now() - kTick) next = now();
  }
}

Task<void> push_connections(SharedListings& listings, Push& push, Duration interval) {
  const SharedListings::Subscription subscription(listings);
  for (;;) {
    const Status sent = co_await listings.send(push, interval, now() + Controller::kWriteTime);
    if (!sent.ok()) co_return;
    // One that took longer passes over what came meanwhile.
    const Status waited = co_await push.wait(SharedListings::next_tick(now(), interval), nullptr);
    if (!waited.ok()) co_return;
  }
}

std::string log_json(const LogFeed::Line& line, bool structured) {
  std::string out;
  JsonWriter w(out);
  if (structured) {
    w.begin_object()
        .field("time", rfc3339(line.when).substr(11, 8))
        .field("level", log::name(line.level));
    w.field("message", line.text).key("fields").begin_array().end_array().end_object();
  } else {
    w.begin_object().field("type", log::name(line.level)).field("payload", line.text).end_object();
  }
  return out;
}

Task<void> push_logs(rt::Worker& control, Push& push, log::Level level, bool structured) {
  auto feed = std::make_shared<LogFeed>(control);
  if (!log::add_sink(feed.get(), level)) co_return;  // as many listeners as there may be
  Status status;
  while (status.ok()) {
    LogFeed::Line line;
    while (status.ok() && feed->take(line)) {
      const std::string json = log_json(line, structured);
      status = co_await push.send(json);
    }
    if (status.ok()) status = co_await push.wait(kNever, &feed->arrived());
  }
  feed->detach();
}

}  // namespace

std::optional<FeedRequest> parse_feed_request(Feed feed, std::string_view query) {
  const int64_t interval = interval_of(query);
  const std::optional<log::Level> level = level_of(query);
  if (interval < 0 || !level) return std::nullopt;
  const auto form = wire::query_value(query, "format");
  return FeedRequest{feed, std::chrono::milliseconds(interval), *level,
                     form && *form == "structured"};
}

Task<void> run_feed(ControllerState& state, Push& push, FeedRequest request) {
  engine::Engine& engine = *state.parts.engine;
  switch (request.feed) {
    case Feed::kNone:
      break;
    case Feed::kTraffic:
      co_await push_traffic(engine, push);
      break;
    case Feed::kMemory:
      co_await push_memory(push);
      break;
    case Feed::kLogs:
      co_await push_logs(engine.control(), push, request.level, request.structured);
      break;
    case Feed::kConnections:
      co_await push_connections(state.listings, push, request.interval);
      break;
  }
}

}  // namespace culvert::api
