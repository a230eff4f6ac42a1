#include "flow/meta.h"

#include "base/format.h"

namespace culvert::flow {

std::string_view name(InboundType type) {
  switch (type) {
    case InboundType::kHttp:
      return "HTTP";
    case InboundType::kHttps:
      return "HTTPS";
    case InboundType::kSocks4:
      return "Socks4";
    case InboundType::kSocks5:
      return "Socks5";
    case InboundType::kTunnel:
      return "Tunnel";
    case InboundType::kInner:
      return "Inner";
  }
  return "Inner";
}

std::string_view name(Network network) {
  return network == Network::kUdp ? "udp" : "tcp";
}

std::string destination_text(const FlowMeta& meta) {
  if (meta.host_length != 0) return format("{}:{}", meta.host_name(), meta.destination.port);
  return meta.destination.to_string();
}

}  // namespace culvert::flow
