// ConditionIndex: the first rule of a list, by order, whose condition holds for a flow. Most are
// ruled out 64 at a time by their signatures; what is left is judged. Borrows the list.
#pragma once

#include <cstdint>
#include <vector>

#include "flow/meta.h"
#include "route/facts.h"
#include "route/rule_list.h"
#include "route/signature.h"

namespace culvert::route {

class ConditionIndex {
 public:
  // Of the rules before `end` that are conditions and not disabled; `disabled` may be null.
  ConditionIndex(const RuleList& rules, const Disabled* disabled, uint32_t end);

  struct Found {
    uint32_t rule;
    Conditions::Verdict verdict;  // of `rule`
  };
  // Which classes of a host find() looks at.
  [[nodiscard]] bool wants_names() const { return wants_names_; }
  [[nodiscard]] bool wants_letters() const { return wants_letters_; }
  // The first rule in [from, limit) that holds or needs the address; `limit` and kNo when none
  // does. `classes` are those of the flow's host.
  [[nodiscard]] Found find(const flow::FlowMeta& meta, const Facts& facts,
                           const HostClasses& classes, uint32_t from, uint32_t limit) const {
    if (members_.empty()) return {limit, Conditions::Verdict::kNo};
    return search(meta, facts, classes, from, limit);
  }

 private:
  static constexpr size_t kClasses = 64;
  struct Member {
    uint32_t rule;
    uint64_t letters;
  };
  // For each class, and for flows of none, a bit for each member: whether it may hold.
  class Rows {
   public:
    void resize(size_t members) {
      words_ = (members + 63) / 64;
      bits_.assign(words_ * (kClasses + 1), 0);
    }
    // `classes` as in Signature.
    void set(size_t member, uint64_t classes);
    [[nodiscard]] const uint64_t* of(size_t row) const { return bits_.data() + row * words_; }
    [[nodiscard]] const uint64_t* of_none() const { return of(kClasses); }
    [[nodiscard]] size_t words() const { return words_; }

   private:
    size_t words_ = 0;
    std::vector<uint64_t> bits_;
  };
  [[nodiscard]] Found search(const flow::FlowMeta& meta, const Facts& facts,
                             const HostClasses& classes, uint32_t from, uint32_t limit) const;

  const RuleList& rules_;
  std::vector<Member> members_;  // in order
  bool wants_names_ = false;
  bool wants_letters_ = false;
  // Of lists long enough.
  Rows names_;
  Rows ports_;
  Rows sources_;
  Rows networks_;
  Rows inbounds_;
};

}  // namespace culvert::route
