// The command line, in mihomo's words: -d, -f, -t, -v, -ext-ctl, -secret; "-x value", "-x=value"
// and the same with two dashes.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace culvert::app {

struct CommandLine {
  std::string home;                       // -d
  std::string config;                     // -f; "-" is standard input
  bool test = false;                      // -t
  bool version = false;                   // -v
  bool help = false;                      // -h
  std::optional<std::string> controller;  // -ext-ctl
  std::optional<std::string> secret;      // -secret
};

// `args` without the program's name. On an error `message` says what is wrong.
Result<CommandLine> parse_command_line(const std::vector<std::string>& args, std::string& message);

extern const char kUsage[];

}  // namespace culvert::app
