// A mihomo-compatible profile as typed settings. Everything a profile can ask of this version is a
// member here; what it cannot is refused or warned about while loading (see unsupported.h), never
// passed over in silence.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/diagnostics.h"
#include "base/ip.h"
#include "base/log.h"
#include "route/rule_list.h"

namespace culvert::config {

enum class ListenerType : uint8_t { kHttp, kSocks, kMixed };
enum class Mode : uint8_t { kRule, kGlobal, kDirect };

struct ListenerSettings {
  std::string name;  // mihomo's name of it, which IN-NAME rules and the API show
  ListenerType type = ListenerType::kMixed;
  Endpoint listen;    // [::] for every address of both families
  uint32_t line = 0;  // of the port
  uint32_t column = 0;
};

struct UserSettings {
  std::string user;
  std::string password;  // never logged
};

struct Settings {
  std::string source_name;  // for diagnostics that come later

  // port, socks-port, mixed-port with allow-lan and bind-address.
  std::vector<ListenerSettings> listeners;
  // authentication; empty = nobody is asked. Names are unique.
  std::vector<UserSettings> authentication;
  std::vector<Prefix> skip_auth_prefixes;
  std::vector<Prefix> lan_allowed_ips;  // empty = every address
  std::vector<Prefix> lan_disallowed_ips;

  Mode mode = Mode::kRule;
  // What a rule may name: its target is an index into these.
  std::vector<std::string> targets = {"DIRECT", "REJECT",     "REJECT-DROP",
                                      "PASS",   "COMPATIBLE", "GLOBAL"};
  // Never null. Shared, because there can be very many of them: the generation built from these
  // settings keeps the same list.
  std::shared_ptr<const route::RuleList> rules = std::make_shared<route::RuleList>();
  bool ipv6 = true;
  bool tcp_concurrent = false;  // race all addresses of a destination
  bool keep_alive = true;       // disable-keep-alive, turned round
  Duration keep_alive_idle = std::chrono::seconds(15);
  Duration keep_alive_interval = std::chrono::seconds(15);
  log::Level log_level = log::Level::kInfo;

  std::optional<Endpoint> external_controller;
  std::string secret;  // never logged
  std::vector<std::string> cors_allow_origins = {"*"};
  bool cors_allow_private_network = true;

  // The `culvert` section: how the engine is dimensioned.
  uint32_t workers = 0;        // 0 = one per usable CPU
  uint64_t buffer_budget = 0;  // bytes in flight in the whole process; 0 = by memory size
  Duration handshake_timeout = std::chrono::seconds(10);  // of a client, from accept
};

// nullopt when the profile is refused; then `out` has an error. Warnings may be added either way.
// Safe from any thread.
std::optional<Settings> load_text(std::string source_name, std::string text, Diagnostics& out);
// Reads and loads a file; blocks. `path` becomes the source name.
std::optional<Settings> load_file(const std::string& path, Diagnostics& out);

// What runs when there is no profile.
std::string default_profile();

// An external-controller value: "127.0.0.1:9090", "[::1]:9090", "localhost:9090", or ":9090" for
// every address. An error in `out`, under `source`, for anything else.
std::optional<Endpoint> parse_controller(std::string_view text, std::string_view source,
                                         Diagnostics& out);

}  // namespace culvert::config
