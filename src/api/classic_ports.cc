#include "api/classic_ports.h"

#include <algorithm>

#include "config/address.h"

namespace culvert::api {
namespace {

struct Names {
  std::string_view name;
  std::string_view type;
};
constexpr Names kNames[] = {
    {"DEFAULT-HTTP", "http"}, {"DEFAULT-SOCKS", "socks"}, {"DEFAULT-MIXED", "mixed"}};

const Names& names_of(ClassicPort which) {
  return kNames[static_cast<size_t>(which)];
}

auto is(ClassicPort which) {
  return [name = names_of(which).name](const config::ListenerSettings& l) {
    return l.classic && l.name == name;
  };
}

std::optional<IpAddress> address_of(const config::Settings& settings) {
  if (!settings.allow_lan) return IpAddress::v4(0x7F000001);
  return config::parse_bind_address(settings.bind_address);
}

}  // namespace

uint16_t port_of(const config::Settings& settings, ClassicPort which) {
  const auto found = std::ranges::find_if(settings.listeners, is(which));
  return found == settings.listeners.end() ? uint16_t{0} : found->listen.port;
}

void set_port(config::Settings& settings, ClassicPort which, uint16_t port) {
  auto& listeners = settings.listeners;
  const auto found = std::ranges::find_if(listeners, is(which));
  if (port == 0) {
    if (found != listeners.end()) listeners.erase(found);
    return;
  }
  if (found != listeners.end()) {
    found->listen.port = port;
    return;
  }
  config::ListenerSettings fresh;
  fresh.name = names_of(which).name;
  fresh.type = names_of(which).type;
  fresh.classic = true;
  fresh.listen = {address_of(settings).value_or(IpAddress::v4(0x7F000001)), port};
  // In front of those of `listeners`, as a profile has them.
  const auto first_other = std::ranges::find(listeners, false, &config::ListenerSettings::classic);
  listeners.insert(first_other, std::move(fresh));
}

bool place_classic_ports(config::Settings& settings) {
  const auto ip = address_of(settings);
  if (!ip) return false;
  for (config::ListenerSettings& l : settings.listeners) {
    if (l.classic) l.listen.ip = *ip;
  }
  return true;
}

}  // namespace culvert::api
