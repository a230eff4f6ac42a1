// The listeners of the general keys port, socks-port and mixed-port, and where allow-lan and
// bind-address put them.
#pragma once

#include <cstdint>

#include "config/settings.h"

namespace culvert::api {

enum class ClassicPort : uint8_t { kHttp, kSocks, kMixed };

// 0 where there is none.
uint16_t port_of(const config::Settings& settings, ClassicPort which);
// Opens, moves or, for 0, takes away the one listener.
void set_port(config::Settings& settings, ClassicPort which, uint16_t port);
// After a change of allow-lan or bind-address. False when bind-address is no address.
bool place_classic_ports(config::Settings& settings);

}  // namespace culvert::api
