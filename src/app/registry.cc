#include "app/registry.h"

// Generated from protocol/protocols.def and the build switches: CULVERT_BUILT(folder) for each
// protocol in this program, CULVERT_MISSING(folder) for each that was switched off.
#define CULVERT_BUILT(folder)                       \
  namespace culvert::protocol::folder {             \
  void register_protocol(flow::Registry& registry); \
  }
#define CULVERT_MISSING(folder)
#include "protocols.inc"
#undef CULVERT_BUILT
#undef CULVERT_MISSING

namespace culvert::app {

flow::Registry make_registry() {
  flow::Registry registry;
#define CULVERT_BUILT(folder) protocol::folder::register_protocol(registry);
#define CULVERT_MISSING(folder) registry.add_missing(#folder);
#include "protocols.inc"
#undef CULVERT_BUILT
#undef CULVERT_MISSING
  return registry;
}

}  // namespace culvert::app
