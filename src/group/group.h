// Group: a proxy group, which gives a flow to one of its members. What it consists of is fixed;
// which member it gives flows to may change at any time.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace culvert::group {

class Group {
 public:
  // `type`: the API's word, a literal: "Selector". `members`: what they stand for is the caller's
  // (the engine's targets); at least one.
  Group(std::string name, std::string_view type, std::vector<uint32_t> members)
      : name_(std::move(name)), type_(type), members_(std::move(members)) {}

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] std::string_view type() const { return type_; }
  [[nodiscard]] const std::vector<uint32_t>& members() const { return members_; }
  // The place of the member that flows go to now. Any thread.
  [[nodiscard]] uint32_t chosen() const { return chosen_.load(std::memory_order_relaxed); }
  // The same, as the member itself.
  [[nodiscard]] uint32_t pick() const { return members_[chosen()]; }
  // Any thread; flows that are open stay where they are. `place` is below members().size().
  void choose(uint32_t place) { chosen_.store(place, std::memory_order_relaxed); }

 private:
  const std::string name_;
  const std::string_view type_;
  const std::vector<uint32_t> members_;
  std::atomic<uint32_t> chosen_{0};
};

}  // namespace culvert::group
