// The parts of the table. Internal to config/.
#pragma once

#include <span>

#include "config/schema.h"

namespace culvert::config {

std::span<const KeyRow> general_rows();
std::span<const KeyRow> node_rows();
std::span<const KeyRow> listener_rows();

}  // namespace culvert::config
