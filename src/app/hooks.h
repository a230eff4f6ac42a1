// post-up and post-down: commands of the user's, for /bin/sh.
#pragma once

#include <string>

namespace culvert::app {

// Starts `command` and does not wait: it may well ask something of this program. A failure is told
// on standard error under `name`. Nothing for an empty command.
void start_hook(const std::string& name, const std::string& command);

// Runs `command` to its end.
void run_hook(const std::string& name, const std::string& command);

}  // namespace culvert::app
