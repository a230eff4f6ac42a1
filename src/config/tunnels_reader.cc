// What tunnels ask for, in either of the forms they are written in.
#include "base/format.h"
#include "config/loading.h"
#include "flow/server_address.h"
#include "flow/tunnel_options.h"

namespace culvert::config {

std::shared_ptr<const flow::Options> read_tunnel_target(yaml::MapReader& entry,
                                                        const yaml::Node& at, std::string path,
                                                        std::string_view text) {
  const size_t colon = text.rfind(':');
  const auto refuse = [&] {
    entry.fail(at, std::move(path),
               "a target host:port, such as a.example:443 or [2001:db8::1]:53");
    return nullptr;
  };
  if (colon == std::string_view::npos) return refuse();
  const std::string_view host = text.substr(0, colon);
  const auto port = parse_port(text.substr(colon + 1));
  const auto server = flow::parse_server(host);
  if (!port || *port == 0 || !server || !server->zone.empty()) return refuse();
  // An IPv6 address has its port behind brackets.
  if (server->ip.is_v6() && !host.starts_with('[')) return refuse();
  auto out = std::make_shared<flow::TunnelTarget>();
  if (server->ip.valid()) {
    out->ip = server->ip;
  } else {
    out->host = server->host;
  }
  out->port = *port;
  return out;
}

}  // namespace culvert::config
