#include "engine/delay.h"

#include <algorithm>
#include <charconv>

#include "base/format.h"
#include "engine/engine.h"
#include "rt/await.h"
#include "transport/http1/head_reader.h"
#include "wire/http1.h"

namespace culvert::engine {

using rt::Task;

namespace {

constexpr int kMinStatus = 100, kMaxStatus = 599;

// What a worker needs and what it says.
struct Probe {
  explicit Probe(rt::Worker& c) : control(c) {}
  rt::Worker& control;
  std::shared_ptr<Node> node;
  std::string host;
  uint16_t port = 80;
  std::string request;
  bool unified = false;
  TimePoint deadline;
  // The answer.
  Status status;
  int http_status = 0;
  Duration took{};
  rt::Signal done;
};

Task<Result<int>> ask(flow::Stream& stream, transport::HeadReader& reader, const Probe& probe) {
  const Status written = co_await rt::write_all(stream, as_bytes(probe.request), probe.deadline);
  if (!written.ok()) co_return written.error();
  const Result<Bytes> raw = co_await reader.read(probe.deadline);
  if (!raw.ok()) co_return raw.error();
  wire::HttpHead head;
  if (reader.error() != wire::HttpError::kNone ||
      wire::parse_response_head(*raw, head) != wire::HttpError::kNone) {
    co_return Error(Errc::kBadMessage, Side::kUpstream);
  }
  co_return head.status;
}

Task<void> run_probe(std::shared_ptr<Probe> probe) {
  rt::Worker& worker = rt::Worker::here();
  flow::FlowMeta meta;
  meta.destination.port = probe->port;
  if (const auto ip = IpAddress::parse(probe->host)) {
    meta.destination.ip = *ip;
  } else {
    meta.set_host(probe->host);
  }
  // The user asked for this address, not some client.
  meta.source.ip = IpAddress::v4(0x7F000001);
  meta.inbound_type = flow::InboundType::kInner;
  TimePoint begun = worker.backend().clock().now();
  Result<flow::StreamPtr> stream = co_await probe->node->outbound->dial(meta, probe->deadline);
  Result<int> answer = stream.ok() ? Result<int>(0) : Result<int>(stream.error());
  if (stream.ok()) {
    transport::HeadReader reader(**stream);
    answer = co_await ask(**stream, reader, *probe);
    if (probe->unified && answer.ok()) {
      const TimePoint again = worker.backend().clock().now();
      const Result<int> second = co_await ask(**stream, reader, *probe);
      // One that closes after its first answer has been measured all the same.
      if (second.ok()) begun = again;
    }
  }
  probe->took = worker.backend().clock().now() - begun;
  if (answer.ok()) {
    probe->http_status = *answer;
  } else {
    probe->status = answer.error();
  }
  probe->control.post([probe] { probe->done.raise(); });
}

}  // namespace

std::optional<ExpectedStatus> ExpectedStatus::parse(std::string_view text) {
  ExpectedStatus out;
  if (text.empty() || text == "*") return out;
  const auto number = [](std::string_view part) -> int {
    int v = 0;
    const auto [end, ec] = std::from_chars(part.data(), part.data() + part.size(), v);
    const bool whole = ec == std::errc() && end == part.data() + part.size() && !part.empty();
    return whole && v >= kMinStatus && v <= kMaxStatus ? v : -1;
  };
  for (;;) {
    const size_t slash = text.find_first_of("/,");
    const std::string_view part = text.substr(0, slash);
    const size_t dash = part.find('-');
    const int low = number(part.substr(0, dash));
    const int high = dash == std::string_view::npos ? low : number(part.substr(dash + 1));
    if (low < 0 || high < low) return std::nullopt;
    out.ranges_.emplace_back(low, high);
    if (slash == std::string_view::npos) return out;
    text.remove_prefix(slash + 1);
  }
}

bool ExpectedStatus::contains(int status) const {
  return ranges_.empty() || std::ranges::any_of(ranges_, [&](const auto& range) {
           return status >= range.first && status <= range.second;
         });
}

void DelayBook::put(State& state, DelayRecord record, bool alive) {
  state.alive = alive;
  state.history.push_back(record);
  if (state.history.size() > kHistory) state.history.pop_front();
}

void DelayBook::add(std::string_view url, DelayRecord record, bool unexpected) {
  put(overall_, record, record.milliseconds != 0);
  if (by_url_.find(url) == by_url_.end() && by_url_.size() >= kUrls) {
    by_url_.erase(std::ranges::min_element(
        by_url_, {}, [](const auto& entry) { return entry.second.history.back().when; }));
  }
  if (unexpected) record.milliseconds = 0;
  put(by_url_.try_emplace(std::string(url)).first->second, record, record.milliseconds != 0);
}

Status check_delay_url(std::string_view url) {
  const auto target = wire::parse_absolute_target(url);
  if (!target) return Errc::kInvalid;
  return target->https ? Status(Errc::kUnsupported) : Status();
}

Task<Result<uint32_t>> measure_delay(Engine& engine, std::shared_ptr<Node> node, DelayTest test) {
  const auto target = wire::parse_absolute_target(test.url);
  if (!target) co_return Errc::kInvalid;
  if (target->https) co_return Errc::kUnsupported;
  rt::Worker& control = engine.control();
  auto probe = std::make_shared<Probe>(control);
  probe->node = node;
  probe->host = target->to.host;
  probe->port = target->to.port.value_or(80);
  std::string path(target->path);
  if (path.empty() || path.front() != '/') path.insert(0, "/");
  probe->request = format("HEAD {} HTTP/1.1\r\nHost: {}\r\nUser-Agent: culvert/{}\r\n\r\n", path,
                          target->authority, CULVERT_VERSION);
  probe->unified = test.unified;
  probe->deadline = control.now() + test.timeout;
  // Where there is least to do.
  WorkerCore* core = &engine.core(0);
  for (size_t i = 1; i < engine.core_count(); ++i) {
    if (engine.core(i).worker().load() < core->worker().load()) core = &engine.core(i);
  }
  core->worker().post([core, probe] { core->scope().spawn("delay test", run_probe(probe)); });
  // The worker keeps to the deadline too; this is for one that is held up.
  const Status waited = co_await probe->done.wait(probe->deadline + std::chrono::milliseconds(50));
  Status status = waited.ok() ? probe->status : waited;
  if (status.code() == Errc::kCancelled) co_return status.error();
  DelayRecord record{control.backend().clock().wall(), 0};
  if (!status.ok()) {
    node->delays.add(test.url, record, false);
    co_return status.error();
  }
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(probe->took).count();
  record.milliseconds = static_cast<uint32_t>(std::max<int64_t>(ms, 1));
  const bool expected = test.expected.contains(probe->http_status);
  node->delays.add(test.url, record, !expected);
  if (!expected) co_return Error(Errc::kRejected, Side::kUpstream);
  co_return record.milliseconds;
}

}  // namespace culvert::engine
