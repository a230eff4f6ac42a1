// Service: the program while it serves a profile, from the first listener to the last flow.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/diagnostics.h"
#include "config/settings.h"
#include "engine/reloader.h"

namespace culvert::app {

struct ServiceOptions {
  std::shared_ptr<const config::Settings> settings;
  // Loads a profile as it was loaded at the start. Called on the background thread; nullptr with an
  // error added when it cannot be served.
  std::function<std::shared_ptr<const config::Settings>(const engine::ProfileSource&, Diagnostics&)>
      load;
  std::string home;      // where what is remembered is kept
  bool welcome = false;  // tell a newcomer what to do next
  // Called once everything listens.
  std::function<void()> on_started = [] {};
};

// What serve() returns when the API asked for a restart: the program is to be executed anew.
inline constexpr int kRestart = -1;

// Serves until SIGINT or SIGTERM; the exit status, or kRestart.
int serve(const ServiceOptions& options);

}  // namespace culvert::app
