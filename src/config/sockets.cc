#include "config/sockets.h"

#include <algorithm>

#include "base/format.h"

namespace culvert::config {
namespace {

// Whether one socket at each cannot be. [::] takes both families in.
bool overlap(const Endpoint& a, const Endpoint& b) {
  if (a.port != b.port || a.port == 0) return false;
  const auto is_everything = [](const Endpoint& e) {
    return e.ip.is_v6() && e.ip.is_unspecified();
  };
  if (is_everything(a) || is_everything(b)) return true;
  if (a.ip.family != b.ip.family) return false;
  return a.ip == b.ip || a.ip.is_unspecified() || b.ip.is_unspecified();
}

}  // namespace

std::optional<std::vector<PortRange>> parse_port_list(std::string_view text) {
  std::vector<PortRange> out;
  for (std::string_view rest = text;;) {
    const size_t end = rest.find_first_of(",/");
    const std::string_view range = rest.substr(0, end);
    const size_t dash = range.find('-');
    const auto first = parse_port(range.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : parse_port(range.substr(dash + 1));
    if (!first || !last || *first == 0 || *first > *last) return std::nullopt;
    out.push_back({*first, *last});
    if (out.size() > SocketTable::kMaxSockets) return std::nullopt;
    if (end == std::string_view::npos) return out;
    rest.remove_prefix(end + 1);
  }
}

const ListenerSettings* SocketTable::other_at(const Endpoint& endpoint) const {
  for (const Taken& other : taken_[endpoint.port % taken_.size()]) {
    if (overlap(other.listen, endpoint)) return &out_.listeners[other.listener];
  }
  return nullptr;
}

void SocketTable::add(ListenerSettings listener, const yaml::Node& at, const std::string& path) {
  if (told_ == &at) return;
  if (out_.listeners.size() == kMaxSockets) {
    top_.fail(at, path, format("at most {} sockets in all listeners", kMaxSockets));
    told_ = &at;
    return;
  }
  if (const ListenerSettings* other = other_at(listener.listen)) {
    top_.fail(at, path,
              format("another address or port than {}, which {} has at {}:{}",
                     other->listen.to_string(), other->name, other->line, other->column));
    told_ = &at;
  }
  taken_[listener.listen.port % taken_.size()].push_back({listener.listen, out_.listeners.size()});
  out_.listeners.push_back(std::move(listener));
}

void SocketTable::check_controller(const Endpoint& endpoint, const yaml::Node& at) {
  if (const ListenerSettings* other = other_at(endpoint)) {
    top_.fail(at, "external-controller",
              format("another address or port than {}, which {} has at {}:{}",
                     other->listen.to_string(), other->name, other->line, other->column));
  }
}

}  // namespace culvert::config
