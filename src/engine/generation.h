// Generation: everything a profile decides, built once and then only read. Workers hold a pointer
// to the current one; nothing that waits keeps a reference into it. What is not bound to one
// profile, nodes above all, is shared with the generation before.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/diagnostics.h"
#include "config/settings.h"
#include "engine/guard.h"
#include "engine/node.h"
#include "engine/surroundings.h"
#include "engine/users.h"
#include "flow/registry.h"
#include "group/group.h"
#include "route/hit_counters.h"
#include "route/matcher.h"
#include "stats/conversations.h"

namespace culvert::engine {

// What a rule, a group or a listener sends flows to.
struct Target {
  enum class Kind : uint8_t { kNode, kGroup };
  Kind kind = Kind::kNode;
  uint32_t index = 0;   // into nodes or groups
  uint32_t number = 0;  // its name's in the directory
};

// From a target through the choices of groups to the node that carries the flow.
struct Path {
  std::shared_ptr<Node> node;
  bool pass = false;  // the node is PASS: the next rule counts
  std::array<uint32_t, stats::Conversations::kMaxChain> numbers;  // the node's first
  size_t length = 0;
  [[nodiscard]] std::span<const uint32_t> chain() const { return {numbers.data(), length}; }
};

class Generation {
 public:
  using SettingsPtr = std::shared_ptr<const config::Settings>;

  // Builds rules and nodes; nullptr with errors added when the profile cannot be served. Nodes that
  // are the same in `before`, which may be nullptr, are taken over from it. Any thread.
  static std::shared_ptr<Generation> build(SettingsPtr settings, const Surroundings& surroundings,
                                           const Generation* before, Diagnostics& diagnostics);
  // As this one, with rules disabled or enabled by index; indices beyond the end are left out.
  [[nodiscard]] std::shared_ptr<Generation> with_rules(
      std::span<const std::pair<uint32_t, bool>> disable) const;
  Generation& operator=(const Generation&) = delete;
  Generation(Generation&&) = delete;
  ~Generation() = default;

  struct Listener {
    std::string name;
    std::string type;
    Endpoint at;
    rt::ListenOptions options;
    bool classic = false;
    uint32_t number = 0;  // its name's in the directory
    std::shared_ptr<flow::Inbound> inbound;
    std::shared_ptr<Users> users;
    const route::Tables* tables = nullptr;  // judges its flows
    std::optional<uint32_t> proxy;          // judges them instead
  };

  SettingsPtr settings;
  config::Mode mode = config::Mode::kRule;
  std::shared_ptr<const Guard> guard;
  std::vector<std::shared_ptr<Node>> nodes;  // the built-in ones first
  std::vector<std::shared_ptr<group::Group>> groups;
  std::vector<Target> targets;   // as settings->targets
  std::shared_ptr<Users> users;  // authentication
  std::vector<Listener> listeners;
  std::shared_ptr<const route::Tables> tables;
  std::vector<std::shared_ptr<const route::Tables>> sub_tables;  // as settings->sub_rules
  std::vector<std::shared_ptr<route::HitCounters>> hits;         // of `tables`, one for each worker

  [[nodiscard]] std::optional<uint32_t> find_target(std::string_view name) const;
  [[nodiscard]] const std::string& target_name(uint32_t target) const {
    return settings->targets[target];
  }
  [[nodiscard]] Path resolve(uint32_t target) const;
  // The group of that name, or nullptr.
  [[nodiscard]] group::Group* find_group(std::string_view name) const;
  // A listener with this number, or nullptr when there is none any more.
  [[nodiscard]] const Listener* listener(uint32_t number) const;
  // lan-allowed-ips and lan-disallowed-ips: allowed and not disallowed.
  [[nodiscard]] bool admits(const IpAddress& source) const;

  // Before it is served by so many workers: gives everything its number and lets groups choose what
  // those of `before` have chosen, or `remembered` says (group and member by name). The control
  // thread only.
  void settle(size_t workers, stats::Directory& directory, const Generation* before,
              std::span<const std::pair<std::string, std::string>> remembered);

 private:
  Generation() = default;
  Generation(const Generation&) = default;
  void index_names();

  std::unordered_map<std::string_view, uint32_t> target_of_;  // views into settings
  std::vector<uint32_t> listener_of_;                         // by number
};

}  // namespace culvert::engine
