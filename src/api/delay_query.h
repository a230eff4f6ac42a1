// Delay tests over the API: of one target, and of a group's members.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "api/routes.h"
#include "engine/delay.h"
#include "engine/generation.h"

namespace culvert::api {

// A group's members that are tested at once.
inline constexpr size_t kTestsAtOnce = 16;
// Longer timeouts are as this one.
inline constexpr Duration kMaxDelayTest = std::chrono::minutes(10);

// ?url=&timeout=&expected=; `url` and `expected` where the query has none. Without a value when
// `refusal` is the answer.
std::optional<engine::DelayTest> parse_delay_query(std::string_view query, std::string_view url,
                                                   std::string_view expected, bool unified,
                                                   Reply& refusal);

// {"delay":n}; a group is its leaf.
rt::Task<Reply> answer_delay(engine::Engine& engine,
                             std::shared_ptr<const engine::Generation> generation, uint32_t target,
                             engine::DelayTest test);

// {name:n}, of the members that answered; each node is tested once, whatever its names, and all of
// it takes no longer than the test's timeout.
rt::Task<Reply> answer_group_delay(engine::Engine& engine,
                                   std::shared_ptr<const engine::Generation> generation,
                                   std::vector<uint32_t> members, engine::DelayTest test);

}  // namespace culvert::api
