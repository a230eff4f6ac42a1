// Users: the profile's credentials, as the Authenticator the inbounds ask.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "flow/authenticator.h"

namespace culvert::engine {

struct User {
  std::string name;
  std::string password;
};

class Users final : public flow::Authenticator {
 public:
  // `exempt`: sources that need no credentials (skip-auth-prefixes).
  Users(std::vector<User> users, std::vector<Prefix> exempt);
  bool required(const IpAddress& source) const override;
  std::optional<uint32_t> check(std::string_view user, std::string_view password) const override;
  std::string_view user_name(uint32_t id) const override;
  [[nodiscard]] size_t size() const { return users_.size(); }

 private:
  std::vector<User> users_;
  std::vector<Prefix> exempt_;
  std::unordered_map<std::string_view, uint32_t> by_name_;
};

}  // namespace culvert::engine
