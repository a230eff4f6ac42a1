#include "app/profile_loader.h"

#include <sys/stat.h>

#include <algorithm>
#include <cstdio>
#include <utility>

namespace culvert::app {
namespace {

constexpr std::string_view kStandardInput = "-";

bool is_directory(const std::string& path) {
  struct stat st {};
  return stat(path.c_str(), &st) == 0 && S_ISDIR(st.st_mode);
}

bool is_there(const std::string& path) {
  struct stat st {};
  return stat(path.c_str(), &st) == 0;
}

// -d, then our folder, then mihomo's if only that one exists.
std::string home_directory(const CommandLine& line, const Environment& environment) {
  if (!line.home.empty()) return line.home;
  std::string base = environment("XDG_CONFIG_HOME").value_or("");
  if (base.empty()) base = environment("HOME").value_or("") + "/.config";
  if (!is_directory(base + "/culvert") && is_directory(base + "/mihomo")) return base + "/mihomo";
  return base + "/culvert";
}

std::vector<std::string> safe_paths(const Environment& environment) {
  const std::string skip = environment("SKIP_SAFE_PATH_CHECK").value_or("");
  if (skip == "1" || skip == "true") return {"/"};
  std::vector<std::string> out;
  const std::string list = environment("SAFE_PATHS").value_or("");
  for (size_t begin = 0; begin <= list.size();) {
    const size_t end = std::min(list.find(':', begin), list.size());
    if (end != begin) out.push_back(list.substr(begin, end - begin));
    begin = end + 1;
  }
  return out;
}

std::string read_standard_input() {
  std::string text;
  char buffer[65536];
  size_t n;
  while ((n = std::fread(buffer, 1, sizeof buffer, stdin)) > 0) text.append(buffer, n);
  return text;
}

}  // namespace

ProfileLoader::ProfileLoader(const CommandLine& line, const Environment& environment,
                             const flow::Registry& registry)
    : line_(line) {
  options_.registry = &registry;
  options_.strict = line.strict;
  options_.home = home_directory(line, environment);
  options_.safe_paths = safe_paths(environment);
  path_ = line.config_text                ? "<command line>"
          : line.config == kStandardInput ? "<stdin>"
          : line.config.empty()           ? options_.home + "/config.yaml"
                                          : line.config;
}

std::optional<Profile> ProfileLoader::load(Diagnostics& out) {
  if (line_.config_text) {
    return finish(config::load_text(path_, *line_.config_text, options_, out), path_, out);
  }
  if (line_.config == kStandardInput) {
    if (!standard_input_) standard_input_ = read_standard_input();
    return finish(config::load_text(path_, *standard_input_, options_, out), path_, out);
  }
  if (!line_.config.empty() || is_there(path_)) return load_file(path_, out);
  constexpr const char* kBuiltIn = "<built-in>";
  auto profile =
      finish(config::load_text(kBuiltIn, config::default_profile(), options_, out), kBuiltIn, out);
  if (profile) profile->built_in = true;
  return profile;
}

std::optional<Profile> ProfileLoader::load_file(const std::string& path, Diagnostics& out) const {
  return finish(config::load_file(path, options_, out), path, out);
}

std::optional<Profile> ProfileLoader::load_named(const std::string& path, Diagnostics& out) const {
  if (const auto allowed = config::allowed_path(options_, path)) return load_file(*allowed, out);
  out.add({Severity::kError,
           path,
           0,
           0,
           {},
           "not in the home directory, nor in one that SAFE_PATHS lists",
           {}});
  return std::nullopt;
}

std::optional<Profile> ProfileLoader::load_text(std::string text, Diagnostics& out) const {
  constexpr const char* kName = "<payload>";
  auto settings = config::load_text(kName, std::move(text), options_, out);
  if (!settings) return std::nullopt;
  return Profile{*std::move(settings), kName, false};
}

std::optional<Profile> ProfileLoader::finish(std::optional<config::Settings> settings,
                                             std::string path, Diagnostics& out) const {
  if (!settings) return std::nullopt;
  // Who starts the program may name any place.
  const auto place = [&](const std::string& text) {
    return text.empty() || text.starts_with('/') ? text : options_.home + "/" + text;
  };
  if (line_.secret) settings->secret = *line_.secret;
  if (line_.controller_unix) settings->external_controller_unix = place(*line_.controller_unix);
  if (line_.external_ui) settings->external_ui = place(*line_.external_ui);
  if (line_.controller) {
    settings->external_controller = config::parse_controller(*line_.controller, "-ext-ctl", out);
    if (!settings->external_controller) return std::nullopt;
  }
  if (settings->external_controller && !settings->external_controller->ip.is_loopback() &&
      settings->secret.empty()) {
    out.add({Severity::kWarning,
             path,
             0,
             0,
             "external-controller",
             "it is reachable from other hosts and has no secret: it is not opened",
             {}});
  }
  return Profile{*std::move(settings), std::move(path), false};
}

}  // namespace culvert::app
