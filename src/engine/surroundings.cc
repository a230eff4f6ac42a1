#include "engine/surroundings.h"

#include "engine/worker_core.h"

namespace culvert::engine {

Surroundings::Surroundings(const flow::Registry& registry, flow::Resolver& resolver)
    : registry_(registry), resolver_(resolver) {}

const Generation& Surroundings::current() const {
  return (*cores_)[rt::Worker::here().index()]->generation();
}

bool Surroundings::CurrentGuard::allows(const flow::FlowMeta& meta, const Endpoint& to) const {
  const Guard& guard = *surroundings_.current().guard;
  return servers_ ? !guard.is_own_listener(to) : guard.allows(meta, to);
}

}  // namespace culvert::engine
