#include "api/session.h"

#include <memory>

#include "api/body.h"
#include "api/path.h"
#include "api/push.h"
#include "base/format.h"
#include "rt/await.h"
#include "transport/http1/head_reader.h"
#include "transport/http1/linger.h"
#include "wire/websocket.h"

namespace culvert::api {

using flow::Task;
using wire::HttpHead;

Task<void> Session::run() {
  transport::HeadReader reader(*stream_);
  TimePoint deadline = now() + state_.options.head_time;
  for (;;) {
    const Result<Bytes> raw = co_await reader.read(deadline);
    if (!raw.ok()) co_return;
    HttpHead head;
    wire::HttpError error = reader.error();
    if (error == wire::HttpError::kNone) error = wire::parse_request_head(*raw, head);
    if (error == wire::HttpError::kNone && wire::lacks_host(head))
      error = wire::HttpError::kBadRequest;
    if (error != wire::HttpError::kNone) {
      const bool more = co_await answer(static_cast<int>(error), "", "", false);
      (void)more;
      co_return;
    }
    const bool more = co_await serve(head);
    if (!more) co_return;
    deadline = now() + Controller::kKeepAlive;
  }
}

AccessRules Session::rules() const {
  const Controller::Options& o = state_.options;
  return {o.secret, &o.allow_origins, o.allow_private_network};
}

Task<bool> Session::answer(int status, std::string_view fields, std::string_view json,
                           bool keep_alive) {
  std::string all(fields);
  if (!json.empty()) all += "Content-Type: application/json\r\n";
  if (keep_alive && http10_) all += "Connection: keep-alive\r\n";
  std::string text = wire::serialize_response(status, all, json, keep_alive);
  if (head_request_) text.resize(text.find("\r\n\r\n") + 4);
  const Status sent =
      co_await rt::write_all(*stream_, as_bytes(text), now() + Controller::kWriteTime);
  if (sent.ok() && !keep_alive) co_await transport::linger_and_close(*stream_);
  co_return sent.ok() && keep_alive;
}

Task<bool> Session::serve(const HttpHead& head) {
  head_request_ = head.method == "HEAD";
  http10_ = head.minor == 0;
  const wire::PathAndQuery target = wire::split_target(head.target);
  const wire::BodyFraming framing = wire::request_framing(head);
  const std::string cors = cors_fields(head, rules());
  const bool has_body = framing.kind != wire::BodyFraming::Kind::kNone;
  // What is refused keeps its body: the connection ends then.
  const bool keep = wire::keeps_alive(head);
  const bool keep_refused = keep && !has_body;
  int refusal = 0;
  if (framing.error != wire::HttpError::kNone) refusal = static_cast<int>(framing.error);
  if (framing.kind == wire::BodyFraming::Kind::kLength && framing.length > Controller::kMaxBody)
    refusal = 413;
  if (refusal != 0) {
    const std::string text = message_json("Body invalid");
    co_return co_await answer(refusal, cors, text, false);
  }
  if (head.method == "OPTIONS") co_return co_await answer(204, cors, "", keep_refused);
  if (is_file_path(target.path) && !state_.options.ui.empty()) {
    co_return co_await serve_file(head, target, keep_refused);
  }
  if (!trusted_) {
    std::string_view key;
    const bool upgrade = wire::ws_upgrade(head, key) != wire::WsUpgrade::kNone;
    if (const int denied = check_access(head, target.query, upgrade, rules()); denied != 0) {
      const std::string text = message_json(denied == 401 ? "Unauthorized" : "Forbidden");
      co_return co_await answer(denied, cors, text, keep_refused);
    }
  }
  co_return co_await serve_route(head, target, framing, cors, keep);
}

Task<bool> Session::serve_route(const HttpHead& head, const wire::PathAndQuery& target,
                                const wire::BodyFraming& framing, std::string_view cors,
                                bool keep) {
  const bool has_body = framing.kind != wire::BodyFraming::Kind::kNone;
  const bool keep_refused = keep && !has_body;
  Result<std::vector<std::string>> segments = split_path(target.path);
  if (segments.code() == Errc::kInvalid) {
    const std::string text = message_json("Body invalid");
    co_return co_await answer(400, cors, text, keep_refused);
  }
  Match match;
  if (segments.ok()) match = find_route(head.method, *std::move(segments));
  if (match.route == nullptr) {
    const bool known = !match.allowed.empty();
    const std::string text = message_json(known ? "Method not allowed" : "Resource not found");
    std::string fields(cors);
    if (known) fields += "Allow: " + match.allowed + "\r\n";
    co_return co_await answer(known ? 405 : 404, fields, text, keep_refused);
  }
  const Route& route = *match.route;
  if (route.feed != Feed::kNone) {
    std::string_view key;
    const wire::WsUpgrade upgrade = wire::ws_upgrade(head, key);
    const bool asked = upgrade != wire::WsUpgrade::kNone;
    if (asked || route.now == nullptr) {
      if (asked && upgrade != wire::WsUpgrade::kProper) {
        co_return co_await refuse_upgrade(upgrade, cors, keep_refused);
      }
      const std::optional<FeedRequest> request = parse_feed_request(route.feed, target.query);
      if (!request) {
        const std::string text = message_json("Body invalid");
        co_return co_await answer(400, cors, text, false);
      }
      co_return co_await serve_feed(*request, key, head.minor >= 1, cors);
    }
  }
  BodyReader reader(*stream_, state_.bodies);
  if (has_body) {
    const TimePoint deadline = now() + Controller::kBodyTime;
    if (head.minor >= 1 && head.has_token("expect", "100-continue")) {
      const Status sent =
          co_await rt::write_all(*stream_, as_bytes("HTTP/1.1 100 Continue\r\n\r\n"), deadline);
      if (!sent.ok()) co_return false;
    }
    const Status read = co_await reader.read(framing, Controller::kMaxBody, deadline);
    if (!read.ok()) {
      int status = 0;
      if (read.code() == Errc::kTooLarge) status = 413;
      if (read.code() == Errc::kBadMessage) status = 400;
      if (read.code() == Errc::kTimedOut) status = 408;
      if (read.code() == Errc::kExhausted) status = 503;
      if (status == 0) co_return false;
      const std::string text = message_json("Body invalid");
      co_return co_await answer(status, cors, text, false);
    }
  }
  Call call{state_, engine_, target.query, std::move(match.names), reader.body()};
  Reply reply;
  if (route.now != nullptr) {
    reply = route.now(call);
  } else {
    reply = co_await route.later(call);
  }
  std::string fields(cors);
  fields += reply.fields;
  bool more = false;
  if (reply.source != nullptr) {
    more = co_await answer_source(*reply.source, fields, keep);
  } else {
    more = co_await answer(reply.status, fields, reply.body, keep);
  }
  if (reply.after != nullptr) reply.after();
  co_return more;
}

// A short text is answered like anything else; more than a piece of it is sent as it comes, in
// chunks, or to a client of HTTP/1.0 up to the end of the connection.
Task<bool> Session::answer_source(TextSource& source, std::string_view fields, bool keep) {
  Status status = co_await source.next(now() + Controller::kWriteTime);
  if (!status.ok()) co_return false;
  if (source.complete()) co_return co_await answer(200, fields, source.piece(), keep);
  const bool chunked = !http10_;
  keep = keep && chunked;
  std::string head = "HTTP/1.1 200 OK\r\n";
  head += fields;
  head += "Content-Type: application/json\r\n";
  if (chunked) head += "Transfer-Encoding: chunked\r\n";
  if (!keep) head += "Connection: close\r\n";
  head += "\r\n";
  for (;;) {
    std::string_view tail;
    if (chunked) {
      head += format("{:x}\r\n", source.piece().size());
      tail = source.complete() ? "\r\n0\r\n\r\n" : "\r\n";
    }
    status =
        co_await write_around(*stream_, head, source.piece(), tail, now() + Controller::kWriteTime);
    if (!status.ok() || source.complete()) break;
    head.clear();
    status = co_await source.next(now() + Controller::kWriteTime);
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
Task<bool> Session::refuse_upgrade(wire::WsUpgrade upgrade, std::string_view cors, bool keep) {
  std::string fields(cors);
  const bool other = upgrade == wire::WsUpgrade::kOtherVersion;
  if (other) {
    fields += "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n";
  }
  const std::string text = message_json(other ? "Upgrade required" : "Bad WebSocket handshake");
  co_return co_await answer(other ? 426 : 400, fields, text, keep);
}

Task<bool> Session::serve_feed(const FeedRequest& request, std::string_view key, bool chunked,
                               std::string_view cors) {
  Push push(*stream_, key, chunked);
  const Status begun = co_await push.begin(cors);
  if (!begun.ok()) co_return false;
  rt::Scope* outer = co_await rt::CurrentScope();
  rt::Scope listening(outer);
  listening.spawn("api listen", push.listen());
  co_await run_feed(state_, push, request);
  listening.cancel();
  co_await listening.join();
  co_await push.end();
  co_return false;
}

Task<bool> Session::serve_file(const HttpHead& head, const wire::PathAndQuery& target, bool keep) {
  if (head.method != "GET" && head.method != "HEAD") {
    const std::string text = message_json("Method not allowed");
    co_return co_await answer(405, "Allow: GET, HEAD\r\n", text, keep);
  }
  const wire::HttpField* none_match = head.find("if-none-match");
  const wire::HttpField* since = head.find("if-modified-since");
  FileRequest request;
  request.folder = state_.options.ui;
  request.path = target.path;
  request.query = target.query;
  if (none_match != nullptr) request.none_match = none_match->value;
  if (since != nullptr && none_match == nullptr) request.modified_since = since->value;
  request.head = head_request_;
  request.http10 = http10_;
  request.keep = keep;
  Task<FileAnswer> finding = find_file(state_, std::move(request));
  FileAnswer file = co_await std::move(finding);
  Status status =
      co_await rt::write_all(*stream_, as_bytes(file.head()), now() + Controller::kWriteTime);
  const bool has_body = file.source() != nullptr && !head_request_;
  while (status.ok() && has_body && !file.source()->complete()) {
    status = co_await file.source()->next(now() + Controller::kWriteTime);
    if (!status.ok()) break;
    status = co_await rt::write_all(*stream_, as_bytes(file.source()->piece()),
                                    now() + Controller::kWriteTime);
  }
  if (!status.ok()) {
    stream_->abort();
  } else if (!keep) {
    co_await transport::linger_and_close(*stream_);
  }
  co_return status.ok() && keep;
}

}  // namespace culvert::api
