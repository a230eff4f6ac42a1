// The general settings, and the profile as a whole.
#include <memory>
#include <optional>
#include <string>

#include "api/change.h"
#include "api/config_patch.h"
#include "api/config_view.h"
#include "api/json_value.h"
#include "api/routes.h"
#include "engine/reloader.h"

namespace culvert::api {
namespace {

using rt::Task;

Reply get(Call& call) {
  Reply reply;
  reply.body = config_json(*call.engine.generation().settings);
  return reply;
}

// The controller stays what it is, as in mihomo: a client does not lock itself out by a profile
// that has another secret, or none. SIGHUP changes it.
engine::Reloader::SettingsPtr with_controller_of(const config::Settings& current,
                                                 const config::Settings& loaded) {
  auto out = std::make_shared<config::Settings>(loaded);
  out->external_controller = current.external_controller;
  out->external_controller_unix = current.external_controller_unix;
  out->external_ui = current.external_ui;
  out->secret = current.secret;
  out->cors_allow_origins = current.cors_allow_origins;
  out->cors_allow_private_network = current.cors_allow_private_network;
  return out;
}

// Another profile. Which paths may be read is for the one who loads to say.
Task<Reply> put(Call& call) {
  const Controller::Parts& parts = call.state.parts;
  if (parts.reloader == nullptr || parts.load == nullptr) {
    co_return not_implemented("loading a profile");
  }
  engine::ProfileSource source;
  {
    const auto object = parse_json_object(call.body);
    if (!object || read_member(*object, "path", source.path) == Member::kWrongType ||
        read_member(*object, "payload", source.text) == Member::kWrongType) {
      co_return bad_request();
    }
  }
  source.is_text = !source.text.empty();
  if (source.is_text) source.path.clear();
  if (!source.path.empty() && source.path.front() != '/') {
    co_return failure(400, "path is not a absolute path");
  }
  if (source.path.find('\0') != std::string::npos) co_return bad_request();
  // The program's own, which outlives the background thread's work.
  engine::Reloader::Load load = [load_profile = parts.load, source = std::move(source)](
                                    const engine::Reloader::SettingsPtr& current,
                                    Diagnostics& out) -> engine::Reloader::SettingsPtr {
    const auto loaded = load_profile(source, out);
    return loaded == nullptr ? nullptr : with_controller_of(*current, *loaded);
  };
  auto changing = parts.reloader->change(std::move(load));
  const auto outcome = co_await std::move(changing);
  co_return reply_of(*outcome);
}

Task<Reply> patch(Call& call) {
  engine::Reloader* reloader = call.state.parts.reloader;
  if (reloader == nullptr) co_return not_implemented("changing the profile");
  std::string why;
  std::optional<ConfigPatch> wanted = parse_config_patch(call.body, why);
  if (!wanted) co_return failure(400, why);
  engine::Reloader::Load load = [wanted = *std::move(wanted)](
                                    const engine::Reloader::SettingsPtr& current,
                                    Diagnostics& out) -> engine::Reloader::SettingsPtr {
    std::optional<config::Settings> next = apply_config_patch(*current, wanted, out);
    if (!next) return nullptr;
    return std::make_shared<const config::Settings>(*std::move(next));
  };
  auto changing = reloader->change(std::move(load));
  const auto outcome = co_await std::move(changing);
  co_return reply_of(*outcome);
}

constexpr Route kRoutes[] = {
    {.method = "GET", .path = "/configs", .now = get},
    {.method = "PUT", .path = "/configs", .later = put},
    {.method = "PATCH", .path = "/configs", .later = patch},
};

}  // namespace

std::span<const Route> config_routes() {
  return kRoutes;
}

}  // namespace culvert::api
