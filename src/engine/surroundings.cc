#include "engine/surroundings.h"

#include <algorithm>

#include "engine/worker_core.h"

namespace culvert::engine {

Surroundings::Surroundings(const flow::Registry& registry, flow::Resolver& resolver)
    : registry_(registry), resolver_(resolver) {}

const Generation& Surroundings::current() const {
  const rt::Worker& here = rt::Worker::here();
  // The program numbers its workers as their cores stand; a simulation has other workers too.
  const size_t i = here.index();
  if (i < cores_->size() && &(*cores_)[i]->worker() == &here) return (*cores_)[i]->generation();
  const auto core = std::ranges::find_if(
      *cores_, [&](const auto& c) { return c != nullptr && &c->worker() == &here; });
  CULVERT_CHECK(core != cores_->end());
  return (*core)->generation();
}

bool Surroundings::CurrentGuard::allows(const flow::FlowMeta& meta, const Endpoint& to) const {
  const Guard& guard = *surroundings_.current().guard;
  return servers_ ? !guard.is_own_listener(to) : guard.allows(meta, to);
}

}  // namespace culvert::engine
