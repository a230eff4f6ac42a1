#include "protocol/socks/inbound.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/log.h"
#include "protocol/socks/outbound.h"
#include "rt/worker.h"
#include "wire/socks.h"

namespace culvert::protocol::socks {
namespace {

using flow::StreamPtr;
using rt::Task;
using wire::Parse;
using wire::Socks5Reply;

Socks5Reply reply_for(const Error& error) {
  switch (error.code) {
    case Errc::kRejected:
      return Socks5Reply::kNotAllowed;
    case Errc::kUnreachable:
      return Socks5Reply::kNetworkUnreachable;
    case Errc::kNoName:
    case Errc::kTimedOut:
      return Socks5Reply::kHostUnreachable;
    case Errc::kRefused:
      return Socks5Reply::kRefused;
    default:
      return Socks5Reply::kGeneralFailure;
  }
}

// The bytes of a handshake that came in, in one piece: the longest message is a SOCKS4a request.
// Bytes beyond the message at hand stay unread in the stream.
class Handshake {
 public:
  Handshake(flow::Stream& stream, TimePoint deadline) : stream_(stream), deadline_(deadline) {}

  // Waits until `parse` finds a whole message (kDone), or something else than kNeedMore. The
  // message's views point into this object and stay valid until the next call.
  template <class Message>
  Task<Result<Parse>> next(Parse (*parse)(Bytes, Message&), Message* out) {
    used_ = 0;
    for (;;) {
      const Result<MutableBytes> bytes = co_await rt::read_some(stream_, deadline_);
      if (!bytes.ok()) co_return bytes.error();
      const size_t fresh = std::min(bytes->size(), kept_.size() - used_);
      std::memcpy(kept_.data() + used_, bytes->data(), fresh);
      const size_t before = used_;
      used_ += fresh;
      const Parse parsed = parse(Bytes(kept_).first(used_), *out);
      if (parsed == Parse::kDone) {
        stream_.consume(out->size - before);
        co_return parsed;
      }
      stream_.consume(fresh);
      if (parsed != Parse::kNeedMore) co_return parsed;
      if (used_ == kept_.size()) co_return Parse::kBad;
    }
  }

 private:
  flow::Stream& stream_;
  TimePoint deadline_;
  size_t used_ = 0;
  std::array<uint8_t, 8 + 2 * (wire::kMaxSocks4Text + 1)> kept_;
};

class SocksInbound final : public flow::Inbound {
 public:
  Task<void> serve(StreamPtr stream, flow::AcceptInfo info, flow::FlowSink& sink) override {
    const Result<MutableBytes> first = co_await rt::read_some(*stream, info.deadline);
    if (!first.ok()) {
      log_end(info, first.error());
      co_return;
    }
    const uint8_t version = (*first)[0];
    Status done;
    if (version == 5) {
      done = co_await serve5(stream, info, sink);
    } else if (version == 4) {
      done = co_await serve4(stream, info, sink);
    } else {
      done = Error(Errc::kBadMessage, Side::kClient);
    }
    if (!done.ok()) log_end(info, done.error());
  }

 private:
  static void log_end(const flow::AcceptInfo& info, const Error& error) {
    // A client that connects and leaves is not worth a line.
    if (error.code == Errc::kEndOfStream || error.code == Errc::kCancelled) return;
    CULVERT_LOG_SAMPLED(kWarning, "[SOCKS] {}: handshake failed: {}", info.source.to_string(),
                        describe(error.code));
  }

  static Task<Status> reply5(flow::Stream& stream, Socks5Reply reply, TimePoint deadline) {
    uint8_t raw[wire::kMaxSocksAddress];
    ByteWriter out(raw);
    wire::serialize_socks5_reply(out, reply, {});
    co_return co_await rt::write_all(stream, out.written(), deadline);
  }

  static flow::FlowMeta meta_of(const flow::AcceptInfo& info, flow::InboundType type,
                                const IpAddress& ip, std::string_view host, uint16_t port) {
    flow::FlowMeta meta;
    meta.source = info.source;
    meta.destination = Endpoint(ip, port);
    if (!host.empty()) meta.set_host(host);
    meta.inbound_type = type;
    meta.inbound_port = info.inbound_port;
    meta.inbound = info.inbound;
    return meta;
  }

  Task<Status> serve5(StreamPtr& stream, const flow::AcceptInfo& info, flow::FlowSink& sink) {
    Handshake handshake(*stream, info.deadline);
    wire::Socks5Greeting greeting;
    Result<Parse> parsed = co_await handshake.next(wire::parse_socks5_greeting, &greeting);
    if (!parsed.ok()) co_return parsed.error();
    if (*parsed != Parse::kDone) co_return Error(Errc::kBadMessage, Side::kClient);

    uint32_t user = flow::kNoUser;
    const bool required = sink.authenticator(info).required(info.source.ip);
    // Credentials that are offered are taken even where they are not required: rules know the user.
    // Where there are no users, a client that can do without is spared the round trip.
    const bool ask =
        greeting.offers(wire::kSocksUserPass) &&
        (required || sink.authenticator(info).any() || !greeting.offers(wire::kSocksNoAuth));
    const uint8_t method = ask ? wire::kSocksUserPass
                           : !required && greeting.offers(wire::kSocksNoAuth)
                               ? wire::kSocksNoAuth
                               : wire::kSocksNoMethod;
    const uint8_t choice[2] = {5, method};
    Status written = co_await rt::write_all(*stream, Bytes(choice), info.deadline);
    if (!written.ok()) co_return written.error();
    if (method == wire::kSocksNoMethod) co_return Error(Errc::kUnauthorized, Side::kClient);
    if (method == wire::kSocksUserPass) {
      wire::SocksCredentials credentials;
      parsed = co_await handshake.next(wire::parse_socks5_credentials, &credentials);
      if (!parsed.ok()) co_return parsed.error();
      if (*parsed != Parse::kDone) co_return Error(Errc::kBadMessage, Side::kClient);
      const auto id = sink.authenticator(info).check(credentials.user, credentials.password);
      const bool accepted = id.has_value() || !required;
      const uint8_t verdict[2] = {1, static_cast<uint8_t>(accepted ? 0 : 1)};
      written = co_await rt::write_all(*stream, Bytes(verdict), info.deadline);
      if (!written.ok()) co_return written.error();
      if (!accepted) co_return Error(Errc::kUnauthorized, Side::kClient);
      user = id.value_or(flow::kNoUser);
    }

    wire::Socks5Request request;
    parsed = co_await handshake.next(wire::parse_socks5_request, &request);
    if (!parsed.ok()) co_return parsed.error();
    const bool connect = request.command == static_cast<uint8_t>(wire::SocksCommand::kConnect);
    if (*parsed != Parse::kDone || !connect) {
      // The refusal is an answer; whether it could still be delivered changes nothing.
      const Socks5Reply reply = *parsed == Parse::kUnsupported
                                    ? Socks5Reply::kAddressTypeNotSupported
                                : *parsed == Parse::kDone ? Socks5Reply::kCommandNotSupported
                                                          : Socks5Reply::kGeneralFailure;
      const Status refused = co_await reply5(*stream, reply, info.deadline);
      if (!refused.ok()) co_return refused.error();
      co_return Error(*parsed == Parse::kBad ? Errc::kBadMessage : Errc::kUnsupported,
                      Side::kClient);
    }
    flow::FlowMeta meta = meta_of(info, flow::InboundType::kSocks5, request.address.ip,
                                  request.address.host, request.address.port);
    meta.user = user;
    Result<flow::Upstream> upstream = co_await sink.open(meta);
    if (!upstream.ok()) {
      // Silence was asked for, or told by the engine's own log: only the client is left to tell.
      if (upstream.error().code == Errc::kRejected && upstream.error().retry) co_return Status();
      const TimePoint soon = rt::Worker::here().now() + kReplyTime;
      const Status refused = co_await reply5(*stream, reply_for(upstream.error()), soon);
      (void)refused;  // the connection ends either way
      co_return Status();
    }
    const TimePoint soon = rt::Worker::here().now() + kReplyTime;
    written = co_await reply5(*stream, Socks5Reply::kSucceeded, soon);
    if (!written.ok()) co_return written.error();
    sink.relay(std::move(stream), *std::move(upstream));
    co_return Status();
  }

  Task<Status> serve4(StreamPtr& stream, const flow::AcceptInfo& info, flow::FlowSink& sink) {
    Handshake handshake(*stream, info.deadline);
    wire::Socks4Request request;
    const Result<Parse> parsed = co_await handshake.next(wire::parse_socks4_request, &request);
    if (!parsed.ok()) co_return parsed.error();
    if (*parsed != Parse::kDone) co_return Error(Errc::kBadMessage, Side::kClient);
    Result<flow::Upstream> upstream = Error(Errc::kUnsupported, Side::kClient);
    if (sink.authenticator(info).required(info.source.ip)) {
      upstream = Error(Errc::kUnauthorized, Side::kClient);
    } else if (request.command == static_cast<uint8_t>(wire::SocksCommand::kConnect)) {
      flow::FlowMeta meta =
          meta_of(info, flow::InboundType::kSocks4, request.ip, request.host, request.port);
      upstream = co_await sink.open(meta);
      if (upstream.code() == Errc::kRejected && upstream.error().retry) co_return Status();
    }
    uint8_t raw[8];
    ByteWriter out(raw);
    wire::serialize_socks4_reply(out, upstream.ok());
    const TimePoint soon = rt::Worker::here().now() + kReplyTime;
    const Status written = co_await rt::write_all(*stream, out.written(), soon);
    if (!upstream.ok())
      co_return upstream.error().side == Side::kClient ? Status(upstream.error()) : Status();
    if (!written.ok()) co_return written.error();
    sink.relay(std::move(stream), *std::move(upstream));
    co_return Status();
  }

  // A client may take this long to take a reply of a few bytes.
  static constexpr Duration kReplyTime = std::chrono::seconds(5);
};

}  // namespace

std::unique_ptr<flow::Inbound> make_inbound(const flow::Options*, const flow::BuildContext&) {
  return std::make_unique<SocksInbound>();
}

void register_protocol(flow::Registry& registry) {
  registry.add(flow::InboundKind{.name = "socks", .make = &make_inbound});
  registry.add(
      flow::OutboundKind{.name = "socks5", .read = &read_outbound, .make = &make_outbound});
}

}  // namespace culvert::protocol::socks
