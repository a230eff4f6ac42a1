// The command line, in mihomo's words: "-x value", "-x=value" and the same with two dashes; options
// of its own are --strict and the subcommands `keys` and `explain`. What the command line does not
// say may come from the environment.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace culvert::app {

enum class Subcommand : uint8_t { kServe, kKeys, kExplain };

// `explain`: what would become of a flow.
struct ExplainRequest {
  std::string url;               // --url; names host and port where those are empty
  std::string host;              // --host
  std::optional<uint16_t> port;  // --port
  std::string network = "tcp";   // --network; or "udp"
  std::string source;            // --source: an address, or address:port
  std::string inbound;           // --inbound: a listener's name
  std::string user;              // --user
};

struct CommandLine {
  Subcommand subcommand = Subcommand::kServe;
  std::string home;    // -d
  std::string config;  // -f; "-" is standard input
  // -config: the profile itself, decoded; counts before -f.
  std::optional<std::string> config_text;
  bool test = false;                           // -t
  bool version = false;                        // -v
  bool help = false;                           // -h
  bool strict = false;                         // --strict
  std::optional<std::string> controller;       // -ext-ctl
  std::optional<std::string> controller_unix;  // -ext-ctl-unix
  std::optional<std::string> external_ui;      // -ext-ui
  std::optional<std::string> secret;           // -secret
  std::string post_up;                         // -post-up
  std::string post_down;                       // -post-down
  ExplainRequest explain;
  // What was asked for and is passed over, one sentence each.
  std::vector<std::string> notes;
};

// The value of an environment variable; nothing when it is not set or empty.
using Environment = std::function<std::optional<std::string>(const char* name)>;
std::optional<std::string> process_environment(const char* name);

// `args` without the program's name. On an error `message` says what is wrong: kInvalid when it is
// not a command line, kUnsupported when this version cannot do what it says.
Result<CommandLine> parse_command_line(const std::vector<std::string>& args,
                                       const Environment& environment, std::string& message);

extern const char kUsage[];

}  // namespace culvert::app
