#include "protocol/socks/outbound.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>

#include "flow/server_outbound.h"
#include "rt/await.h"
#include "wire/socks.h"

namespace culvert::protocol::socks {

using flow::Task;

namespace {

constexpr uint8_t kVersion = 5;
constexpr uint8_t kAuthVersion = 1;
constexpr size_t kMaxText = 255;  // of a user name and of a password (RFC 1929)

class SocksOptions final : public flow::Options {
 public:
  flow::ServerAddress server;
  std::string username;
  std::string password;
};

Error error_for(uint8_t reply) {
  switch (static_cast<wire::Socks5Reply>(reply)) {
    case wire::Socks5Reply::kNetworkUnreachable:
    case wire::Socks5Reply::kHostUnreachable:
      return {Errc::kUnreachable, Side::kUpstream};
    case wire::Socks5Reply::kTtlExpired:
      return {Errc::kTimedOut, Side::kUpstream};
    default:
      return {Errc::kRefused, Side::kUpstream};
  }
}

// Reads exactly so many bytes; what is behind them stays unread, as it is the flow's.
Task<Status> read_exactly(flow::Stream& stream, MutableBytes out, TimePoint deadline) {
  while (!out.empty()) {
    const Result<MutableBytes> bytes = co_await rt::read_some(stream, deadline);
    if (!bytes.ok()) {
      co_return bytes.code() == Errc::kEndOfStream ? Error(Errc::kBadMessage, Side::kUpstream)
                                                   : bytes.error().from(Side::kUpstream);
    }
    const size_t n = std::min(out.size(), bytes->size());
    std::memcpy(out.data(), bytes->data(), n);
    stream.consume(n);
    out = out.subspan(n);
  }
  co_return Status();
}

class SocksOutbound final : public flow::ServerOutbound {
 public:
  SocksOutbound(std::string_view node_name, const SocksOptions& options, flow::Dialer& dialer)
      : ServerOutbound(node_name, "Socks5", options.server, dialer), options_(options) {}

 private:
  Task<Status> handshake(flow::Stream& stream, const flow::FlowMeta& meta,
                         TimePoint deadline) override {
    // The server chooses: without credentials where it will.
    const bool user = !options_.username.empty();
    const uint8_t greeting[4] = {kVersion, static_cast<uint8_t>(user ? 2 : 1), wire::kSocksNoAuth,
                                 wire::kSocksUserPass};
    Status status = co_await rt::write_all(stream, Bytes(greeting).first(user ? 4 : 3), deadline);
    if (!status.ok()) co_return status.error().from(Side::kUpstream);
    std::array<uint8_t, wire::kMaxSocksAddress + 3> in;
    status = co_await read_exactly(stream, MutableBytes(in).first(2), deadline);
    if (!status.ok()) co_return status;
    if (in[0] != kVersion) co_return Error(Errc::kBadMessage, Side::kUpstream);
    if (user && in[1] == wire::kSocksUserPass) {
      status = co_await authenticate(stream, deadline);
      if (!status.ok()) co_return status;
    } else if (in[1] != wire::kSocksNoAuth) {
      co_return Error(Errc::kUnauthorized, Side::kUpstream);
    }

    std::array<uint8_t, wire::kMaxSocksAddress + 3> out;
    ByteWriter writer(out);
    writer.u8(kVersion);
    writer.u8(static_cast<uint8_t>(wire::SocksCommand::kConnect));
    writer.u8(0);
    if (meta.host_length != 0) {
      wire::serialize_address(writer, meta.host_name(), meta.destination.port);
    } else {
      wire::serialize_address(writer, meta.destination);
    }
    status = co_await rt::write_all(stream, writer.written(), deadline);
    if (!status.ok()) co_return status.error().from(Side::kUpstream);

    // Version and reply: where it is a refusal, some servers say no more.
    status = co_await read_exactly(stream, MutableBytes(in).first(2), deadline);
    if (!status.ok()) co_return status;
    if (in[0] != kVersion) co_return Error(Errc::kBadMessage, Side::kUpstream);
    if (in[1] != 0) co_return error_for(in[1]);
    // Nothing, the type of the address that the server uses and its first byte, which for a name is
    // its length.
    status = co_await read_exactly(stream, MutableBytes(in).subspan(2, 3), deadline);
    if (!status.ok()) co_return status;
    size_t rest = 0;
    switch (in[3]) {
      case 1:
        rest = 4 + 2 - 1;
        break;
      case 3:
        rest = size_t{in[4]} + 2;
        break;
      case 4:
        rest = 16 + 2 - 1;
        break;
      default:
        co_return Error(Errc::kBadMessage, Side::kUpstream);
    }
    co_return co_await read_exactly(stream, MutableBytes(in).first(rest), deadline);
  }

  Task<Status> authenticate(flow::Stream& stream, TimePoint deadline) {
    std::array<uint8_t, 3 + 2 * kMaxText> out;
    ByteWriter writer(out);
    writer.u8(kAuthVersion);
    for (const std::string* text : {&options_.username, &options_.password}) {
      writer.u8(static_cast<uint8_t>(text->size()));
      writer.put(as_bytes(*text));
    }
    Status status = co_await rt::write_all(stream, writer.written(), deadline);
    if (!status.ok()) co_return status.error().from(Side::kUpstream);
    uint8_t in[2];
    status = co_await read_exactly(stream, in, deadline);
    if (!status.ok()) co_return status;
    if (in[1] != 0) co_return Error(Errc::kUnauthorized, Side::kUpstream);
    co_return Status();
  }

  const SocksOptions& options_;
};

// Without TLS its keys mean nothing.
void read_tls(yaml::MapReader& proxy, flow::Unsupported& unsupported) {
  if (proxy.boolean("tls").value_or(false)) unsupported.say("tls: not supported in this version");
  proxy.allow(
      {"skip-cert-verify", "name-cert-verify", "fingerprint", "certificate", "private-key"});
}

}  // namespace

std::shared_ptr<const flow::Options> read_outbound(yaml::MapReader& proxy,
                                                   flow::Unsupported& unsupported) {
  read_tls(proxy, unsupported);
  auto server = flow::read_server(proxy);
  auto options = std::make_shared<SocksOptions>();
  options->username = proxy.string("username").value_or("");
  options->password = proxy.string("password").value_or("");
  for (const char* key : {"username", "password"}) {
    const yaml::Node* node = proxy.find(key);
    if (node != nullptr && node->text().size() > kMaxText) {
      proxy.fail_hidden(*node, proxy.path_of(key), "at most 255 bytes");
      return nullptr;
    }
  }
  if (!server) return nullptr;
  options->server = *std::move(server);
  return options;
}

std::unique_ptr<flow::Outbound> make_outbound(std::string_view node_name,
                                              const flow::Options* options,
                                              const flow::BuildContext& context) {
  return std::make_unique<SocksOutbound>(node_name, static_cast<const SocksOptions&>(*options),
                                         *context.server_dialer);
}

}  // namespace culvert::protocol::socks
