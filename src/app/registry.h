// Makes the Registry of all protocols listed in protocol/protocols.def.
#pragma once

#include "flow/registry.h"

namespace culvert::app {

flow::Registry make_registry();

}  // namespace culvert::app
