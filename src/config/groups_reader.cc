// `proxy-groups`.
#include <algorithm>

#include "base/format.h"
#include "config/loading.h"
#include "config/members.h"
#include "config/schema.h"

namespace culvert::config {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using yaml::Node;

constexpr std::string_view kKey = "proxy-groups";
constexpr size_t kMaxGroups = 4'096;
constexpr std::string_view kTypes[] = {"select", "url-test", "fallback", "load-balance", "relay"};
constexpr std::string_view kStrategies[] = {"consistent-hashing", "round-robin", "sticky-sessions"};
constexpr Duration kMaxTimeout = std::chrono::hours(24);
constexpr Duration kMaxInterval = std::chrono::hours(24 * 366);

// "", "*", or ranges such as 200-299/304.
bool is_status_list(std::string_view text) {
  if (text.empty() || text == "*") return true;
  const auto status = [](std::string_view digits) {
    const auto value = parse_port(digits);
    return value && *value < 1000;
  };
  for (std::string_view rest = text;;) {
    const size_t end = rest.find_first_of("/,");
    const std::string_view range = rest.substr(0, end);
    const size_t dash = range.find('-');
    if (!status(range.substr(0, dash))) return false;
    if (dash != std::string_view::npos && !status(range.substr(dash + 1))) return false;
    if (end == std::string_view::npos) return true;
    rest.remove_prefix(end + 1);
  }
}

// An entry whose name and type are known.
struct Entry {
  yaml::MapReader map;
  size_t group;  // in Settings::groups
};

std::optional<std::string> read_type(yaml::MapReader& entry) {
  const auto type = entry.string("type");
  if (!type) {
    if (entry.find("type") == nullptr) entry.refuse(entry.node(), entry.path(), "no type");
    return std::nullopt;
  }
  const Node& at = *entry.find("type");
  if (std::ranges::find(kTypes, *type) == std::end(kTypes)) {
    entry.fail(at, entry.path_of("type"),
               "select, url-test, fallback or load-balance" + did_you_mean(*type, kTypes));
    return std::nullopt;
  }
  if (*type == "relay") {
    entry.refuse(at, entry.path_of("type"),
                 "relay groups are no more; give the nodes a dialer-proxy instead");
    return std::nullopt;
  }
  return std::string(*type);
}

// All but the members.
void read_options(const Loading& loading, yaml::MapReader& entry, GroupSettings& group) {
  group.url = entry.string("url").value_or("");
  group.expected_status = entry.string("expected-status").value_or("");
  if (!is_status_list(group.expected_status)) {
    entry.fail(*entry.find("expected-status"), entry.path_of("expected-status"),
               "*, or numbers and ranges such as 200-299/304");
  }
  group.icon = entry.string("icon").value_or("");
  group.hidden = entry.boolean("hidden").value_or(false);
  group.disable_udp = entry.boolean("disable-udp").value_or(false);
  const auto timeout = entry.duration("timeout", milliseconds(1), seconds(0), kMaxTimeout);
  if (timeout && *timeout != Duration::zero()) group.timeout = *timeout;
  if (group.type == "select") {
    group.default_selected = entry.string("default-selected").value_or("");
    return;
  }
  group.interval =
      entry.duration("interval", seconds(1), seconds(0), kMaxInterval).value_or(Duration::zero());
  if (group.interval == Duration::zero()) group.interval = seconds(300);
  group.lazy = entry.boolean("lazy").value_or(true);
  entry.integer("max-failed-times", 0, 65535);
  group.tolerance = static_cast<uint32_t>(entry.integer("tolerance", 0, 65535).value_or(0));
  if (group.type == "load-balance") {
    group.strategy = kStrategies[entry.choice_index("strategy", kStrategies).value_or(0)];
  }
  entry.allow({"default-selected", "strategy"});
  const std::string reason = format("group type {} is not supported in this version", group.type);
  if (loading.options.strict) entry.refuse(entry.node(), entry.path(), reason);
  group.unsupported = format("{}:{}:{}: {}", entry.source(), group.line, group.column, reason);
}

void refuse_provider_names(Loading& loading) {
  const Node* providers = loading.top.node().find("proxy-providers");
  if (providers == nullptr) return;
  for (const yaml::Entry& provider : providers->entries()) {
    const auto named = loading.names.find(provider.key->text());
    if (named == loading.names.end() || named->second.what != Named::What::kGroup) continue;
    loading.top.fail(*named->second.at, loading.top.path_of(kKey, named->second.index),
                     format("another name than the provider at {}:{} has", provider.key->line(),
                            provider.key->column()));
  }
}

void add_global(Loading& loading) {
  if (loading.names.contains("GLOBAL")) return;
  GroupSettings global;
  global.name = "GLOBAL";
  global.type = "select";
  global.target = route::kGlobal;
  global.members = {route::kDirect, route::kReject};
  for (const ProxySettings& proxy : loading.out.proxies) global.members.push_back(proxy.target);
  for (const GroupSettings& group : loading.out.groups) global.members.push_back(group.target);
  loading.out.groups.push_back(std::move(global));
}

}  // namespace

void read_groups(Loading& loading) {
  std::vector<GroupSettings>& groups = loading.out.groups;
  const auto nodes = loading.top.list(kKey);
  if (nodes.size() > kMaxGroups) {
    loading.top.fail(*loading.top.find(kKey), std::string(kKey),
                     format("at most {} groups", kMaxGroups));
    return;
  }
  std::vector<Entry> entries;
  for (size_t i = 0; i < nodes.size(); ++i) {
    auto entry = named_element(loading.top, kKey, i, *nodes[i]);
    if (!entry) continue;
    const auto named = define_name(loading, *entry, Named::What::kGroup, groups.size());
    const auto type = read_type(*entry);
    if (!named || !type) continue;
    GroupSettings group;
    group.name = entry->string("name").value_or("");
    group.type = *type;
    group.target = named->target;
    group.line = nodes[i]->line();
    group.column = nodes[i]->column();
    groups.push_back(std::move(group));
    entries.push_back({*std::move(entry), groups.size() - 1});
  }
  refuse_provider_names(loading);
  MemberReader members(loading);
  for (Entry& entry : entries) {
    GroupSettings& group = groups[entry.group];
    read_options(loading, entry.map, group);
    const bool asks = std::ranges::any_of(
        std::initializer_list<std::string_view>{"proxies", "use", "include-all",
                                                "include-all-proxies", "include-all-providers"},
        [&](std::string_view key) { return entry.map.node().find(key) != nullptr; });
    if (!asks) {
      entry.map.refuse(entry.map.node(), entry.map.path(), "neither proxies nor include-all");
    }
    group.members = members.read(entry.map);
    if (!group.default_selected.empty()) {
      const auto target = find_target(loading, group.default_selected);
      if (!target || std::ranges::find(group.members, *target) == group.members.end()) {
        entry.map.warn(*entry.map.find("default-selected"), entry.map.path_of("default-selected"),
                       "not a member; the first one counts");
        group.default_selected.clear();
      }
    }
    // With include-all there is nothing else to include: `all proxies` is what it means.
    finish_section(entry.map, kKey);
  }
  add_global(loading);
}

}  // namespace culvert::config
