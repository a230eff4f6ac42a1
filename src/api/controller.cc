#include "api/controller.h"

#include <algorithm>
#include <charconv>
#include <cstring>

#include "api/access.h"
#include "api/connections_text.h"
#include "api/json_writer.h"
#include "api/log_feed.h"
#include "api/push.h"
#include "api/views.h"
#include "base/format.h"
#include "base/log.h"
#include "rt/await.h"
#include "transport/http1/head_reader.h"
#include "transport/http1/linger.h"
#include "wire/url.h"

namespace culvert::api {

using flow::StreamPtr;
using flow::Task;
using wire::HttpHead;

namespace {

constexpr Duration kTick = std::chrono::seconds(1);
constexpr int64_t kMinInterval = 100;  // milliseconds
constexpr int64_t kMaxInterval = 600'000;

std::string message_json(std::string_view text) {
  std::string out;
  JsonWriter(out).begin_object().field("message", text).end_object();
  return out;
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

}  // namespace

// ---------------------------------------------------------------- one client

class Controller::Session {
 public:
  Session(Controller& controller, StreamPtr stream)
      : controller_(controller), engine_(controller.engine_), stream_(std::move(stream)) {}

  Task<void> run() {
    transport::HeadReader reader(*stream_);
    TimePoint deadline = now() + controller_.options_.head_time;
    for (;;) {
      const Result<Bytes> raw = co_await reader.read(deadline);
      if (!raw.ok()) co_return;
      HttpHead head;
      wire::HttpError error = reader.error();
      if (error == wire::HttpError::kNone) error = wire::parse_request_head(*raw, head);
      if (error == wire::HttpError::kNone && wire::lacks_host(head))
        error = wire::HttpError::kBadRequest;
      if (error != wire::HttpError::kNone) {
        const Status sent = co_await answer(static_cast<int>(error), "", "", false);
        (void)sent;
        co_return;
      }
      const bool more = co_await serve(head);
      if (!more) co_return;
      deadline = now() + kKeepAlive;
    }
  }

 private:
  static TimePoint now() { return rt::Worker::here().now(); }

  AccessRules rules() const {
    const Options& o = controller_.options_;
    return {o.secret, &o.allow_origins, o.allow_private_network};
  }

  Task<Status> answer(int status, std::string_view fields, std::string_view json, bool keep_alive) {
    std::string all(fields);
    if (!json.empty()) all += "Content-Type: application/json\r\n";
    if (keep_alive && http10_) all += "Connection: keep-alive\r\n";
    std::string text = wire::serialize_response(status, all, json, keep_alive);
    if (head_request_) text.resize(text.find("\r\n\r\n") + 4);
    const Status sent = co_await rt::write_all(*stream_, as_bytes(text), now() + kWriteTime);
    if (sent.ok() && !keep_alive) co_await transport::linger_and_close(*stream_);
    co_return sent;
  }

  // True when the connection may carry another request.
  Task<bool> serve(const HttpHead& head) {
    head_request_ = head.method == "HEAD";
    http10_ = head.minor == 0;
    const wire::PathAndQuery target = wire::split_target(head.target);
    const wire::BodyFraming body = wire::request_framing(head);
    const std::string cors = cors_fields(head, rules());
    // No route takes a body: what one sends is refused or left unread, and the connection ends.
    bool keep = wire::keeps_alive(head) && body.kind == wire::BodyFraming::Kind::kNone;
    int refusal = 0;
    if (body.error != wire::HttpError::kNone) refusal = static_cast<int>(body.error);
    if (body.kind == wire::BodyFraming::Kind::kLength && body.length > kMaxBody) refusal = 413;
    if (refusal != 0) {
      const std::string text = message_json("Body invalid");
      const Status sent = co_await answer(refusal, cors, text, false);
      (void)sent;
      co_return false;
    }
    if (head.method == "OPTIONS") {
      const Status sent = co_await answer(204, cors, "", keep);
      co_return keep&& sent.ok();
    }
    std::string_view key;
    const wire::WsUpgrade upgrade = wire::ws_upgrade(head, key);
    const bool asked = upgrade != wire::WsUpgrade::kNone;
    if (const int denied = check_access(head, target.query, asked, rules()); denied != 0) {
      const std::string text = message_json(denied == 401 ? "Unauthorized" : "Forbidden");
      const Status sent = co_await answer(denied, cors, text, keep);
      co_return keep&& sent.ok();
    }
    const bool known = target.path == "/" || target.path == "/version" ||
                       target.path == "/connections" || target.path == "/traffic" ||
                       target.path == "/memory" || target.path == "/logs";
    if (!known || head.method != "GET") {
      const std::string text = message_json(known ? "Method not allowed" : "Resource not found");
      const std::string fields = known ? cors + "Allow: GET\r\n" : cors;
      const Status sent = co_await answer(known ? 405 : 404, fields, text, keep);
      co_return keep&& sent.ok();
    }
    const bool streams =
        target.path == "/traffic" || target.path == "/memory" || target.path == "/logs";
    if (streams || (target.path == "/connections" && asked)) {
      if (asked && upgrade != wire::WsUpgrade::kProper) {
        co_return co_await refuse_upgrade(upgrade, cors, keep);
      }
      Push push(*stream_, key, head.minor >= 1);
      co_await stream(push, target, cors);
      co_return false;
    }
    if (target.path == "/connections") co_return co_await answer_connections(cors, keep);
    std::string json;
    if (target.path == "/") {
      json = R"({"hello":"mihomo"})";
    } else {
      JsonWriter(json)
          .begin_object()
          .key("meta")
          .boolean(true)
          .field("version", CULVERT_VERSION)
          .end_object();
    }
    const Status sent = co_await answer(200, cors, json, keep);
    co_return keep&& sent.ok();
  }

  // Few flows are answered like anything else; more than a piece of text are sent as they come, in
  // chunks, or to a client of HTTP/1.0 up to the end of the connection.
  Task<bool> answer_connections(std::string_view cors, bool keep) {
    const TimePoint deadline = now() + kWriteTime;
    ConnectionsText text(engine_);
    Status status = co_await text.next(deadline);
    if (!status.ok()) co_return false;
    if (text.complete()) {
      const Status sent = co_await answer(200, cors, text.piece(), keep);
      co_return sent.ok() && keep;
    }
    const bool chunked = !http10_;
    keep = keep && chunked;
    std::string head = "HTTP/1.1 200 OK\r\n";
    head += cors;
    head += "Content-Type: application/json\r\n";
    if (chunked) head += "Transfer-Encoding: chunked\r\n";
    if (!keep) head += "Connection: close\r\n";
    head += "\r\n";
    for (;;) {
      std::string_view tail;
      if (chunked) {
        head += format("{:x}\r\n", text.piece().size());
        tail = text.complete() ? "\r\n0\r\n\r\n" : "\r\n";
      }
      status = co_await write_around(*stream_, head, text.piece(), tail, deadline);
      if (!status.ok() || text.complete()) break;
      head.clear();
      status = co_await text.next(deadline);
      if (!status.ok()) break;
    }
    // An end in order would tell a client that counts no chunks that it has everything.
    if (!status.ok()) {
      stream_->abort();
    } else if (!keep) {
      co_await transport::linger_and_close(*stream_);
    }
    co_return status.ok() && keep;
  }

  // RFC 6455 sections 4.2.2 and 4.4; Upgrade goes with a 426 (RFC 9110 section 15.5.22).
  Task<bool> refuse_upgrade(wire::WsUpgrade upgrade, std::string cors, bool keep) {
    const bool other = upgrade == wire::WsUpgrade::kOtherVersion;
    if (other) {
      cors += "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n";
    }
    const std::string text = message_json(other ? "Upgrade required" : "Bad WebSocket handshake");
    const Status sent = co_await answer(other ? 426 : 400, cors, text, keep);
    co_return sent.ok() && keep;
  }

  Task<void> stream(Push& push, const wire::PathAndQuery& target, std::string_view cors) {
    const int64_t interval = interval_of(target.query);
    const std::optional<log::Level> level = level_of(target.query);
    if (interval < 0 || !level) {
      const std::string text = message_json("Body invalid");
      const Status sent = co_await answer(400, cors, text, false);
      (void)sent;
      co_return;
    }
    const Status begun = co_await push.begin(cors);
    if (!begun.ok()) co_return;
    rt::Scope* outer = co_await rt::CurrentScope();
    rt::Scope listening(outer);
    listening.spawn("api listen", push.listen());
    if (target.path == "/traffic") {
      co_await push_traffic(push);
    } else if (target.path == "/memory") {
      co_await push_memory(push);
    } else if (target.path == "/logs") {
      const auto format_word = wire::query_value(target.query, "format");
      co_await push_logs(push, *level, format_word && *format_word == "structured");
    } else {
      co_await push_connections(push, std::chrono::milliseconds(interval));
    }
    listening.cancel();
    co_await listening.join();
    co_await push.end();
  }

  Task<void> push_traffic(Push& push) {
    uint64_t up = engine_.uploaded(), down = engine_.downloaded();
    for (TimePoint next = now() + kTick;; next += kTick) {
      const Status waited = co_await push.wait(next, nullptr);
      if (!waited.ok()) co_return;
      const uint64_t up_now = engine_.uploaded(), down_now = engine_.downloaded();
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

  Task<void> push_connections(Push& push, Duration interval) {
    for (TimePoint next = now() + interval;; next = now() + interval) {
      const Status sent = co_await send_connections(push, engine_, now() + kWriteTime);
      if (!sent.ok()) co_return;
      const Status waited = co_await push.wait(next, nullptr);
      if (!waited.ok()) co_return;
    }
  }

  Task<void> push_logs(Push& push, log::Level level, bool structured) {
    auto feed = std::make_shared<LogFeed>(engine_.control());
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

  static std::string log_json(const LogFeed::Line& line, bool structured) {
    std::string out;
    JsonWriter w(out);
    if (structured) {
      w.begin_object()
          .field("time", rfc3339(line.when).substr(11, 8))
          .field("level", log::name(line.level));
      w.field("message", line.text).key("fields").begin_array().end_array().end_object();
    } else {
      w.begin_object()
          .field("type", log::name(line.level))
          .field("payload", line.text)
          .end_object();
    }
    return out;
  }

  Controller& controller_;
  engine::Engine& engine_;
  StreamPtr stream_;
  bool head_request_ = false;  // its answers have no body (RFC 9110 section 9.3.2)
  bool http10_ = false;        // takes silence about the connection for its end
};

// ---------------------------------------------------------------- accepting

class Controller::Gate final : public rt::Acceptor {
 public:
  explicit Gate(Controller& controller) : controller_(controller) {}
  void accepted(rt::AcceptedSocket socket) override {
    if (controller_.scope_.running() >= kMaxClients || controller_.scope_.cancelled()) {
      CULVERT_LOG_SAMPLED(kWarning, "controller: more than {} connections, one refused",
                          kMaxClients);
      return;
    }
    auto stream = rt::Worker::here().backend().adopt(std::move(socket));
    if (!stream.ok()) return;
    controller_.scope_.spawn("api session", serve(controller_, *std::move(stream)));
  }
  std::unique_ptr<rt::Listener> listener;

 private:
  static Task<void> serve(Controller& controller, StreamPtr stream) {
    Session session(controller, std::move(stream));
    co_await session.run();
  }
  Controller& controller_;
};

Controller::Controller(Parts parts, Options options)
    : parts_(std::move(parts)),
      engine_(*parts_.engine),
      options_(std::move(options)),
      scope_(&engine_.control().scope()) {}

Controller::~Controller() {
  stop();
  while (scope_.running() != 0) engine_.control().turn(TimePoint::min());
}

Status Controller::start() {
  const Status opened = open();
  if (!opened.ok()) {
    const int e = opened.error().os_errno;
    CULVERT_LOG(kError, "External controller listen error: {}",
                e != 0 ? std::string_view(std::strerror(e)) : describe(opened.code()));
  }
  return opened;
}

void Controller::change(Options options) {
  const bool moved = options.listen != options_.listen || options.secret != options_.secret;
  options_ = std::move(options);
  if (!moved) return;
  gate_.reset();
  const Status opened = start();
  (void)opened;
}

Status Controller::open() {
  if (!options_.listen) return {};
  if (options_.secret.empty() && !options_.listen->ip.is_loopback()) {
    CULVERT_LOG(
        kError,
        "external-controller {} is not opened: it has no secret and is reachable from other hosts",
        options_.listen->to_string());
    return {};
  }
  auto gate = std::make_unique<Gate>(*this);
  auto listener =
      engine_.control().backend().listen(*options_.listen, {.reuse_port = false}, *gate);
  if (!listener.ok()) return listener.error();
  gate->listener = *std::move(listener);
  gate_ = std::move(gate);
  CULVERT_LOG(kInfo, "RESTful API listening at: {}", gate_->listener->local().to_string());
  return {};
}

std::optional<Endpoint> Controller::listening_at() const {
  if (gate_ == nullptr) return std::nullopt;
  return gate_->listener->local();
}

void Controller::stop_accepting() {
  gate_.reset();
}

void Controller::stop() {
  gate_.reset();
  scope_.cancel();
}

}  // namespace culvert::api
