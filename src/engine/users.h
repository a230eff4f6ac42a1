// Users: the profile's credentials, as the Authenticator the inbounds ask.
//
// A table of open addressing, found by a keyed hash of name and password together: an unknown name
// and a wrong password are the same miss, and how long one takes says nothing about what is in the
// table. What is found is compared to the end, words at a time.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/keyed_hash.h"
#include "flow/authenticator.h"

namespace culvert::engine {

struct User {
  std::string name;
  std::string password;
};

class Users final : public flow::Authenticator {
 public:
  // `exempt`: sources that need no credentials (skip-auth-prefixes). Of two users of one name the
  // first counts.
  Users(std::vector<User> users, std::vector<Prefix> exempt);
  bool any() const override { return !records_.empty(); }
  bool required(const IpAddress& source) const override;
  std::optional<uint32_t> check(std::string_view user, std::string_view password) const override;
  // Users are numbered in their order, until check() is to call one otherwise.
  void set_id(size_t index, uint32_t id);
  [[nodiscard]] std::string_view name(size_t index) const;
  [[nodiscard]] size_t size() const { return records_.size(); }

 private:
  // Before each user's name and password in texts_.
  struct Record {
    uint32_t id;
    uint32_t name_size;
    uint32_t password_size;
  };
  struct Slot {
    uint32_t tag = 0;     // the upper half of the hash
    uint32_t record = 0;  // where in texts_, plus one; 0: empty
  };

  [[nodiscard]] Record record_at(uint32_t at) const;
  void insert(uint32_t at);
  static bool is_of(const char* record, std::string_view user, std::string_view password);

  KeyedHash hash_;
  std::vector<Slot> slots_;  // a power of two, a third of them empty at least
  size_t mask_;
  std::vector<char> texts_;
  std::vector<uint32_t> records_;  // in order, where in texts_
  std::vector<Prefix> exempt_;
};

}  // namespace culvert::engine
