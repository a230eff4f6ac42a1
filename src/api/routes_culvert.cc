// What Culvert has beside mihomo: why a flow goes where it goes, and sums of traffic.
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "api/json_writer.h"
#include "api/routes.h"
#include "engine/explain.h"
#include "rt/await.h"
#include "stats/directory.h"
#include "wire/url.h"

namespace culvert::api {
namespace {

using rt::Task;
using stats::Dimension;

constexpr Duration kExplainTime = std::chrono::seconds(5);

// Nothing, and why, for a query that says too little or something wrong.
std::optional<engine::ExplainQuery> parse_query(std::string_view query, std::string& why) {
  engine::ExplainQuery out;
  if (const auto url = wire::query_value(query, "url")) {
    const auto target = engine::query_of_url(*url);
    if (!target) {
      why = "url: found neither http://host/ nor https://host/ nor host:port";
      return std::nullopt;
    }
    out = *target;
  } else {
    const auto host = wire::query_value(query, "host");
    const auto port_text = wire::query_value(query, "port");
    const auto port = port_text ? parse_port(*port_text) : std::nullopt;
    if (!host || host->empty() || !port || *port == 0) {
      why = "url, or host and port, say what is to be explained";
      return std::nullopt;
    }
    out.host = *host;
    out.port = *port;
  }
  if (const auto network = wire::query_value(query, "network")) {
    if (*network != "tcp" && *network != "udp") {
      why = "network is tcp or udp";
      return std::nullopt;
    }
    out.network = *network == "udp" ? flow::Network::kUdp : flow::Network::kTcp;
  }
  if (const auto source = wire::query_value(query, "source")) {
    if (const auto ip = IpAddress::parse(*source)) {
      out.source = Endpoint(*ip, 0);
    } else if (const auto at = Endpoint::parse(*source)) {
      out.source = *at;
    } else {
      why = "source is an address, with or without a port";
      return std::nullopt;
    }
  }
  if (auto inbound = wire::query_value(query, "inbound")) out.listener = *std::move(inbound);
  if (auto user = wire::query_value(query, "user")) out.user = *std::move(user);
  return out;
}

void append_rule(JsonWriter& w, const engine::ExplainedRule& rule) {
  w.begin_object().field("index", uint64_t{rule.index}).field("type", rule.type);
  w.field("payload", rule.payload).field("proxy", rule.target);
  w.field("file", rule.file).field("line", uint64_t{rule.line}).end_object();
}

void append_list(JsonWriter& w, const std::vector<std::string>& list) {
  w.begin_array();
  for (const std::string& item : list) w.string(item);
  w.end_array();
}

std::string explanation_json(const engine::Explanation& e) {
  std::string out;
  JsonWriter w(out);
  w.begin_object().field("destination", e.destination);
  w.key("inbound").begin_object().field("name", e.listener).field("type", e.listener_type);
  w.field("listening", e.listening_at.valid() ? e.listening_at.to_string() : std::string());
  w.end_object();
  w.flag("admitted", e.admitted).field("mode", e.mode).field("decidedBy", e.decided_by);
  w.field("subRules", e.sub_rules).key("resolved");
  if (e.resolved_for) {
    w.begin_object().field("forRule", uint64_t{*e.resolved_for});
    w.field("address", e.resolved.valid() ? e.resolved.to_string() : std::string()).end_object();
  } else {
    w.null();
  }
  w.key("passed").begin_array();
  for (const engine::ExplainedRule& rule : e.passed) append_rule(w, rule);
  w.end_array().key("rule");
  if (e.rule) {
    append_rule(w, *e.rule);
  } else {
    w.null();
  }
  w.key("chain");
  append_list(w, e.chain);
  w.field("nodeType", e.node_type).key("dialerChain");
  append_list(w, e.dialer_chain);
  w.flag("rejected", e.rejected).field("why", e.why).end_object();
  return out;
}

Task<Reply> explain(Call& call) {
  std::string why;
  std::optional<engine::ExplainQuery> query = parse_query(call.query, why);
  if (!query) co_return failure(400, why);
  const TimePoint deadline = rt::Worker::here().now() + kExplainTime;
  auto explaining = engine::explain(call.engine.generation_ptr(), call.engine.surroundings(),
                                    *std::move(query), deadline, why);
  const std::optional<engine::Explanation> explained = co_await std::move(explaining);
  if (!explained) co_return failure(400, why);
  Reply reply;
  reply.body = explanation_json(*explained);
  co_return reply;
}

void append_traffic(JsonWriter& w, const stats::Traffic& t) {
  w.begin_object().field("up", t.upload).field("down", t.download).end_object();
}

// By name, of those that had any; `first`: where the sum of number 0 is.
void append_sums(JsonWriter& w, engine::Engine& engine, Dimension by, size_t first) {
  std::vector<stats::Traffic> sums;
  for (size_t i = 0; i < engine.core_count(); ++i) {
    const std::vector<stats::Traffic> of_core = engine.core(i).conversations().sums(by);
    sums.resize(std::max(sums.size(), of_core.size()));
    for (size_t n = 0; n < of_core.size(); ++n) {
      sums[n].upload += of_core[n].upload;
      sums[n].download += of_core[n].download;
    }
  }
  w.begin_object();
  for (size_t n = first; n < sums.size(); ++n) {
    if (sums[n] == stats::Traffic{}) continue;
    w.member(engine.directory().name(by, static_cast<uint32_t>(n - first)));
    append_traffic(w, sums[n]);
  }
  w.end_object();
}

Reply traffic(Call& call) {
  Reply reply;
  JsonWriter w(reply.body);
  w.begin_object().key("total");
  append_traffic(w, {call.engine.uploaded(), call.engine.downloaded()});
  w.key("inbounds");
  append_sums(w, call.engine, Dimension::kInbound, 0);
  w.key("users");  // index 0 is of flows without a user
  append_sums(w, call.engine, Dimension::kUser, 1);
  w.key("outbounds");
  append_sums(w, call.engine, Dimension::kOutbound, 0);
  w.end_object();
  return reply;
}

constexpr Route kRoutes[] = {
    {.method = "GET", .path = "/culvert/explain", .later = explain},
    {.method = "GET", .path = "/culvert/traffic", .now = traffic},
};

}  // namespace

std::span<const Route> culvert_routes() {
  return kRoutes;
}

}  // namespace culvert::api
