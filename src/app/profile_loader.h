// Which profile is served: where it is, how it is read, and what the command line overrides in it.
#pragma once

#include <optional>
#include <string>

#include "app/command_line.h"
#include "base/diagnostics.h"
#include "config/settings.h"

namespace culvert::app {

struct Profile {
  config::Settings settings;
  std::string path;  // what -t names
  bool built_in = false;
};

// The same answer at the start and at every reload. Its functions may be called on any thread.
class ProfileLoader {
 public:
  // `registry` outlives it.
  ProfileLoader(const CommandLine& line, const Environment& environment,
                const flow::Registry& registry);

  [[nodiscard]] const std::string& home() const { return options_.home; }
  // What the command line names, whether it is there or not: "/etc/a.yaml", "<stdin>".
  [[nodiscard]] const std::string& path() const { return path_; }

  // What the command line asks for. Blocks. Standard input is read once and kept.
  std::optional<Profile> load(Diagnostics& out);
  // Another file, which a client of the controller names: an error when it is outside of the home
  // directory and the safe paths. Blocks.
  [[nodiscard]] std::optional<Profile> load_named(const std::string& path, Diagnostics& out) const;
  // A text that came from elsewhere: nothing is overridden in it.
  [[nodiscard]] std::optional<Profile> load_text(std::string text, Diagnostics& out) const;

 private:
  [[nodiscard]] std::optional<Profile> load_file(const std::string& path, Diagnostics& out) const;
  std::optional<Profile> finish(std::optional<config::Settings> settings, std::string path,
                                Diagnostics& out) const;

  CommandLine line_;
  config::LoadOptions options_;
  std::string path_;
  std::optional<std::string> standard_input_;
};

}  // namespace culvert::app
