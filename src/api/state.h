// What the sessions of one controller have in common. On the control worker; outlives them.
#pragma once

#include <memory>
#include <vector>

#include "api/body.h"
#include "api/controller.h"
#include "api/shared_listing.h"
#include "route/hit_counters.h"

namespace culvert::api {

struct ControllerState {
  const Controller::Parts& parts;
  // The current ones: not to be kept over a wait.
  const Controller::Options& options;
  SharedListings listings;
  BodyRoom bodies;

  // What rules were hit, as it was counted for who still reads it (rules_text.h).
  struct Hits {
    std::vector<route::RuleHits> rules;
    const engine::Generation* generation = nullptr;
    TimePoint when{};
  };
  std::weak_ptr<const Hits> hits;
};

}  // namespace culvert::api
