// What has been found out about a flow besides its meta.
#pragma once

#include <string_view>

namespace culvert::route {

struct Facts {
  bool ip_known = false;  // resolving was tried: meta.resolved is valid, or there is no address
  // Of the listener the flow came in by and of who authenticated; empty when there is none. Valid
  // for the call they are passed to.
  std::string_view inbound_name = {};
  std::string_view user_name = {};
};

}  // namespace culvert::route
