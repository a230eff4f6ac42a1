#include "protocol/http/outbound.h"

#include <algorithm>
#include <string>

#include "base/format.h"
#include "flow/server_outbound.h"
#include "rt/await.h"
#include "transport/http1/head_reader.h"
#include "wire/base64.h"
#include "wire/http1.h"

namespace culvert::protocol::http {

using flow::Task;

namespace {

// Interim responses before the one that counts; more is not a proxy.
constexpr int kMaxInterim = 8;

class HttpOptions final : public flow::Options {
 public:
  flow::ServerAddress server;
  std::string fields;     // of every request, "Name: value\r\n" each
  bool has_host = false;  // `fields` has one, instead of the destination
};

// The client's view of what the proxy said.
Error error_for(int status) {
  switch (status) {
    case 407:
      return {Errc::kUnauthorized, Side::kUpstream};
    case 504:
      return {Errc::kTimedOut, Side::kUpstream};
    case 502:
    case 503:
      return {Errc::kUnreachable, Side::kUpstream};
    default:
      return {Errc::kRefused, Side::kUpstream};
  }
}

class HttpOutbound final : public flow::ServerOutbound {
 public:
  HttpOutbound(std::string_view node_name, const HttpOptions& options, flow::Dialer& dialer)
      : ServerOutbound(node_name, "Http", options.server, dialer), options_(options) {}

 private:
  Task<Status> handshake(flow::Stream& stream, const flow::FlowMeta& meta,
                         TimePoint deadline) override {
    const std::string to =
        meta.host_length == 0 ? meta.destination.to_string() : flow::destination_text(meta);
    std::string request = format("CONNECT {} HTTP/1.1\r\n", to);
    if (!options_.has_host) request += format("Host: {}\r\n", to);
    request += options_.fields + "\r\n";
    const Status sent = co_await rt::write_all(stream, as_bytes(request), deadline);
    if (!sent.ok()) co_return sent.error().from(Side::kUpstream);
    transport::HeadReader reader(stream);
    for (int heads = 0; heads <= kMaxInterim; ++heads) {
      const Result<Bytes> raw = co_await reader.read(deadline);
      if (!raw.ok()) {
        co_return raw.code() == Errc::kEndOfStream ? Error(Errc::kBadMessage, Side::kUpstream)
                                                   : raw.error().from(Side::kUpstream);
      }
      wire::HttpHead head;
      if (reader.error() != wire::HttpError::kNone ||
          wire::parse_response_head(*raw, head) != wire::HttpError::kNone || head.status == 101) {
        co_return Error(Errc::kBadMessage, Side::kUpstream);
      }
      if (head.status < 200) continue;  // an interim response
      // Whatever lengths a success states, the tunnel begins behind its head.
      if (head.status < 300) co_return Status();
      co_return error_for(head.status);
    }
    co_return Error(Errc::kBadMessage, Side::kUpstream);
  }

  const HttpOptions& options_;
};

bool is_field_value(std::string_view text) {
  return std::ranges::none_of(text, [](char c) { return c == '\r' || c == '\n' || c == '\0'; });
}

// A field that would change what a request is.
bool is_framing(std::string_view name) {
  return wire::equal_ignoring_case(name, "content-length") ||
         wire::equal_ignoring_case(name, "transfer-encoding");
}

void read_headers(yaml::MapReader& proxy, bool has_username, HttpOptions& options) {
  auto headers = proxy.map("headers");
  if (!headers) return;
  for (const yaml::Entry& entry : headers->node().entries()) {
    const std::string_view name = entry.key->text();
    const auto value = headers->string(name);
    if (!wire::is_token(name) || is_framing(name)) {
      headers->fail(*entry.key, headers->path_of(name),
                    "the name of a header field that a request without a body may have");
    } else if (!value || !is_field_value(*value)) {
      headers->fail_hidden(*entry.value, headers->path_of(name), "text without line ends");
    } else if (has_username && wire::equal_ignoring_case(name, "proxy-authorization")) {
      headers->warn(*entry.key, headers->path_of(name), "left out: username and password count");
    } else {
      options.has_host |= wire::equal_ignoring_case(name, "host");
      options.fields += format("{}: {}\r\n", name, *value);
    }
  }
}

// Without TLS its keys mean nothing.
void read_tls(yaml::MapReader& proxy, flow::Unsupported& unsupported) {
  if (proxy.boolean("tls").value_or(false)) unsupported.say("tls: not supported in this version");
  proxy.allow(
      {"sni", "skip-cert-verify", "name-cert-verify", "fingerprint", "certificate", "private-key"});
}

}  // namespace

std::shared_ptr<const flow::Options> read_outbound(yaml::MapReader& proxy,
                                                   flow::Unsupported& unsupported) {
  read_tls(proxy, unsupported);
  auto server = flow::read_server(proxy);
  auto options = std::make_shared<HttpOptions>();
  const std::string username(proxy.string("username").value_or(""));
  const std::string password(proxy.string("password").value_or(""));
  if (username.find(':') != std::string::npos) {
    proxy.fail(*proxy.find("username"), proxy.path_of("username"),
               "a name without ':', which ends it on the wire");
    return nullptr;
  }
  if (!username.empty()) {
    options->fields += format("Proxy-Authorization: Basic {}\r\n",
                              wire::encode_base64(as_bytes(username + ":" + password)));
  }
  read_headers(proxy, !username.empty(), *options);
  if (!server) return nullptr;
  options->server = *std::move(server);
  return options;
}

std::unique_ptr<flow::Outbound> make_outbound(std::string_view node_name,
                                              const flow::Options* options,
                                              const flow::BuildContext& context) {
  return std::make_unique<HttpOutbound>(node_name, static_cast<const HttpOptions&>(*options),
                                        *context.server_dialer);
}

}  // namespace culvert::protocol::http
