// What is the whole program's: mode, outbound sockets, the controller, our own section.
#include <net/if.h>
#include <sys/un.h>

#include <limits>

#include "base/format.h"
#include "config/address.h"
#include "config/loading.h"
#include "config/schema.h"

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

// The kernel's bound of TCP_KEEPIDLE and TCP_KEEPINTVL.
constexpr Duration kMaxKeepAlive = seconds(32767);
constexpr uint64_t kMinBudget = uint64_t{1} << 20;
constexpr uint64_t kMaxBudget = uint64_t{1} << 40;
constexpr uint32_t kMaxWorkers = 256;
constexpr size_t kMaxUnixPath = sizeof(sockaddr_un::sun_path) - 1;

constexpr std::string_view kInside =
    "a path in the home directory, or in one that SAFE_PATHS lists";

void read_engine(Loading& loading) {
  auto own = loading.top.map("culvert");
  if (!own) return;
  Settings& out = loading.out;
  out.workers = static_cast<uint32_t>(own->integer("workers", 0, kMaxWorkers).value_or(0));
  out.buffer_budget = own->size("buffer-budget", 0, kMaxBudget).value_or(0);
  if (out.buffer_budget != 0 && out.buffer_budget < kMinBudget) {
    own->fail(*own->find("buffer-budget"), own->path_of("buffer-budget"),
              "at least 1MiB, or 0 to go by the size of the memory");
  }
  out.handshake_timeout = own->duration("handshake-timeout", seconds(1), seconds(1), seconds(600))
                              .value_or(seconds(10));
  out.interrupt_exist_connections = own->boolean("interrupt-exist-connections").value_or(false);
  finish_section(*own, "culvert");
}

void read_external_ui(Loading& loading) {
  yaml::MapReader& top = loading.top;
  const auto folder = top.string("external-ui");
  const auto name = top.string("external-ui-name");
  if (!folder || folder->empty()) {
    if (name && !name->empty()) {
      top.warn(*top.find("external-ui-name"), "external-ui-name", "without external-ui, ignored");
    }
    return;
  }
  auto path = allowed_path(loading.options, *folder);
  if (!path) {
    top.fail(*top.find("external-ui"), "external-ui", std::string(kInside));
    return;
  }
  if (name && !name->empty()) {
    const LoadOptions inside{.registry = nullptr, .strict = false, .home = *path, .safe_paths = {}};
    path = allowed_path(inside, *name);
    if (!path || name->starts_with('/')) {
      top.fail(*top.find("external-ui-name"), "external-ui-name",
               "the name of a directory in external-ui");
      return;
    }
  }
  // Everybody may read what is served there, and the home directory has the profile in it.
  if (path == allowed_path(loading.options, ".")) {
    top.fail(*top.find("external-ui"), "external-ui", "a directory of its own");
    return;
  }
  loading.out.external_ui = *std::move(path);
}

}  // namespace

void read_general(Loading& loading) {
  yaml::MapReader& top = loading.top;
  Settings& out = loading.out;
  out.mode = top.choice("mode", kModes).value_or(Mode::kRule);
  out.ipv6 = top.boolean("ipv6").value_or(true);
  out.tcp_concurrent = top.boolean("tcp-concurrent").value_or(false);
  out.unified_delay = top.boolean("unified-delay").value_or(false);
  out.interface_name = top.string("interface-name").value_or("");
  if (out.interface_name.size() >= IF_NAMESIZE) {
    top.fail(*top.find("interface-name"), "interface-name",
             format("the name of an interface: at most {} bytes", IF_NAMESIZE - 1));
  }
  out.routing_mark = static_cast<uint32_t>(
      top.integer("routing-mark", 0, std::numeric_limits<uint32_t>::max()).value_or(0));
  out.keep_alive = !top.boolean("disable-keep-alive").value_or(false);
  const auto keep_alive = [&](std::string_view key, Duration& value) {
    const auto given = top.duration(key, seconds(1), seconds(0), kMaxKeepAlive);
    if (given && *given != Duration::zero()) value = *given;  // 0 keeps the default
  };
  keep_alive("keep-alive-idle", out.keep_alive_idle);
  keep_alive("keep-alive-interval", out.keep_alive_interval);
  out.log_level = top.choice("log-level", kLevels).value_or(log::Level::kInfo);
  if (auto profile = top.map("profile")) {
    out.store_selected = profile->boolean("store-selected").value_or(true);
    finish_section(*profile, "profile");
  }
  if (auto experimental = top.map("experimental")) finish_section(*experimental, "experimental");
  read_engine(loading);
}

void read_controller(Loading& loading) {
  yaml::MapReader& top = loading.top;
  Settings& out = loading.out;
  if (const auto text = top.string("external-controller"); text && !text->empty()) {
    out.external_controller = parse_controller_endpoint(*text);
    if (!out.external_controller) {
      top.fail(*top.find("external-controller"), "external-controller",
               std::string(kControllerForm));
    }
  }
  if (const auto text = top.string("external-controller-unix"); text && !text->empty()) {
    const Node& at = *top.find("external-controller-unix");
    if (auto path = allowed_path(loading.options, *text); !path) {
      top.fail(at, "external-controller-unix", std::string(kInside));
    } else if (path->size() > kMaxUnixPath) {
      top.fail(at, "external-controller-unix",
               format("a path of at most {} bytes: this one has {}", kMaxUnixPath, path->size()));
    } else {
      out.external_controller_unix = *std::move(path);
    }
  }
  read_external_ui(loading);
  out.secret = top.string("secret").value_or("");
  if (auto cors = top.map("external-controller-cors")) {
    if (cors->find("allow-origins") != nullptr) {
      const auto origins = cors->strings("allow-origins");
      out.cors_allow_origins.assign(origins.begin(), origins.end());
    }
    out.cors_allow_private_network = cors->boolean("allow-private-network").value_or(true);
    finish_section(*cors, "external-controller-cors");
  }
}

}  // namespace culvert::config
