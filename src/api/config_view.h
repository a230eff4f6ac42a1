// The general settings as JSON in mihomo's shape: what GET /configs answers. What this version has
// not is there with the value of what is switched off.
#pragma once

#include <string>

#include "config/settings.h"

namespace culvert::api {

std::string config_json(const config::Settings& settings);

}  // namespace culvert::api
