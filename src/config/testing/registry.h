// A Registry to read profiles by: the types of listeners this program has, `direct` and `reject`,
// and a `socks5` that reads server, port, username and password. Nothing in it can be made.
#pragma once

#include "flow/registry.h"
#include "flow/server_address.h"

namespace culvert::config::testing {

class NodeOptions final : public flow::Options {
 public:
  flow::ServerAddress server;
  std::string username;
  std::string password;
};

const flow::Registry& registry();

}  // namespace culvert::config::testing
