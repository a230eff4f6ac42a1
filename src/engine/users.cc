#include "engine/users.h"

#include <algorithm>

namespace culvert::engine {
namespace {

// Takes a time that depends on the length of what was offered only.
bool equal_in_constant_time(std::string_view offered, std::string_view expected) {
  static constexpr std::string_view kNothing("\0", 1);
  const std::string_view cycle = expected.empty() ? kNothing : expected;
  unsigned difference = offered.size() != expected.size() ? 1 : 0;
  size_t at = 0;
  for (const char c : offered) {
    difference |= static_cast<unsigned char>(c) ^ static_cast<unsigned char>(cycle[at]);
    at = at + 1 == cycle.size() ? 0 : at + 1;
  }
  return difference == 0;
}

}  // namespace

Users::Users(std::vector<User> users, std::vector<Prefix> exempt)
    : users_(std::move(users)), exempt_(std::move(exempt)) {
  for (uint32_t i = 0; i < users_.size(); ++i) by_name_.emplace(users_[i].name, i);
}

bool Users::required(const IpAddress& source) const {
  if (users_.empty()) return false;
  const IpAddress ip = source.unmapped();
  return std::none_of(exempt_.begin(), exempt_.end(),
                      [&](const Prefix& p) { return p.contains(ip); });
}

std::optional<uint32_t> Users::check(std::string_view user, std::string_view password) const {
  const auto found = by_name_.find(user);
  const bool known = found != by_name_.end();
  // An unknown name is compared with something all the same.
  const bool equal =
      equal_in_constant_time(password, known ? std::string_view(users_[found->second].password)
                                             : std::string_view("\xff no such user"));
  if (!known || !equal) return std::nullopt;
  return found->second;
}

std::string_view Users::user_name(uint32_t id) const {
  return id < users_.size() ? std::string_view(users_[id].name) : std::string_view();
}

}  // namespace culvert::engine
