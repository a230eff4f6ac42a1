// The `http` outbound: flows through the CONNECT method of another HTTP proxy (RFC 9110 section
// 9.3.6).
//
//   {name, type: http, server, port, username, password, headers: {name: value}}
//
// A Host among the headers takes the place of ours, and so does a Proxy-Authorization where there
// is no username. Names go to the proxy as they are, which resolves them. TCP only.
#pragma once

#include <memory>
#include <string_view>

#include "flow/registry.h"

namespace culvert::protocol::http {

std::shared_ptr<const flow::Options> read_outbound(yaml::MapReader& proxy,
                                                   flow::Unsupported& unsupported);
std::unique_ptr<flow::Outbound> make_outbound(std::string_view node_name,
                                              const flow::Options* options,
                                              const flow::BuildContext& context);

}  // namespace culvert::protocol::http
