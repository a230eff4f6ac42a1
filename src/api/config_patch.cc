#include "api/config_patch.h"

#include <algorithm>
#include <iterator>

#include "api/classic_ports.h"
#include "api/json_value.h"
#include "base/format.h"
#include "config/address.h"
#include "rt/backend.h"
#include "wire/http1.h"

namespace culvert::api {

namespace json = boost::json;

namespace {

constexpr std::string_view kInvalid = "Body invalid";

struct ModeWord {
  std::string_view word;
  config::Mode mode;
};
constexpr ModeWord kModes[] = {{"rule", config::Mode::kRule},
                               {"global", config::Mode::kGlobal},
                               {"direct", config::Mode::kDirect}};

// Reads one body; the first thing that is wrong with it counts.
class PatchReader {
 public:
  PatchReader(const json::object& object, std::string& why) : object_(object), why_(why) {}
  [[nodiscard]] bool ok() const { return why_.empty(); }

  void read(std::string_view key, std::optional<uint16_t>& out) {
    int64_t v = 0;
    if (!found(key, v)) return;
    if (v < 0 || v > UINT16_MAX) {
      refuse(key, "is no port");
      return;
    }
    out = static_cast<uint16_t>(v);
  }
  void read(std::string_view key, std::optional<bool>& out) {
    bool v = false;
    if (found(key, v)) out = v;
  }
  void read(std::string_view key, std::optional<std::vector<Prefix>>& out) {
    const json::value* value = object_.if_contains({key.data(), key.size()});
    if (value == nullptr || value->is_null()) return;
    if (!value->is_array()) {
      refuse(key, "is no list of prefixes");
      return;
    }
    std::vector<Prefix> prefixes;
    for (const json::value& item : value->get_array()) {
      std::optional<Prefix> prefix;
      if (item.is_string()) {
        const json::string& text = item.get_string();
        prefix = Prefix::parse({text.data(), text.size()});
      }
      if (!prefix) {
        refuse(key, "is no list of prefixes");
        return;
      }
      prefixes.push_back(*prefix);
    }
    out = std::move(prefixes);
  }
  void read_mode(std::optional<config::Mode>& out) {
    std::string word;
    if (!found("mode", word)) return;
    for (const ModeWord& known : kModes) {
      if (wire::equal_ignoring_case(word, known.word)) out = known.mode;
    }
    if (!out) refuse("mode", "is rule, global or direct");
  }
  void read_level(std::optional<log::Level>& out) {
    std::string word;
    if (!found("log-level", word)) return;
    for (const log::Level level : {log::Level::kSilent, log::Level::kError, log::Level::kWarning,
                                   log::Level::kInfo, log::Level::kDebug}) {
      if (wire::equal_ignoring_case(word, log::name(level))) out = level;
    }
    if (!out) refuse("log-level", "is silent, error, warning, info or debug");
  }
  void read_interface(std::optional<std::string>& out) {
    std::string name;
    if (!found("interface-name", name)) return;
    rt::InterfaceName checked;
    if (!checked.assign(name)) {
      refuse("interface-name", "is not what an interface can be called");
      return;
    }
    out = std::move(name);
  }
  void read_bind(std::optional<std::string>& out) {
    std::string text;
    if (!found("bind-address", text)) return;
    if (!config::parse_bind_address(text)) {
      refuse("bind-address", "is * or an address");
      return;
    }
    out = std::move(text);
  }
  // What this version has not may be switched off, and no more.
  void read_off(std::string_view key, std::string_view off_word) {
    const json::value* value = object_.if_contains({key.data(), key.size()});
    if (value == nullptr || value->is_null()) return;
    bool off = false;
    switch (value->kind()) {
      case json::kind::bool_:
        off = !value->get_bool();
        break;
      case json::kind::int64:
        off = value->get_int64() == 0;
        break;
      case json::kind::string: {
        const json::string& text = value->get_string();
        off = std::string_view(text.data(), text.size()) == off_word;
        break;
      }
      case json::kind::object: {
        // What is switched off may be described all the same.
        const json::value* enable = value->get_object().if_contains("enable");
        off = enable == nullptr ? value->get_object().empty()
                                : enable->is_bool() && !enable->get_bool();
        break;
      }
      default:
        break;
    }
    if (!off) refuse(key, "is not supported by this version of Culvert");
  }

 private:
  template <class T>
  bool found(std::string_view key, T& out) {
    const Member member = read_member(object_, key, out);
    if (member == Member::kWrongType && why_.empty()) why_ = kInvalid;
    return member == Member::kFound;
  }
  void refuse(std::string_view key, std::string_view what) {
    if (why_.empty()) why_ = format("{} {}", key, what);
  }
  const json::object& object_;
  std::string& why_;
};

// Two listeners that cannot be open at once: one port, and one address or every address.
bool collide(const Endpoint& a, const Endpoint& b) {
  return a.port == b.port && (a.ip == b.ip || a.ip.is_unspecified() || b.ip.is_unspecified());
}

}  // namespace

std::optional<ConfigPatch> parse_config_patch(std::string_view body, std::string& why) {
  why.clear();
  const auto object = parse_json_object(body);
  if (!object) {
    why = kInvalid;
    return std::nullopt;
  }
  ConfigPatch patch;
  PatchReader reader(*object, why);
  reader.read("port", patch.port);
  reader.read("socks-port", patch.socks_port);
  reader.read("mixed-port", patch.mixed_port);
  reader.read("allow-lan", patch.allow_lan);
  reader.read_bind(patch.bind_address);
  reader.read_mode(patch.mode);
  reader.read_level(patch.log_level);
  reader.read("ipv6", patch.ipv6);
  reader.read("tcp-concurrent", patch.tcp_concurrent);
  reader.read_interface(patch.interface_name);
  reader.read("skip-auth-prefixes", patch.skip_auth_prefixes);
  reader.read("lan-allowed-ips", patch.lan_allowed_ips);
  reader.read("lan-disallowed-ips", patch.lan_disallowed_ips);
  for (const std::string_view key : {"redir-port", "tproxy-port", "tun", "tuic-server", "ss-config",
                                     "vmess-config", "sniffing"}) {
    reader.read_off(key, "");
  }
  reader.read_off("find-process-mode", "off");
  if (!reader.ok()) return std::nullopt;
  return patch;
}

std::optional<config::Settings> apply_config_patch(const config::Settings& current,
                                                   const ConfigPatch& patch, Diagnostics& out) {
  config::Settings s = current;
  const auto take = [](auto& into, const auto& from) {
    if (from) into = *from;
  };
  take(s.allow_lan, patch.allow_lan);
  take(s.bind_address, patch.bind_address);
  take(s.mode, patch.mode);
  take(s.log_level, patch.log_level);
  take(s.ipv6, patch.ipv6);
  take(s.tcp_concurrent, patch.tcp_concurrent);
  take(s.interface_name, patch.interface_name);
  take(s.skip_auth_prefixes, patch.skip_auth_prefixes);
  take(s.lan_allowed_ips, patch.lan_allowed_ips);
  take(s.lan_disallowed_ips, patch.lan_disallowed_ips);
  if (patch.port) set_port(s, ClassicPort::kHttp, *patch.port);
  if (patch.socks_port) set_port(s, ClassicPort::kSocks, *patch.socks_port);
  if (patch.mixed_port) set_port(s, ClassicPort::kMixed, *patch.mixed_port);
  const auto refuse = [&](std::string found, std::string expected) {
    out.add({Severity::kError, "PATCH /configs", 0, 0, "", std::move(found), std::move(expected)});
    return std::nullopt;
  };
  if ((patch.allow_lan || patch.bind_address) && !place_classic_ports(s)) {
    return refuse(s.bind_address, "an address to bind to");
  }
  for (auto a = s.listeners.begin(); a != s.listeners.end(); ++a) {
    for (auto b = std::next(a); b != s.listeners.end(); ++b) {
      if ((!a->classic && !b->classic) || a->listen.port == 0 || !collide(a->listen, b->listen)) {
        continue;
      }
      return refuse(format("port {} for {} and {}", a->listen.port, a->name, b->name),
                    "a port of its own for each listener");
    }
  }
  return s;
}

}  // namespace culvert::api
