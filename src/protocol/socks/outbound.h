// The `socks5` outbound: flows through another SOCKS5 server (RFC 1928, RFC 1929).
//
//   {name, type: socks5, server, port, username, password}
//
// Names go to the server as they are, which resolves them. TCP only, whatever `udp` says.
#pragma once

#include <memory>
#include <string_view>

#include "flow/registry.h"

namespace culvert::protocol::socks {

std::shared_ptr<const flow::Options> read_outbound(yaml::MapReader& proxy,
                                                   flow::Unsupported& unsupported);
std::unique_ptr<flow::Outbound> make_outbound(std::string_view node_name,
                                              const flow::Options* options,
                                              const flow::BuildContext& context);

}  // namespace culvert::protocol::socks
