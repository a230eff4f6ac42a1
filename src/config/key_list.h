// docs/config.md, made from the table in schema.h: what `culvert keys` prints.
#pragma once

#include <string>

namespace culvert::config {

std::string keys_markdown();

}  // namespace culvert::config
