// What a protocol's reader makes of a node of the profile.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "yaml/reader.h"

namespace culvert::flow {

// A protocol's own options, made by its reader and known to its factory alone. Immutable: the
// generations that use them share them.
class Options {
 public:
  Options() = default;
  Options(const Options&) = delete;
  Options& operator=(const Options&) = delete;
  virtual ~Options() = default;
};

// Filled by a reader when a node is well formed but asks for what this program cannot do. It
// becomes a node that rejects its flows and tells this reason; with --strict it is an error.
struct Unsupported {
  // The first reason counts: "tls: not supported in this version".
  void say(std::string why) {
    if (reason.empty()) reason = std::move(why);
  }
  [[nodiscard]] explicit operator bool() const { return !reason.empty(); }
  std::string reason;
};

// mihomo's ip-version: which addresses of a name are dialled, and which first.
enum class IpVersion : uint8_t { kDual, kV4, kV6, kV4Prefer, kV6Prefer };

// What every node of `proxies` may have, whatever its type.
struct CommonOptions {
  std::string interface_name;  // empty = the general one
  uint32_t routing_mark = 0;   // 0 = the general one
  bool tfo = false;
  bool mptcp = false;
  IpVersion ip_version = IpVersion::kDual;
  std::string dialer_proxy;  // a proxy or group; empty = none
};

}  // namespace culvert::flow
