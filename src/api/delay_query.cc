#include "api/delay_query.h"

#include <algorithm>
#include <charconv>
#include <string>
#include <unordered_map>
#include <utility>

#include "api/json_writer.h"
#include "engine/engine.h"
#include "rt/await.h"
#include "wire/url.h"

namespace culvert::api {

using rt::Task;

namespace {

std::optional<Duration> parse_timeout(std::string_view query) {
  const auto text = wire::query_value(query, "timeout");
  if (!text) return std::nullopt;
  uint32_t ms = 0;
  const auto [end, ec] = std::from_chars(text->data(), text->data() + text->size(), ms);
  if (ec != std::errc() || end != text->data() + text->size() || ms == 0) return std::nullopt;
  return std::min<Duration>(std::chrono::milliseconds(ms), kMaxDelayTest);
}

Reply failed(const Error& error) {
  return error.code == Errc::kTimedOut ? failure(504, "Timeout")
                                       : failure(503, "An error occurred in the delay test");
}

// Several tests of different nodes, and what came of them.
struct GroupTest {
  engine::Engine& engine;
  engine::DelayTest test;
  TimePoint deadline;
  std::vector<std::shared_ptr<engine::Node>> nodes;
  std::vector<uint32_t> delays;  // of nodes; 0: none
  size_t next = 0;
};

Task<void> test_in_turn(GroupTest& all) {
  while (all.next < all.nodes.size()) {
    const size_t mine = all.next++;
    engine::DelayTest test = all.test;
    test.timeout = all.deadline - rt::Worker::here().now();
    if (test.timeout <= Duration::zero()) co_return;
    Task<Result<uint32_t>> measuring =
        engine::measure_delay(all.engine, all.nodes[mine], std::move(test));
    const Result<uint32_t> delay = co_await std::move(measuring);
    if (delay.code() == Errc::kCancelled) co_return;
    if (delay.ok()) all.delays[mine] = *delay;
  }
}

}  // namespace

std::optional<engine::DelayTest> parse_delay_query(std::string_view query, std::string_view url,
                                                   std::string_view expected, bool unified,
                                                   Reply& refusal) {
  engine::DelayTest test;
  const std::optional<std::string> asked = wire::query_value(query, "url");
  test.url = asked && !asked->empty() ? *asked : std::string(url);
  const std::optional<std::string> wanted = wire::query_value(query, "expected");
  const auto status =
      engine::ExpectedStatus::parse(wanted && !wanted->empty() ? *wanted : expected);
  const std::optional<Duration> timeout = parse_timeout(query);
  if (!status || !timeout) {
    refusal = bad_request();
    return std::nullopt;
  }
  const Status testable = engine::check_delay_url(test.url);
  if (testable.code() == Errc::kUnsupported) {
    refusal = failure(503, "A delay test of an https URL is not supported: use an http one");
    return std::nullopt;
  }
  if (!testable.ok()) {
    refusal = bad_request();
    return std::nullopt;
  }
  test.expected = *status;
  test.timeout = *timeout;
  test.unified = unified;
  return test;
}

Task<Reply> answer_delay(engine::Engine& engine,
                         std::shared_ptr<const engine::Generation> generation, uint32_t target,
                         engine::DelayTest test) {
  std::shared_ptr<engine::Node> node = generation->resolve(target).node;
  Task<Result<uint32_t>> measuring =
      engine::measure_delay(engine, std::move(node), std::move(test));
  const Result<uint32_t> delay = co_await std::move(measuring);
  if (!delay.ok()) co_return failed(delay.error());
  Reply reply;
  JsonWriter(reply.body).begin_object().field("delay", uint64_t{*delay}).end_object();
  co_return reply;
}

Task<Reply> answer_group_delay(engine::Engine& engine,
                               std::shared_ptr<const engine::Generation> generation,
                               std::vector<uint32_t> members, engine::DelayTest test) {
  GroupTest all{engine, std::move(test), {}, {}, {}, 0};
  all.deadline = rt::Worker::here().now() + all.test.timeout;
  std::unordered_map<const engine::Node*, size_t> known;
  std::vector<size_t> place;  // of each member's node
  for (const uint32_t member : members) {
    std::shared_ptr<engine::Node> node = generation->resolve(member).node;
    const auto [entry, fresh] = known.emplace(node.get(), all.nodes.size());
    place.push_back(entry->second);
    if (fresh) all.nodes.push_back(std::move(node));
  }
  all.delays.resize(all.nodes.size());
  rt::Scope* outer = co_await rt::CurrentScope();
  rt::Scope tests(outer);
  for (size_t i = 0; i < std::min(kTestsAtOnce, all.nodes.size()); ++i) {
    tests.spawn("delay tests", test_in_turn(all));
  }
  co_await tests.join();
  Reply reply;
  JsonWriter w(reply.body);
  w.begin_object();
  bool any = false;
  for (size_t i = 0; i < members.size(); ++i) {
    const uint32_t delay = all.delays[place[i]];
    if (delay == 0) continue;
    any = true;
    w.member(generation->target_name(members[i])).number(delay);
  }
  w.end_object();
  if (!any) co_return failure(504, "get delay: all proxies timeout");
  co_return reply;
}

}  // namespace culvert::api
