#include "flow/registry.h"

#include <algorithm>

namespace culvert::flow {

const InboundKind* Registry::inbound(std::string_view name) const {
  for (const InboundKind& k : inbounds_) {
    if (k.name == name) return &k;
  }
  return nullptr;
}

const OutboundKind* Registry::outbound(std::string_view name) const {
  for (const OutboundKind& k : outbounds_) {
    if (k.name == name) return &k;
  }
  return nullptr;
}

bool Registry::is_missing(std::string_view name) const {
  return std::find(missing_.begin(), missing_.end(), name) != missing_.end();
}

}  // namespace culvert::flow
