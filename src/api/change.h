// What a change of the profile comes to, as an answer.
#pragma once

#include "api/routes.h"
#include "engine/reloader.h"

namespace culvert::api {

// Of what is wrong with a profile at most so much is told.
inline constexpr size_t kErrorsTold = 5;

// 204; 400 with the first errors, each with its line; 503 when too many changes wait.
Reply reply_of(const engine::Reloader::Outcome& outcome);

}  // namespace culvert::api
