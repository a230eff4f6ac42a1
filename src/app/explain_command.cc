#include "app/explain_command.h"

#include <cstdio>
#include <memory>
#include <optional>
#include <string>

#include "base/log.h"
#include "dns/system_resolver.h"
#include "engine/explain.h"
#include "engine/generation.h"
#include "rt/epoll_backend.h"
#include "rt/worker.h"
#include "store/store.h"

namespace culvert::app {
namespace {

constexpr Duration kResolveTime = std::chrono::seconds(5);

int fail(const std::string& what) {
  std::fprintf(stderr, "culvert: explain: %s\n", what.c_str());
  return 1;
}

std::optional<engine::ExplainQuery> query_of(const ExplainRequest& request, std::string& error) {
  engine::ExplainQuery query;
  if (!request.url.empty()) {
    const auto parsed = engine::query_of_url(request.url);
    if (!parsed) {
      error = "'" + request.url + "' is not a URL";
      return std::nullopt;
    }
    query = *parsed;
  }
  if (!request.host.empty()) query.host = request.host;
  if (request.port) query.port = *request.port;
  if (query.port == 0) query.port = 443;
  query.network = request.network == "udp" ? flow::Network::kUdp : flow::Network::kTcp;
  if (const auto ip = IpAddress::parse(request.source)) {
    query.source = Endpoint(*ip, 0);
  } else if (const auto endpoint = Endpoint::parse(request.source)) {
    query.source = *endpoint;
  }
  query.listener = request.inbound;
  query.user = request.user;
  return query;
}

rt::Task<void> ask(std::shared_ptr<const engine::Generation> generation,
                   const engine::Surroundings& surroundings, const engine::ExplainQuery& query,
                   std::optional<engine::Explanation>* out, std::string* error, bool* done) {
  const TimePoint deadline = rt::Worker::here().now() + kResolveTime;
  auto answer = engine::explain(std::move(generation), surroundings, query, deadline, *error);
  *out = co_await std::move(answer);
  *done = true;
}

}  // namespace

int explain_command(const ExplainRequest& request, ProfileLoader& loader,
                    const flow::Registry& registry) {
  Diagnostics diagnostics;
  std::optional<Profile> profile = loader.load(diagnostics);
  std::fputs(diagnostics.to_string().c_str(), stderr);
  std::string error;
  const auto query = query_of(request, error);
  if (!query) return fail(error);
  if (!profile) return 1;
  dns::SystemResolver resolver(
      dns::SystemResolver::Options::from_environment(profile->settings.ipv6));
  engine::Surroundings surroundings(registry, resolver);
  std::vector<store::Store::Selection> remembered;
  if (profile->settings.store_selected) {
    auto read = store::Store(loader.home() + "/culvert.db").selections();
    if (read.ok()) remembered = *std::move(read);
  }
  const auto generation =
      engine::Generation::build(std::make_shared<config::Settings>(std::move(profile->settings)),
                                surroundings, nullptr, diagnostics);
  if (generation == nullptr) {
    std::fputs(diagnostics.to_string().c_str(), stderr);
    return 1;
  }
  generation->settle(0, surroundings.directory(), nullptr, remembered);

  log::set_level(log::Level::kSilent);
  rt::ByteBudget budget(rt::ByteBudget::default_limit());
  rt::Worker worker({0, rt::make_epoll_backend(), std::make_unique<SystemRng>(), &budget});
  rt::Worker::Enter enter(worker);
  std::optional<engine::Explanation> answer;
  bool done = false;
  worker.scope().spawn("explain", ask(generation, surroundings, *query, &answer, &error, &done));
  while (!done) worker.turn(kNever);
  if (!answer) return fail(error);
  std::fputs(answer->to_text().c_str(), stdout);
  return 0;
}

}  // namespace culvert::app
