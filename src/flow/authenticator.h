// Authenticator: credentials to user id. Supplied by the engine from the profile's users.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/ip.h"

namespace culvert::flow {

class Authenticator {
 public:
  virtual ~Authenticator() = default;
  // Whether there are any users.
  [[nodiscard]] virtual bool any() const = 0;
  // False when a client from `source` need not show credentials (none are configured, or its
  // address is in skip-auth-prefixes).
  [[nodiscard]] virtual bool required(const IpAddress& source) const = 0;
  // The user's id, or nothing. Takes the same time whether the name or the password is wrong.
  [[nodiscard]] virtual std::optional<uint32_t> check(std::string_view user,
                                                      std::string_view password) const = 0;
};

}  // namespace culvert::flow
