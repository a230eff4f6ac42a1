// `culvert explain`: what would become of a flow under a profile, without a running instance.
#pragma once

#include "app/command_line.h"
#include "app/profile_loader.h"
#include "flow/registry.h"

namespace culvert::app {

// Prints the answer; the exit status.
int explain_command(const ExplainRequest& request, ProfileLoader& loader,
                    const flow::Registry& registry);

}  // namespace culvert::app
