// What the readers of a profile's sections share while it is loaded. Internal to config/.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/keyed_hash.h"
#include "config/settings.h"
#include "route/rule.h"
#include "route/targets.h"
#include "yaml/reader.h"

namespace culvert::config {

// For tables whose keys a profile chooses.
class NameHash {
 public:
  using is_transparent = void;
  size_t operator()(std::string_view text) const { return hash_(text); }

 private:
  KeyedHash hash_ = KeyedHash::fresh();
};

// A node or group by its name.
struct Named {
  enum class What : uint8_t { kProxy, kGroup };
  What what = What::kProxy;
  uint32_t target = 0;
  size_t index = 0;  // in its list, in the order of the profile
  const yaml::Node* at = nullptr;
};

struct Loading {
  yaml::MapReader& top;
  const LoadOptions& options;
  route::TargetTable& targets;
  Settings& out;
  // Keys are texts of the document.
  std::unordered_map<std::string_view, Named, NameHash> names;
  // dialer-proxy, by the proxy's index; nullptr where there is none.
  std::vector<const yaml::Node*> dialers;
};

// A reader over an element of a list; its path has the element's name: proxies['HK-1'].
std::optional<yaml::MapReader> named_element(yaml::MapReader& top, std::string_view list,
                                             size_t index, const yaml::Node& node);
// The `name` of a node or group, which is the only one of that name from now on; nothing after an
// error.
std::optional<Named> define_name(Loading& loading, yaml::MapReader& entry, Named::What what,
                                 size_t index);
// A target that exists by now.
std::optional<uint32_t> find_target(const Loading& loading, std::string_view name);
// The word of a list nearest to a wrong one: ", or did you mean ss?"; empty when there is none.
std::string did_you_mean(std::string_view word, std::span<const std::string_view> words);

// general_reader.cc
void read_general(Loading& loading);
void read_controller(Loading& loading);
// access_reader.cc
void read_access(Loading& loading);
// `users` of a listener; nullptr when the key is absent.
std::shared_ptr<const UserList> read_listener_users(yaml::MapReader& listener);
// proxies_reader.cc
void read_proxies(Loading& loading);
// groups_reader.cc; also orders them, and checks the loops that they and dialer-proxy make.
void read_groups(Loading& loading);
// chains.cc
void order_groups(Loading& loading);
void check_dialers(Loading& loading);
// listeners_reader.cc
void read_listeners(Loading& loading);
// tunnels_reader.cc
std::shared_ptr<const flow::Options> read_tunnel_target(yaml::MapReader& entry,
                                                        const yaml::Node& at, std::string path,
                                                        std::string_view text);
// rules_reader.cc
void read_sub_rules(Loading& loading);
// domain_patterns.cc
void check_domain_patterns(Loading& loading);

}  // namespace culvert::config
