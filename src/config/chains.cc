// Loops: of groups that have one another as members, and of nodes that dial through one another.
#include <algorithm>

#include "base/format.h"
#include "config/loading.h"

namespace culvert::config {
namespace {

// Names of a loop that a message has room for.
constexpr size_t kMaxNamed = 16;
constexpr uint32_t kNone = UINT32_MAX;

std::string names_of(const Loading& loading, const std::vector<uint32_t>& loop) {
  std::string out;
  for (size_t i = 0; i < loop.size() && i < kMaxNamed; ++i) {
    out += loading.targets.name(loop[i]) + " -> ";
  }
  if (loop.size() > kMaxNamed) out += "... -> ";
  return out + loading.targets.name(loop.front());
}

// Puts each group after its members, and reports each loop once. Without recursion: a profile may
// have chains of thousands.
class GroupOrder {
 public:
  explicit GroupOrder(Loading& loading)
      : loading_(loading), groups_(loading.out.groups), group_of_(loading.targets.size(), kNone) {
    for (uint32_t i = 0; i < groups_.size(); ++i) group_of_[groups_[i].target] = i;
    states_.resize(groups_.size());
  }

  void run() {
    for (uint32_t i = 0; i < groups_.size(); ++i) visit(i);
    std::vector<GroupSettings> sorted;
    sorted.reserve(groups_.size());
    for (const uint32_t i : order_) sorted.push_back(std::move(groups_[i]));
    groups_ = std::move(sorted);
  }

 private:
  enum class Seen : uint8_t { kNot, kOpen, kDone };
  struct Step {
    uint32_t group;
    size_t next;  // member
  };

  void visit(uint32_t first) {
    if (states_[first] != Seen::kNot) return;
    open(first);
    while (!path_.empty()) {
      Step& step = path_.back();
      if (step.next == groups_[step.group].members.size()) {
        states_[step.group] = Seen::kDone;
        order_.push_back(step.group);
        path_.pop_back();
        continue;
      }
      const uint32_t member = group_of_[groups_[step.group].members[step.next++]];
      if (member == kNone || states_[member] == Seen::kDone) continue;
      if (states_[member] == Seen::kOpen) {
        report(member);
      } else {
        open(member);
      }
    }
  }

  void open(uint32_t group) {
    states_[group] = Seen::kOpen;
    path_.push_back({group, 0});
  }

  // The loop is the path from `group` on.
  void report(uint32_t group) {
    std::vector<uint32_t> loop;
    const auto begin = std::ranges::find(path_, group, &Step::group);
    for (auto at = begin; at != path_.end(); ++at) loop.push_back(groups_[at->group].target);
    const GroupSettings& at = groups_[group];
    loading_.top.diagnostics().add({Severity::kError,
                                    loading_.top.source(),
                                    at.line,
                                    at.column,
                                    "proxy-groups",
                                    "a loop of groups: " + names_of(loading_, loop),
                                    {}});
  }

  Loading& loading_;
  std::vector<GroupSettings>& groups_;
  std::vector<uint32_t> group_of_;  // by target; kNone for what is not a group
  std::vector<Seen> states_;
  std::vector<Step> path_;
  std::vector<uint32_t> order_;
};

// Which nodes can ever be dialled: a node with no dialer-proxy, one whose dialer-proxy can, a group
// with a member that can. A group that has the node itself among others is fine: what is selected
// decides, and a dial in a loop fails by itself.
class DialerCheck {
 public:
  explicit DialerCheck(Loading& loading)
      : loading_(loading),
        through_(loading.targets.size(), kNone),
        group_of_(loading.targets.size(), kNone),
        reaches_(loading.targets.size(), true) {}

  void run() {
    if (!find_dialers()) return;
    for (uint32_t i = 0; i < loading_.out.groups.size(); ++i) {
      const GroupSettings& group = loading_.out.groups[i];
      group_of_[group.target] = i;
      reaches_[group.target] = false;
    }
    settle();
    std::vector<bool> told(reaches_.size());
    for (const ProxySettings& proxy : loading_.out.proxies) {
      if (!reaches_[proxy.target] && !told[proxy.target]) report(proxy, told);
    }
  }

 private:
  // False when no node has one.
  bool find_dialers() {
    bool any = false;
    for (size_t i = 0; i < loading_.out.proxies.size(); ++i) {
      const ProxySettings& proxy = loading_.out.proxies[i];
      if (proxy.common.dialer_proxy.empty()) continue;
      const auto target = find_target(loading_, proxy.common.dialer_proxy);
      if (!target) {
        loading_.top.fail(*loading_.dialers[i], format("proxies['{}'].dialer-proxy", proxy.name),
                          "the name of a proxy or a group");
        continue;
      }
      through_[proxy.target] = *target;
      reaches_[proxy.target] = false;
      any = true;
    }
    return any;
  }

  // From what reaches to what goes through it, each pair once.
  void settle() {
    std::vector<std::vector<uint32_t>> users(reaches_.size());
    std::vector<uint32_t> work;
    for (const ProxySettings& proxy : loading_.out.proxies) {
      if (through_[proxy.target] != kNone) users[through_[proxy.target]].push_back(proxy.target);
    }
    for (const GroupSettings& group : loading_.out.groups) {
      for (const uint32_t member : group.members) users[member].push_back(group.target);
    }
    for (uint32_t t = 0; t < reaches_.size(); ++t) {
      if (reaches_[t]) work.push_back(t);
    }
    while (!work.empty()) {
      const uint32_t target = work.back();
      work.pop_back();
      for (const uint32_t user : users[target]) {
        if (reaches_[user]) continue;
        reaches_[user] = true;
        work.push_back(user);
      }
    }
  }

  // From a node that does not reach, every step leads to another one, so that a loop is met.
  void report(const ProxySettings& proxy, std::vector<bool>& told) {
    std::vector<uint32_t> path;
    uint32_t at = proxy.target;
    while (!told[at]) {
      told[at] = true;
      path.push_back(at);
      if (through_[at] != kNone) {
        at = through_[at];
      } else if (const auto& members = loading_.out.groups[group_of_[at]].members;
                 !members.empty()) {
        at = members.front();
      } else {
        return;  // a group with an error of its own
      }
    }
    const auto begin = std::ranges::find(path, at);
    if (begin == path.end()) return;  // leads into a loop that was told
    const std::vector<uint32_t> loop(begin, path.end());
    loading_.top.diagnostics().add({Severity::kError,
                                    loading_.top.source(),
                                    proxy.line,
                                    proxy.column,
                                    "proxies",
                                    "dialer-proxy leads into a loop: " + names_of(loading_, loop),
                                    {}});
  }

  Loading& loading_;
  std::vector<uint32_t> through_;   // by target
  std::vector<uint32_t> group_of_;  // by target; kNone for what is not a group
  std::vector<bool> reaches_;
};

}  // namespace

void order_groups(Loading& loading) {
  GroupOrder(loading).run();
}

void check_dialers(Loading& loading) {
  DialerCheck(loading).run();
}

}  // namespace culvert::config
