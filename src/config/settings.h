// A mihomo-compatible profile as typed settings. Everything a profile can ask of this version is a
// member here; what it cannot is refused or warned about while loading (see schema.h), never passed
// over in silence.
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
#include "flow/options.h"
#include "flow/registry.h"
#include "route/rule_list.h"

namespace culvert::config {

enum class Mode : uint8_t { kRule, kGlobal, kDirect };

struct UserSettings {
  std::string user;
  std::string password;  // never logged
};
using UserList = std::vector<UserSettings>;

// One socket address that takes clients in. A `listeners` entry with several ports, or a tunnel, is
// as many of these, with one name.
struct ListenerSettings {
  std::string name;  // what IN-NAME rules and the API call it; those of the port keys:
                     // DEFAULT-HTTP, DEFAULT-SOCKS, DEFAULT-MIXED
  std::string type;  // a kind of flow::Registry: "http", "socks", "mixed", "tunnel"
  Endpoint listen;   // [::] for every address of both families
  // Of port, socks-port or mixed-port: lan-allowed-ips, lan-disallowed-ips and skip-auth-prefixes
  // are for these alone.
  bool classic = false;
  // Its own users: empty = nobody is asked. nullptr: those of `authentication`.
  std::shared_ptr<const UserList> users;
  std::shared_ptr<const flow::Options> options;  // nullptr where the type has none
  std::string rule;                              // a list of sub_rules; empty = the rules
  std::optional<uint32_t> proxy;                 // a target that all its flows go to, unjudged
  uint32_t routing_mark = 0;
  uint32_t line = 0;  // of the port, or of the entry
  uint32_t column = 0;
};

// A node of `proxies`.
struct ProxySettings {
  std::string name;
  std::string type;     // as written, in lower case: "socks5"
  uint32_t target = 0;  // its number among the targets
  flow::CommonOptions common;
  std::shared_ptr<const flow::Options> options;  // nullptr where the type has none
  // Not empty: the node rejects its flows, and why.
  std::string unsupported;
  // Equal for two nodes that are the same down to the last option of their own; not in words.
  std::string identity;
  uint32_t line = 0;
  uint32_t column = 0;
};

// An entry of `proxy-groups`.
struct GroupSettings {
  std::string name;
  std::string type;               // "select", "url-test", "fallback", "load-balance"
  uint32_t target = 0;            // its number among the targets
  std::vector<uint32_t> members;  // targets, in order, each once; never empty
  // Not empty: the group rejects its flows, and why.
  std::string unsupported;
  std::string default_selected;  // select; empty = the first
  std::string url;               // for delay tests; empty = the API's own
  std::string expected_status;   // "" or "*": any
  std::string icon;
  bool hidden = false;
  bool disable_udp = false;
  Duration interval = std::chrono::seconds(0);
  Duration timeout = std::chrono::seconds(5);
  bool lazy = true;
  uint32_t tolerance = 0;  // milliseconds; url-test
  std::string strategy;    // load-balance
  uint32_t line = 0;
  uint32_t column = 0;
};

struct SubRules {
  std::string name;
  std::shared_ptr<const route::RuleList> rules;
};

struct Settings {
  std::string source_name;  // for diagnostics that come later

  // port, socks-port, mixed-port with allow-lan and bind-address; listeners; tunnels.
  std::vector<ListenerSettings> listeners;
  bool allow_lan = false;
  std::string bind_address = "*";
  bool inbound_tfo = false;
  bool inbound_mptcp = false;
  // authentication; empty = nobody is asked. Names are unique.
  UserList authentication;
  std::vector<Prefix> skip_auth_prefixes;
  std::vector<Prefix> lan_allowed_ips;  // empty = every address
  std::vector<Prefix> lan_disallowed_ips;

  Mode mode = Mode::kRule;
  // What rules, groups and listeners name is an index into these: first the built-in ones in the
  // order of route/targets.h, then proxies and groups.
  std::vector<std::string> targets;
  std::vector<ProxySettings> proxies;
  std::vector<GroupSettings> groups;  // each after those it has among its members
  // Never null. Shared, because there can be very many of them: the generation built from these
  // settings keeps the same list.
  std::shared_ptr<const route::RuleList> rules = std::make_shared<route::RuleList>();
  std::vector<SubRules> sub_rules;
  bool ipv6 = true;
  bool tcp_concurrent = false;  // race all addresses of a destination
  bool unified_delay = false;   // the second request of a connection is the one that is measured
  std::string interface_name;   // of outbound sockets; empty = the system's choice
  uint32_t routing_mark = 0;
  bool keep_alive = true;  // disable-keep-alive, turned round
  Duration keep_alive_idle = std::chrono::seconds(15);
  Duration keep_alive_interval = std::chrono::seconds(15);
  log::Level log_level = log::Level::kInfo;
  bool store_selected = true;  // profile.store-selected

  std::optional<Endpoint> external_controller;
  std::string external_controller_unix;  // a path; empty = none
  std::string external_ui;               // a directory; empty = none
  std::string secret;                    // never logged
  std::vector<std::string> cors_allow_origins = {"*"};
  bool cors_allow_private_network = true;

  // The `culvert` section: how the engine is dimensioned.
  uint32_t workers = 0;        // 0 = one per usable CPU
  uint64_t buffer_budget = 0;  // bytes in flight in the whole process; 0 = by memory size
  Duration handshake_timeout = std::chrono::seconds(10);  // of a client, from accept
  // What a group carries ends when another of its members is selected.
  bool interrupt_exist_connections = false;
};

// How a profile is read.
struct LoadOptions {
  // Which types of listeners and nodes there are; nullptr: http, socks and mixed, and no nodes.
  const flow::Registry* registry = nullptr;
  bool strict = false;    // nodes and groups that this program cannot do are errors
  std::string home = {};  // relative paths begin here; paths beyond it and safe_paths are refused
  std::vector<std::string> safe_paths = {};
};

// nullopt when the profile is refused; then `out` has an error. Warnings may be added either way.
// Safe from any thread.
std::optional<Settings> load_text(std::string source_name, std::string text,
                                  const LoadOptions& options, Diagnostics& out);
// Reads and loads a file; blocks. `path` becomes the source name.
std::optional<Settings> load_file(const std::string& path, const LoadOptions& options,
                                  Diagnostics& out);

// The nodes and groups that reject their flows, one a line: name, place and reason. Empty when
// there are none.
std::string unsupported_report(const Settings& settings);

// The path of a file or directory that a profile or a client of the controller names: relative ones
// begin in the home directory. Nothing when it is outside of it and of the safe paths.
std::optional<std::string> allowed_path(const LoadOptions& options, std::string_view text);

// What runs when there is no profile.
std::string default_profile();

// An external-controller value: "127.0.0.1:9090", "[::1]:9090", "localhost:9090", or ":9090" for
// every address. An error in `out`, under `source`, for anything else.
std::optional<Endpoint> parse_controller(std::string_view text, std::string_view source,
                                         Diagnostics& out);

}  // namespace culvert::config
