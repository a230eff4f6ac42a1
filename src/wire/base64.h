// Base64 (RFC 4648 section 4).
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/bytes.h"

namespace culvert::wire {

std::string encode_base64(Bytes bytes);
// With or without padding; nothing when a character is not of the alphabet or bits are left over.
std::optional<std::string> decode_base64(std::string_view text);

}  // namespace culvert::wire
