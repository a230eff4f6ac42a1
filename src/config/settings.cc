#include "config/settings.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/format.h"
#include "config/address.h"
#include "config/unsupported.h"
#include "route/rule.h"
#include "yaml/document.h"
#include "yaml/reader.h"
#include "yaml/text.h"

namespace culvert::config {
namespace {

using std::chrono::seconds;
using yaml::Node;

constexpr yaml::Choice<Mode> kModes[] = {
    {"rule", Mode::kRule}, {"global", Mode::kGlobal}, {"direct", Mode::kDirect}};

constexpr yaml::Choice<log::Level> kLevels[] = {{"silent", log::Level::kSilent},
                                                {"error", log::Level::kError},
                                                {"warning", log::Level::kWarning},
                                                {"info", log::Level::kInfo},
                                                {"debug", log::Level::kDebug}};

struct PortKey {
  std::string_view key;
  std::string_view name;
  ListenerType type;
};
constexpr PortKey kPortKeys[] = {{"port", "DEFAULT-HTTP", ListenerType::kHttp},
                                 {"socks-port", "DEFAULT-SOCKS", ListenerType::kSocks},
                                 {"mixed-port", "DEFAULT-MIXED", ListenerType::kMixed}};

// The kernel's bound of TCP_KEEPIDLE and TCP_KEEPINTVL.
constexpr Duration kMaxKeepAlive = seconds(32767);
constexpr uint64_t kMinBudget = uint64_t{1} << 20;
constexpr uint64_t kMaxBudget = uint64_t{1} << 40;
constexpr uint32_t kMaxWorkers = 256;

bool overlap(const Endpoint& a, const Endpoint& b) {
  if (a.port != b.port || a.port == 0) return false;
  return a.ip == b.ip || a.ip.is_unspecified() || b.ip.is_unspecified();
}

// Compiles `rules`, element by element. What a rule names may come behind it: what is missing is
// told when everything is read.
class RuleReader {
 public:
  static constexpr std::string_view kKey = "rules";

  RuleReader(const std::string& source, Diagnostics& out) : source_(source), out_(out) {}

  void take(const Node& node) {
    const size_t index = index_++;
    if (node.is_scalar()) {
      if (route::parse_rule({node.text(), node.line(), node.column()}, source_, index, targets_,
                            rule_, out_)) {
        rules_->add(rule_);
      }
      return;
    }
    const Node none(yaml::Kind::kMapping, 1, 1);
    yaml::MapReader top(source_, none, {}, out_);
    top.fail(node, top.path_of(kKey, index), "text");
  }
  void done(Settings& settings) {
    targets_.report_undefined(source_, out_);
    settings.targets.clear();
    for (uint32_t i = 0; i < targets_.size(); ++i) {
      if (targets_.defined(i)) settings.targets.push_back(targets_.name(i));
    }
    rules_->shrink_to_fit();
    settings.rules = std::move(rules_);
  }

 private:
  const std::string source_;
  Diagnostics& out_;
  route::TargetTable targets_;
  std::shared_ptr<route::RuleList> rules_ = std::make_shared<route::RuleList>();
  route::Rule rule_;
  size_t index_ = 0;
};

class Loader {
 public:
  Loader(yaml::MapReader& top, RuleReader& rules) : top_(top), rules_(rules) {}

  Settings run() {
    out_.source_name = top_.source();
    read_listeners();
    read_controller();
    read_users();
    out_.skip_auth_prefixes = prefixes("skip-auth-prefixes");
    out_.lan_disallowed_ips = prefixes("lan-disallowed-ips");
    out_.lan_allowed_ips = prefixes("lan-allowed-ips");
    if (const Node* allowed = top_.find("lan-allowed-ips");
        allowed != nullptr && allowed->is_sequence() && allowed->items().empty()) {
      top_.fail(*allowed, "lan-allowed-ips", "at least one prefix: an empty list admits nobody");
    }
    read_traffic();
    read_engine();
    report_unsupported(top_);
    top_.report_unknown();
    return std::move(out_);
  }

 private:
  void read_listeners() {
    const bool allow_lan = top_.boolean("allow-lan").value_or(false);
    IpAddress host = any_address();
    if (const auto text = top_.string("bind-address"); text && !text->empty()) {
      if (const auto ip = parse_bind_address(*text)) {
        host = *ip;
      } else {
        top_.fail(*top_.find("bind-address"), "bind-address", "'*' or an IP address of this host");
      }
    }
    if (!allow_lan) host = IpAddress::v4(0x7F000001);
    for (const auto& [key, name, type] : kPortKeys) {
      const auto port = top_.port(key, yaml::PortZero::kOff);
      if (!port || *port == 0) continue;
      const Node& at = *top_.find(key);
      for (const ListenerSettings& other : out_.listeners) {
        if (other.listen.port != *port) continue;
        top_.fail(at, std::string(key),
                  format("another port than {} has at {}:{}", key_of(other.type), other.line,
                         other.column));
      }
      out_.listeners.push_back(
          {std::string(name), type, Endpoint(host, *port), at.line(), at.column()});
    }
  }

  static std::string_view key_of(ListenerType type) {
    return std::ranges::find(kPortKeys, type, &PortKey::type)->key;
  }

  void read_controller() {
    if (const auto text = top_.string("external-controller"); text && !text->empty()) {
      const Node& at = *top_.find("external-controller");
      out_.external_controller = parse_controller_endpoint(*text);
      if (!out_.external_controller) {
        top_.fail(at, "external-controller", std::string(kControllerForm));
      }
      for (const ListenerSettings& other : out_.listeners) {
        if (!out_.external_controller || !overlap(*out_.external_controller, other.listen))
          continue;
        top_.fail(at, "external-controller",
                  format("another port than {} has at {}:{}", key_of(other.type), other.line,
                         other.column));
      }
    }
    out_.secret = top_.string("secret").value_or("");
    if (auto cors = top_.map("external-controller-cors")) {
      if (cors->find("allow-origins") != nullptr) {
        const auto origins = cors->strings("allow-origins");
        out_.cors_allow_origins.assign(origins.begin(), origins.end());
      }
      out_.cors_allow_private_network = cors->boolean("allow-private-network").value_or(true);
      cors->report_unknown();
    }
  }

  void read_users() {
    constexpr std::string_view kKey = "authentication";
    top_.each_scalar(kKey, [&](const Node& node, size_t index) {
      const std::string_view text = node.text();
      const size_t colon = text.find(':');
      if (colon == std::string_view::npos || colon == 0) {
        top_.fail_hidden(node, top_.path_of(kKey, index), "user:password");
        return;
      }
      const std::string_view user = text.substr(0, colon);
      const std::string_view password = text.substr(colon + 1);
      const auto same = std::ranges::find(out_.authentication, user, &UserSettings::user);
      if (same == out_.authentication.end()) {
        out_.authentication.push_back({std::string(user), std::string(password)});
        return;
      }
      top_.warn(node, top_.path_of(kKey, index), "a user named before; the later password counts");
      same->password = password;
    });
  }

  std::vector<Prefix> prefixes(std::string_view key) {
    std::vector<Prefix> out;
    top_.each_scalar(key, [&](const Node& node, size_t index) {
      if (const auto prefix = Prefix::parse(node.text())) {
        out.push_back(*prefix);
      } else {
        top_.fail(node, top_.path_of(key, index), "a prefix such as 192.0.2.0/24 or 2001:db8::/32");
      }
    });
    return out;
  }

  void read_traffic() {
    out_.mode = top_.choice("mode", kModes).value_or(Mode::kRule);
    if (out_.mode == Mode::kGlobal) {
      top_.fail(*top_.find("mode"), "mode",
                "rule or direct: global needs proxy groups, which this version does not have");
    }
    // Those that did not go to the reader while the document was read.
    for (const Node* node : top_.list(RuleReader::kKey)) rules_.take(*node);
    rules_.done(out_);
    out_.ipv6 = top_.boolean("ipv6").value_or(true);
    out_.tcp_concurrent = top_.boolean("tcp-concurrent").value_or(false);
    out_.keep_alive = !top_.boolean("disable-keep-alive").value_or(false);
    const auto keep_alive = [&](std::string_view key, Duration& value) {
      const auto given = top_.duration(key, seconds(1), seconds(0), kMaxKeepAlive);
      if (given && *given != Duration::zero()) value = *given;  // 0 keeps the default
    };
    keep_alive("keep-alive-idle", out_.keep_alive_idle);
    keep_alive("keep-alive-interval", out_.keep_alive_interval);
    out_.log_level = top_.choice("log-level", kLevels).value_or(log::Level::kInfo);
  }

  void read_engine() {
    auto own = top_.map("culvert");
    if (!own) return;
    out_.workers = static_cast<uint32_t>(own->integer("workers", 0, kMaxWorkers).value_or(0));
    out_.buffer_budget = own->size("buffer-budget", 0, kMaxBudget).value_or(0);
    if (out_.buffer_budget != 0 && out_.buffer_budget < kMinBudget) {
      own->fail(*own->find("buffer-budget"), own->path_of("buffer-budget"),
                "at least 1MiB, or 0 to go by the size of the memory");
    }
    out_.handshake_timeout =
        own->duration("handshake-timeout", seconds(1), seconds(1), seconds(600))
            .value_or(seconds(10));
    own->report_unknown();
  }

  yaml::MapReader& top_;
  RuleReader& rules_;
  Settings out_;
};

bool is_age_file(std::string_view text) {
  return text.starts_with("age-encryption.org/v1") ||
         text.starts_with("-----BEGIN AGE ENCRYPTED FILE-----");
}

std::nullopt_t refuse(const std::string& source, std::string what, Diagnostics& out) {
  out.add({Severity::kError, source, 0, 0, {}, std::move(what), {}});
  return std::nullopt;
}

}  // namespace

std::optional<Settings> load_text(std::string source_name, std::string text, Diagnostics& out) {
  if (is_age_file(text)) {
    return refuse(source_name, "a profile encrypted with age: not supported in this version", out);
  }
  const size_t errors_before = out.errors();
  RuleReader rules(source_name, out);
  const yaml::Stream stream{RuleReader::kKey, [&](const Node& node) { rules.take(node); }};
  const auto document = yaml::parse(std::move(source_name), std::move(text), out, {}, &stream);
  if (!document) return std::nullopt;
  if (document->root().is_null()) {
    return refuse(document->source(), "an empty profile", out);
  }
  yaml::MapReader top = yaml::MapReader::of(*document, out);
  Settings settings = Loader(top, rules).run();
  if (out.errors() != errors_before) return std::nullopt;
  return settings;
}

std::optional<Settings> load_file(const std::string& path, Diagnostics& out) {
  constexpr size_t kLimit = yaml::Limits{}.text_bytes;
  const auto fail = [&] {
    return refuse(path, format("cannot be read: {}", std::strerror(errno)), out);
  };
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return fail();
  std::string text;
  size_t size = 0;
  // As much at once as the file says it has, and a byte to meet its end: a text that grows is for a
  // moment there twice.
  struct stat about {};
  if (::fstat(fd, &about) == 0 && about.st_size > 0) {
    text.resize(std::min(static_cast<size_t>(about.st_size), kLimit) + 1);
  }
  // One byte beyond the limit is enough for the reader to refuse it.
  while (size <= kLimit) {
    if (size == text.size())
      text.resize(std::min(std::max<size_t>(64 * 1024, size * 2), kLimit + 1));
    const ssize_t n = ::read(fd, text.data() + size, text.size() - size);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      const auto refused = fail();
      ::close(fd);
      return refused;
    }
    if (n == 0) break;
    size += static_cast<size_t>(n);
  }
  ::close(fd);
  text.resize(size);
  return load_text(path, std::move(text), out);
}

std::string default_profile() {
  return R"(mixed-port: 7890
allow-lan: false
mode: rule
log-level: info
external-controller: 127.0.0.1:9090
rules:
  - MATCH,DIRECT
)";
}

std::optional<Endpoint> parse_controller(std::string_view text, std::string_view source,
                                         Diagnostics& out) {
  auto endpoint = parse_controller_endpoint(text);
  if (!endpoint) {
    out.add({Severity::kError,
             std::string(source),
             0,
             0,
             {},
             yaml::quoted(text),
             std::string(kControllerForm)});
  }
  return endpoint;
}

}  // namespace culvert::config
