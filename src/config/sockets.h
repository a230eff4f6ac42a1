// The socket addresses that take clients in: how many there may be, and that no two of them meet.
// Internal to config/.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ip.h"
#include "config/settings.h"
#include "yaml/reader.h"

namespace culvert::config {

// Ports as `listeners` write them.
struct PortRange {
  uint16_t first = 0;
  uint16_t last = 0;
};
// "443", "200-302,400"; ranges have a comma or a slash between them. Nothing when it is not that.
std::optional<std::vector<PortRange>> parse_port_list(std::string_view text);

class SocketTable {
 public:
  static constexpr size_t kMaxSockets = 1024;

  SocketTable(yaml::MapReader& top, Settings& out) : top_(top), out_(out) {}

  // Adds a listener, whose `listen` is set; `at` is where its port is written. An error in the
  // diagnostics, once for an entry, when there are too many or when another one is at its address.
  void add(ListenerSettings listener, const yaml::Node& at, const std::string& path);
  // The same for the controller, which is no listener.
  void check_controller(const Endpoint& endpoint, const yaml::Node& at);

 private:
  struct Taken {
    Endpoint listen;
    size_t listener;
  };
  [[nodiscard]] const ListenerSettings* other_at(const Endpoint& endpoint) const;

  yaml::MapReader& top_;
  Settings& out_;
  // By port, in the order of buckets: a profile has at most kMaxSockets.
  std::vector<std::vector<Taken>> taken_ = std::vector<std::vector<Taken>>(1024);
  const yaml::Node* told_ = nullptr;
};

}  // namespace culvert::config
