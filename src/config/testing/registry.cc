#include "config/testing/registry.h"

namespace culvert::config::testing {
namespace {

std::shared_ptr<const flow::Options> read_node(yaml::MapReader& proxy, flow::Unsupported&) {
  const auto server = flow::read_server(proxy);
  auto out = std::make_shared<NodeOptions>();
  out->username = proxy.string("username").value_or("");
  out->password = proxy.string("password").value_or("");
  if (!server) return nullptr;
  out->server = *server;
  return out;
}

}  // namespace

const flow::Registry& registry() {
  static const flow::Registry made = [] {
    flow::Registry out;
    for (const char* name : {"http", "socks", "mixed", "tunnel"}) {
      out.add(flow::InboundKind{.name = name, .read = nullptr, .make = nullptr});
    }
    for (const char* name : {"direct", "reject"}) {
      out.add(
          flow::OutboundKind{.name = name, .capabilities = {}, .read = nullptr, .make = nullptr});
    }
    out.add(flow::OutboundKind{
        .name = "socks5", .capabilities = {}, .read = &read_node, .make = nullptr});
    return out;
  }();
  return made;
}

}  // namespace culvert::config::testing
