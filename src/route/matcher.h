// The matcher: which rule a flow falls under. Pure and resumable: when a rule needs a fact that is
// not there yet, match() says which one and where to go on; the caller finds it out and calls
// again.
//
//   Decision d = tables.match(meta, facts, 0);
//   while (d.kind == Decision::Kind::kNeedIp) {
//     ... resolve, set meta.resolved, facts.ip_known = true ...
//     d = tables.match(meta, facts, d.rule);
//   }
//
// A decision for the target kPass is none: the flow goes on behind the rule,
//
//   d = tables.match(meta, facts, d.rule + 1);
//
// which may ask for a fact again, unless it is known, and goes on so until another target or
// kNoMatch comes. match() begins anywhere, so also behind the last rule; from where no flow has
// been led by these two ways it may have to look at each rule in turn.
//
// Tables are immutable and belong to a generation: nothing that waits keeps a reference into them.
// A stage that has awaited asks for the current tables again and begins at rule 0 if they changed.
// Rule hosts are compared as they are: the caller passes them lower-cased.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "flow/meta.h"
#include "route/address_index.h"
#include "route/condition_index.h"
#include "route/facts.h"
#include "route/name_index.h"
#include "route/rule.h"
#include "route/rule_list.h"

namespace culvert::route {

struct Decision {
  enum class Kind : uint8_t {
    kMatched,      // `rule` and `outbound` say which
    kNoMatch,      // no rule applies: the flow goes DIRECT
    kNeedIp,       // `rule` needs the destination's address
    kNeedProcess,  // `rule` needs the process behind the flow
  };
  Kind kind = Kind::kNoMatch;
  uint32_t rule = UINT32_MAX;
  uint32_t outbound = UINT32_MAX;
};

class Tables {
 public:
  // Rules that are disabled, one flag each, are as if they were not there, but places in the list
  // stay what they are. Null: none is.
  explicit Tables(std::shared_ptr<const RuleList> rules,
                  std::shared_ptr<const Disabled> disabled = nullptr);
  explicit Tables(const std::vector<Rule>& rules);

  // The Decision is put together here, where the caller wants it: returned in two registers it
  // would be written to the stack in pieces and read back whole, which stalls for longer than a
  // short list of rules takes.
  [[nodiscard]] Decision match(const flow::FlowMeta& meta, const Facts& facts,
                               uint32_t from_rule) const {
    const uint32_t found = from_rule == match_all_ ? from_rule : find(meta, facts, from_rule);
    if ((found & kAsk) == 0) [[likely]] {
      return {Decision::Kind::kMatched, found, rules_->outbound(found)};
    }
    if (found == kNone) return {};
    return {Decision::Kind::kNeedIp, found & ~kAsk, UINT32_MAX};
  }
  [[nodiscard]] const RuleList& rules() const { return *rules_; }
  [[nodiscard]] bool is_disabled(uint32_t rule) const {
    return route::is_disabled(disabled_.get(), rule);
  }

 private:
  // What find() returns: the rule that matches, kAsk and the rule that needs the address, or kNone.
  static constexpr uint32_t kAsk = uint32_t{1} << 31;
  static constexpr uint32_t kNone = UINT32_MAX;
  [[nodiscard]] uint32_t find(const flow::FlowMeta& meta, const Facts& facts,
                              uint32_t from_rule) const;
  // The same, by looking at one rule after another.
  [[nodiscard]] uint32_t walk(const flow::FlowMeta& meta, const Facts& facts,
                              uint32_t from_rule) const;

  // What is looked up instead of walked: the rules before the first MATCH. Address rules in two
  // parts, because a flow whose address was asked for goes on at the rule that asked, and those
  // before it are not for it. Conditions cannot be looked up: of those before the rule that was
  // found the ones that have a chance are judged in turn.
  struct Index {
    Index(const RuleList& rules, const Disabled* disabled, uint32_t end);
    uint32_t divided;  // the first rule of any type that may want a name resolved; kNone
    uint32_t asking;   // the first IP-CIDR rule that does; kNone
    NameIndex names;
    KeywordIndex keywords;
    AddressIndex before_divided;
    AddressIndex from_divided;
    ConditionIndex conditions;
  };
  std::shared_ptr<const RuleList> rules_;  // the settings' own
  std::shared_ptr<const Disabled> disabled_;
  uint32_t match_all_ = kNone;          // the first MATCH
  std::unique_ptr<const Index> index_;  // of lists long enough
};

}  // namespace culvert::route
