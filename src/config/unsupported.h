// mihomo's top-level keys that this version has nothing for.
#pragma once

#include "yaml/reader.h"

namespace culvert::config {

// Goes through the table in unsupported.cc: a key whose absence would change where traffic goes,
// who may enter or what is encrypted is refused when it is on; any other gets one warning. A value
// that is off (empty, null, zero, false, a section not enabled) is fine for both. All of the
// table's keys count as known to `top` afterwards.
void report_unsupported(yaml::MapReader& top);

}  // namespace culvert::config
