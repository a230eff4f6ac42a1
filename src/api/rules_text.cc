#include "api/rules_text.h"

#include "api/views.h"

namespace culvert::api {
namespace {

// As Go prints a time that never was.
constexpr std::string_view kNeverText = "0001-01-01T00:00:00Z";

std::shared_ptr<const ControllerState::Hits> hits_of(
    ControllerState& state, const std::shared_ptr<const engine::Generation>& generation) {
  const TimePoint now = rt::Worker::here().now();
  std::shared_ptr<const ControllerState::Hits> known = state.hits.lock();
  if (known != nullptr && known->generation == generation.get() &&
      now - known->when < RulesText::kHitsAge) {
    return known;
  }
  auto fresh = std::make_shared<ControllerState::Hits>();
  std::vector<const route::HitCounters*> workers;
  for (const auto& counters : generation->hits) workers.push_back(counters.get());
  fresh->rules = route::sum_hits(workers, generation->settings->rules->size());
  fresh->generation = generation.get();
  fresh->when = now;
  state.hits = fresh;
  return fresh;
}

// The moment as text: "0001-01-01T00:00:00Z" for never.
std::string_view moment(int64_t ms, char (&buffer)[kRfc3339Size]) {
  if (ms == 0) return kNeverText;
  write_rfc3339(WallTime(std::chrono::milliseconds(ms)), buffer);
  return {buffer, sizeof buffer};
}

}  // namespace

RulesText::RulesText(ControllerState& state, std::shared_ptr<const engine::Generation> generation)
    : generation_(std::move(generation)), hits_(hits_of(state, generation_)) {
  writer_.begin_object().key("rules").begin_array();
}

void RulesText::append(uint32_t rule) {
  const engine::Generation& g = *generation_;
  const route::RuleList& rules = *g.settings->rules;
  const route::RuleHits& hits = hits_->rules[rule];
  const route::RuleType type = rules.type(rule);
  writer_.begin_object().field("index", uint64_t{rule});
  writer_.plain_field("type", route::api_name(type));
  if (route::is_condition(type)) {
    writer_.field("payload", rules.payload(rule));
  } else {
    route::RuleList::Text buffer;
    writer_.field("payload", rules.payload(rule, buffer));
  }
  writer_.field("proxy", g.target_name(rules.outbound(rule))).raw(R"("size":-1)");
  writer_.key("extra").begin_object().flag("disabled", g.tables->is_disabled(rule));
  char when[kRfc3339Size];
  writer_.field("hitCount", hits.hits).plain_field("hitAt", moment(hits.hit_at, when));
  writer_.field("missCount", hits.misses).plain_field("missAt", moment(hits.missed_at, when));
  writer_.end_object().end_object();
}

rt::Task<Status> RulesText::next(TimePoint) {
  if (at_ != 0) text_.clear();
  const uint32_t count = generation_->settings->rules->size();
  for (; at_ < count && text_.size() < kPiece; ++at_) append(at_);
  if (at_ == count) {
    writer_.end_array().end_object();
    complete_ = true;
  }
  co_return Status();
}

}  // namespace culvert::api
