// Who may enter: users and addresses.
#include "config/loading.h"

namespace culvert::config {
namespace {

using yaml::Node;

// Users in the order of their first mention; the password of the last one counts.
class UserCollector {
 public:
  // False when the user was there.
  bool add(std::string_view user, std::string_view password) {
    const auto [at, is_new] = places_.emplace(user, users_.size());
    if (is_new) {
      users_.push_back({std::string(user), std::string(password)});
    } else {
      users_[at->second].password = password;
    }
    return is_new;
  }
  UserList take() { return std::move(users_); }

 private:
  UserList users_;
  std::unordered_map<std::string_view, size_t, NameHash> places_;  // texts of the document
};

constexpr std::string_view kAgain = "a user named before; the later password counts";

std::vector<Prefix> prefixes(yaml::MapReader& top, std::string_view key) {
  std::vector<Prefix> out;
  top.each_scalar(key, [&](const Node& node, size_t index) {
    if (const auto prefix = Prefix::parse(node.text())) {
      out.push_back(*prefix);
    } else {
      top.fail(node, top.path_of(key, index), "a prefix such as 192.0.2.0/24 or 2001:db8::/32");
    }
  });
  return out;
}

}  // namespace

void read_access(Loading& loading) {
  yaml::MapReader& top = loading.top;
  constexpr std::string_view kKey = "authentication";
  UserCollector users;
  top.each_scalar(kKey, [&](const Node& node, size_t index) {
    const std::string_view text = node.text();
    const size_t colon = text.find(':');
    if (colon == std::string_view::npos || colon == 0) {
      top.fail_hidden(node, top.path_of(kKey, index), "user:password");
    } else if (!users.add(text.substr(0, colon), text.substr(colon + 1))) {
      top.warn(node, top.path_of(kKey, index), std::string(kAgain));
    }
  });
  loading.out.authentication = users.take();
  loading.out.skip_auth_prefixes = prefixes(top, "skip-auth-prefixes");
  loading.out.lan_disallowed_ips = prefixes(top, "lan-disallowed-ips");
  loading.out.lan_allowed_ips = prefixes(top, "lan-allowed-ips");
  if (const Node* allowed = top.find("lan-allowed-ips");
      allowed != nullptr && allowed->is_sequence() && allowed->items().empty()) {
    top.fail(*allowed, "lan-allowed-ips", "at least one prefix: an empty list admits nobody");
  }
}

std::shared_ptr<const UserList> read_listener_users(yaml::MapReader& listener) {
  constexpr std::string_view kKey = "users";
  if (listener.find(kKey) == nullptr) return nullptr;
  UserCollector users;
  const auto nodes = listener.list(kKey);
  for (size_t i = 0; i < nodes.size(); ++i) {
    auto entry = listener.element(kKey, i, *nodes[i]);
    if (!entry) continue;
    const auto user = entry->string("username");
    const auto password = entry->string("password");
    entry->report_unknown();
    if (!user || user->empty()) {
      entry->fail_hidden(entry->node(), entry->path(), "username and password");
    } else if (!users.add(*user, password.value_or(""))) {
      entry->warn(entry->node(), entry->path(), std::string(kAgain));
    }
  }
  return std::make_shared<const UserList>(users.take());
}

}  // namespace culvert::config
