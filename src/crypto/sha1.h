// SHA-1, for the WebSocket handshake (RFC 6455) and nothing that needs a strong hash.
#pragma once

#include <array>
#include <cstdint>

#include "base/bytes.h"

namespace culvert::crypto {

std::array<uint8_t, 20> sha1(Bytes data);

}  // namespace culvert::crypto
