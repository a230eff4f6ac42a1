#include "transport/tcp/dial.h"

#include <algorithm>

#include "rt/worker.h"

namespace culvert::transport {

using flow::AddressList;
using flow::StreamPtr;
using rt::Task;

namespace {

struct Race {
  explicit Race(rt::Scope* parent) : scope(parent) {}
  rt::Scope scope;
  rt::Signal changed;  // an attempt ended
  StreamPtr winner;
  Error last_error{Errc::kUnreachable, Side::kUpstream};
  size_t running = 0;
};

Task<void> attempt(Race& race, Endpoint to, rt::ConnectOptions options, TimePoint deadline) {
  Result<StreamPtr> opened = co_await dial_one(to, options, deadline);
  --race.running;
  if (opened.ok()) {
    // A second winner is closed by its own end.
    if (race.winner == nullptr) race.winner = *std::move(opened);
  } else if (opened.code() != Errc::kCancelled) {
    race.last_error = opened.error();
  }
  race.changed.raise();
}

// Starts attempts until one wins or all have failed.
Task<Status> run_race(Race& race, AddressList addresses, uint16_t port, rt::ConnectOptions options,
                      Duration attempt_delay, TimePoint deadline) {
  size_t next = 0;
  while (race.winner == nullptr) {
    if (next < addresses.size()) {
      ++race.running;
      race.scope.spawn("dial attempt",
                       attempt(race, Endpoint(addresses.view()[next], port), options, deadline));
      ++next;
      if (race.winner != nullptr) break;
    } else if (race.running == 0) {
      co_return race.last_error;
    }
    const size_t running_before = race.running;
    const TimePoint wake = next < addresses.size()
                               ? std::min(deadline, rt::Worker::here().now() + attempt_delay)
                               : deadline;
    race.changed.reset();
    if (running_before == 0) continue;
    const Status waited = co_await race.changed.wait(wake);
    if (waited.code() == Errc::kCancelled) co_return waited.error();
    if (waited.code() == Errc::kTimedOut && wake == deadline) {
      co_return Error(Errc::kTimedOut, Side::kUpstream, true);
    }
  }
  co_return Status();
}

}  // namespace

AddressList interleave(const AddressList& addresses) {
  AddressList out;
  if (addresses.empty()) return out;
  const Family first = addresses.front().family;
  AddressList a, b;
  for (const IpAddress& ip : addresses.view()) (ip.family == first ? a : b).add(ip);
  for (size_t i = 0; i < std::max(a.size(), b.size()); ++i) {
    if (i < a.size()) out.add(a.view()[i]);
    if (i < b.size()) out.add(b.view()[i]);
  }
  return out;
}

Task<Result<StreamPtr>> dial_one(Endpoint to, rt::ConnectOptions options, TimePoint deadline) {
  Result<StreamPtr> stream = rt::Worker::here().backend().connect(to, options);
  if (!stream.ok()) co_return stream.error().from(Side::kUpstream);
  const Status opened = co_await rt::await_opened(**stream, deadline);
  if (!opened.ok()) co_return opened.error().from(Side::kUpstream);
  co_return std::move(*stream);
}

Task<Result<StreamPtr>> dial_any(AddressList addresses, uint16_t port, rt::ConnectOptions options,
                                 Duration attempt_delay, TimePoint deadline) {
  if (addresses.empty()) co_return Error(Errc::kNoName, Side::kUpstream);
  if (addresses.size() == 1) {
    co_return co_await dial_one(Endpoint(addresses.front(), port), options, deadline);
  }
  rt::Scope* outer = co_await rt::CurrentScope();
  Race race(outer);
  const Status outcome =
      co_await run_race(race, interleave(addresses), port, options, attempt_delay, deadline);
  race.scope.cancel();
  co_await race.scope.join();
  if (!outcome.ok()) co_return outcome.error();
  co_return std::move(race.winner);
}

}  // namespace culvert::transport
