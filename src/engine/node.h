// Node: one entry of `proxies`, or a built-in target, as it works. Carried over from one generation
// to the next while its options are the same; it lives until no generation has it and its last flow
// has ended.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/diagnostics.h"
#include "config/settings.h"
#include "engine/delay.h"
#include "engine/surroundings.h"
#include "flow/dialer.h"

namespace culvert::engine {

struct Node {
  std::string name;
  std::string_view type;    // the API's word, a literal: "Socks5"
  std::string identity;     // equal for nodes with equal options of their own
  std::string unsupported;  // not empty: why it rejects
  flow::CommonOptions common;
  flow::Capabilities capabilities;
  std::shared_ptr<const flow::Options> options;  // what follows uses them
  // The way to its server: itself, or through its dialer-proxy. In the order they are made.
  std::unique_ptr<flow::Dialer> server_dialer;
  std::unique_ptr<flow::Outbound> outbound;
  DelayBook delays;  // the control thread's
};

// What of the settings shapes every node besides its own options: where it differs, none is the
// same.
std::string general_identity(const config::Settings& settings);

// `surroundings` outlives the node.
std::shared_ptr<Node> make_built_in(std::string_view name, const config::Settings& settings,
                                    const Surroundings& surroundings);
std::shared_ptr<Node> make_node(const config::ProxySettings& proxy,
                                const config::Settings& settings, const Surroundings& surroundings);
// Rejects everything and tells why: groups of a type that is not supported.
std::shared_ptr<Node> make_refusing(std::string_view name, std::string_view type,
                                    std::string_view reason);

// The API's word for a profile's type of node or group: "socks5" is "Socks5", "select" "Selector".
std::string_view api_type(std::string_view type);

}  // namespace culvert::engine
