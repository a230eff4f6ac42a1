#include "protocol/http/inbound.h"

#include <optional>

#include "base/log.h"
#include "protocol/http/exchange.h"
#include "protocol/http/outbound.h"
#include "rt/worker.h"
#include "transport/http1/head_reader.h"
#include "transport/http1/linger.h"
#include "wire/base64.h"
#include "wire/http1.h"

namespace culvert::protocol::http {
namespace {

using flow::StreamPtr;
using rt::Task;
using wire::HttpError;
using wire::HttpHead;

// How long a kept-alive connection may wait for its next request.
constexpr Duration kKeepAliveIdle = std::chrono::seconds(60);
// A client may take this long to take a short answer.
constexpr Duration kReplyTime = std::chrono::seconds(5);

int status_for(const Error& error) {
  switch (error.code) {
    case Errc::kRejected:
      return 403;
    case Errc::kTimedOut:
      return 504;
    case Errc::kBadMessage:
      return 400;
    default:
      return 502;
  }
}

// RFC 9110 section 9.2.2: what a proxy may send twice.
bool is_idempotent(std::string_view method) {
  return method == "GET" || method == "HEAD" || method == "OPTIONS" || method == "TRACE" ||
         method == "PUT" || method == "DELETE";
}

class Session {
 public:
  Session(StreamPtr stream, const flow::AcceptInfo& info, flow::FlowSink& sink)
      : stream_(std::move(stream)), info_(info), sink_(sink), reader_(*stream_) {}

  Task<void> run() {
    TimePoint deadline = info_.deadline;
    for (bool first = true;; first = false) {
      const Result<Bytes> raw = co_await reader_.read(deadline);
      if (!raw.ok()) {
        // Leaving between requests, or saying nothing at all, is nobody's fault.
        const bool quiet = reader_.idle() && raw.code() != Errc::kTimedOut;
        if (!quiet && raw.code() != Errc::kCancelled && (first || !reader_.idle())) {
          CULVERT_LOG_SAMPLED(kWarning, "[HTTP] {}: no request: {}", info_.source.to_string(),
                              describe(raw.code()));
        }
        co_return;
      }
      HttpHead head;
      HttpError error = reader_.error();
      if (error == HttpError::kNone) error = wire::parse_request_head(*raw, head);
      if (error != HttpError::kNone) {
        co_await refuse(static_cast<int>(error));
        co_return;
      }
      const bool more = co_await serve(head);
      if (!more) co_return;
      deadline = rt::Worker::here().now() + kKeepAliveIdle;
    }
  }

 private:
  // False when the connection is over or was handed on.
  Task<bool> serve(const HttpHead& head) {
    head_request_ = head.method == "HEAD";
    // Clients leave Host out where the target names the host, in CONNECT above all, and lose
    // nothing by it: the target comes first, and the origin gets a Host made from it. In origin
    // form the request is none (RFC 9112 section 3.2), whoever sent it.
    if (head.target.front() == '/' && wire::lacks_host(head)) {
      co_await refuse(400);
      co_return false;
    }
    uint32_t user = flow::kNoUser;
    if (!authorize(head, user)) {
      // The body, if any, was not asked for: only a request without one leaves the connection
      // usable.
      const wire::BodyFraming body = wire::request_framing(head);
      const bool keep = stays(head) && body.error == HttpError::kNone &&
                        body.kind == wire::BodyFraming::Kind::kNone;
      co_return co_await answer(407, "Proxy-Authenticate: Basic realm=\"culvert\"\r\n", keep);
    }
    if (head.method == "CONNECT") {
      co_await tunnel(head, user);
      co_return false;
    }
    const auto target = wire::parse_absolute_target(head.target);
    if (!target || target->https) {
      // Origin form is for servers, and https needs a tunnel.
      co_await refuse(400);
      co_return false;
    }
    co_return co_await forward(head, *target, user);
  }

  // Whether the connection stays after an answer of ours. HTTP/1.0 would have to be told so, and
  // ends instead.
  static bool stays(const HttpHead& head) { return head.minor >= 1 && wire::keeps_alive(head); }

  bool authorize(const HttpHead& head, uint32_t& user) const {
    const wire::HttpField* field = head.find("proxy-authorization");
    if (field != nullptr && field->value.size() > 6 &&
        wire::equal_ignoring_case(field->value.substr(0, 6), "basic ")) {
      const auto pair = wire::decode_base64(field->value.substr(6));
      const size_t colon = pair ? pair->find(':') : std::string::npos;
      if (colon != std::string::npos) {
        const std::string_view text(*pair);
        if (const auto id =
                sink_.authenticator(info_).check(text.substr(0, colon), text.substr(colon + 1))) {
          user = *id;
          return true;
        }
      }
    }
    return !sink_.authenticator(info_).required(info_.source.ip);
  }

  flow::FlowMeta meta_of(const wire::Authority& to, uint16_t port, flow::InboundType type,
                         uint32_t user) const {
    flow::FlowMeta meta;
    meta.source = info_.source;
    meta.destination.port = port;
    meta.set_host(to.host);
    meta.inbound_type = type;
    meta.inbound_port = info_.inbound_port;
    meta.inbound = info_.inbound;
    meta.user = user;
    return meta;
  }

  Task<void> tunnel(const HttpHead& head, uint32_t user) {
    const auto to = wire::parse_authority(head.target);
    const wire::BodyFraming body = wire::request_framing(head);
    if (!to || !to->port || body.error != HttpError::kNone) {
      co_await refuse(400);
      co_return;
    }
    flow::FlowMeta meta = meta_of(*to, *to->port, flow::InboundType::kHttps, user);
    Result<flow::Upstream> upstream = co_await sink_.open(meta);
    if (!upstream.ok()) {
      if (upstream.code() == Errc::kRejected && upstream.error().retry) co_return;
      co_await refuse(status_for(upstream.error()));
      co_return;
    }
    static constexpr std::string_view kEstablished = "HTTP/1.1 200 Connection established\r\n\r\n";
    const TimePoint soon = rt::Worker::here().now() + kReplyTime;
    const Status written = co_await rt::write_all(*stream_, as_bytes(kEstablished), soon);
    if (!written.ok()) co_return;
    reader_.forget();
    sink_.relay(std::move(stream_), *std::move(upstream));
  }

  Task<bool> forward(const HttpHead& head, const wire::AbsoluteTarget& target, uint32_t user) {
    ExchangeRequest request;
    request.body = wire::request_framing(head);
    if (request.body.error != HttpError::kNone) {
      co_await refuse(static_cast<int>(request.body.error));
      co_return false;
    }
    request.head = rewrite_request(head, target);
    request.is_head = head.method == "HEAD";
    request.keep_alive = wire::keeps_alive(head);
    request.upgrade = asks_upgrade(head);
    request.minor = head.minor;
    const std::string key(target.authority);
    const uint16_t port = target.to.port.value_or(80);

    // One upstream is kept while requests go to the same place for the same user. A kept one may
    // have been closed meanwhile: a request without a body is then sent once more on a new one, if
    // its method allows.
    const bool body = request.body.kind != wire::BodyFraming::Kind::kNone;
    for (bool reused = keeps_upstream(key, user);; reused = false) {
      if (!reused) {
        upstream_.reset();
        flow::FlowMeta meta = meta_of(target.to, port, flow::InboundType::kHttp, user);
        Result<flow::Upstream> opened = co_await sink_.open(meta);
        if (!opened.ok()) {
          if (opened.code() == Errc::kRejected && opened.error().retry) co_return false;
          co_return co_await answer(status_for(opened.error()), "", stays(head) && !body);
        }
        upstream_ = *std::move(opened);
        // Between two exchanges it is only this connection that is kept.
        upstream_->tracker->carrier = &upstream_;
        upstream_->tracker->interrupt = [](flow::FlowTracker& t) {
          auto& kept = *static_cast<std::optional<flow::Upstream>*>(t.carrier);
          kept->stream->abort();
          kept.reset();
        };
        upstream_key_ = key;
        upstream_user_ = user;
      }
      const Outcome outcome = co_await run_exchange(*stream_, *upstream_, request);
      switch (outcome) {
        case Outcome::kReusable:
          co_return true;
        case Outcome::kClientOnly:
          upstream_.reset();
          co_return true;
        case Outcome::kFinished:
          upstream_.reset();
          co_await transport::linger_and_close(*stream_);
          co_return false;
        case Outcome::kUpgraded:
          reader_.forget();
          upstream_->tracker->interrupt = nullptr;
          sink_.relay(std::move(stream_), *std::move(upstream_));
          co_return false;
        case Outcome::kNoAnswer:
          if (reused && !body && is_idempotent(head.method)) continue;
          upstream_.reset();
          co_return co_await answer(502, "", stays(head) && !body);
        case Outcome::kBroken:
          // The client must see that what it has is not all.
          upstream_->stream->abort();
          upstream_.reset();
          stream_->abort();
          co_return false;
      }
    }
  }

  // Whether the kept upstream leads there and is as quiet as an idle connection has to be: one that
  // ended is of no use, and what an origin says unasked must not be taken for the next answer.
  bool keeps_upstream(std::string_view key, uint32_t user) {
    return upstream_ && key == upstream_key_ && user == upstream_user_ &&
           upstream_->stream->lend().code() == Errc::kWouldBlock;
  }

  Task<bool> answer(int status, std::string_view fields, bool keep_alive) {
    std::string text =
        wire::serialize_response(status, fields, wire::reason_phrase(status), keep_alive);
    if (head_request_) text.resize(text.find("\r\n\r\n") + 4);
    const TimePoint soon = rt::Worker::here().now() + kReplyTime;
    const Status written = co_await rt::write_all(*stream_, as_bytes(text), soon);
    if (!keep_alive || !written.ok()) co_await transport::linger_and_close(*stream_);
    co_return keep_alive&& written.ok();
  }
  Task<void> refuse(int status) {
    const bool more = co_await answer(status, "", false);
    (void)more;
  }

  StreamPtr stream_;
  const flow::AcceptInfo& info_;
  flow::FlowSink& sink_;
  transport::HeadReader reader_;
  std::optional<flow::Upstream> upstream_;
  std::string upstream_key_;
  bool head_request_ = false;  // its answers have no body (RFC 9110 section 9.3.2)
  uint32_t upstream_user_ = flow::kNoUser;
};

class HttpInbound final : public flow::Inbound {
 public:
  Task<void> serve(StreamPtr stream, flow::AcceptInfo info, flow::FlowSink& sink) override {
    Session session(std::move(stream), info, sink);
    co_await session.run();
  }
};

}  // namespace

std::unique_ptr<flow::Inbound> make_inbound(const flow::Options*, const flow::BuildContext&) {
  return std::make_unique<HttpInbound>();
}

void register_protocol(flow::Registry& registry) {
  registry.add(flow::InboundKind{.name = "http", .make = &make_inbound});
  registry.add(flow::OutboundKind{.name = "http", .read = &read_outbound, .make = &make_outbound});
}

}  // namespace culvert::protocol::http
