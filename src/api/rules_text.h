// RulesText: the answer of /rules, a piece at a time: there may be hundreds of thousands of them.
//
//   {"rules":[{"index","type","payload","proxy","size","extra"}]}
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "api/json_writer.h"
#include "api/state.h"
#include "api/text_source.h"
#include "engine/generation.h"

namespace culvert::api {

class RulesText final : public TextSource {
 public:
  // How old a count may be that is shared with others who read it: it is 32 bytes a rule, and who
  // begins a moment later need not have one of his own.
  static constexpr Duration kHitsAge = std::chrono::seconds(1);

  RulesText(ControllerState& state, std::shared_ptr<const engine::Generation> generation);
  rt::Task<Status> next(TimePoint deadline) override;
  [[nodiscard]] std::string_view piece() const override { return text_; }
  [[nodiscard]] bool complete() const override { return complete_; }

 private:
  void append(uint32_t rule);
  const std::shared_ptr<const engine::Generation> generation_;
  std::shared_ptr<const ControllerState::Hits> hits_;
  uint32_t at_ = 0;
  std::string text_;
  JsonWriter writer_{text_};
  bool complete_ = false;
};

}  // namespace culvert::api
