// What the controller answers, as JSON in mihomo's shapes.
#pragma once

#include <cstdint>
#include <string>

#include "api/json_writer.h"
#include "engine/engine.h"
#include "stats/conversations.h"

namespace culvert::api {

// One element of "connections".
void append_connection(JsonWriter& w, const engine::Engine& engine,
                       const stats::FlowSnapshot& snapshot, const stats::FlowSnapshot::Item& item);

// {"up","down","upTotal","downTotal"}; rates in bytes per second.
std::string traffic_json(uint64_t up, uint64_t down, uint64_t up_total, uint64_t down_total);

// {"inuse","oslimit"}
std::string memory_json(uint64_t in_use);

// Resident memory of this process in bytes.
uint64_t resident_memory();

// "2026-01-02T03:04:05.000000006Z": a WallTime's years, 1677 to 2262, have four digits.
inline constexpr size_t kRfc3339Size = 30;
void write_rfc3339(WallTime t, char (&out)[kRfc3339Size]);
std::string rfc3339(WallTime t);

}  // namespace culvert::api
