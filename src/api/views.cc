#include "api/views.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <ctime>

#include "api/json_writer.h"
#include "base/format.h"

namespace culvert::api {
namespace {

void append_connection(JsonWriter& w, const engine::Engine& engine,
                       const stats::FlowSnapshot& snapshot, const stats::FlowSnapshot::Item& item) {
  const flow::FlowMeta& m = item.meta;
  const engine::Generation& g = engine.generation();
  const auto& listener = g.listeners[m.inbound_index];
  const std::string_view user =
      m.user == flow::kNoUser ? std::string_view() : g.users->user_name(m.user);
  const std::string_view host = snapshot.host(item);
  const IpAddress& address = m.address();
  w.begin_object();
  w.field("id", item.id.to_string());
  w.key("metadata").begin_object();
  w.field("network", flow::name(m.network));
  w.field("type", flow::name(m.inbound_type));
  w.field("sourceIP", m.source.ip.unmapped().to_string());
  w.field("destinationIP", address.to_string());
  w.key("sourceGeoIP").null();
  w.key("destinationGeoIP").null();
  w.field("sourceIPASN", "");
  w.field("destinationIPASN", "");
  w.field("sourcePort", format("{}", m.source.port));
  w.field("destinationPort", format("{}", m.destination.port));
  w.field("inboundIP", listener.at.ip.to_string());
  w.field("inboundPort", format("{}", m.inbound_port));
  w.field("inboundName", listener.name);
  w.field("inboundUser", user);
  w.field("rematchName", "");
  w.field("host", host);
  w.field("dnsMode", "normal");
  w.field("uid", uint64_t{0});
  w.field("process", "");
  w.field("processPath", "");
  w.field("specialProxy", "");
  w.field("specialRules", "");
  w.field("remoteDestination", address.valid() ? address.to_string() : std::string(host));
  w.field("dscp", uint64_t{m.dscp});
  w.field("sniffHost", "");
  w.end_object();
  w.field("upload", item.upload);
  w.field("download", item.download);
  w.field("start", rfc3339(engine.to_wall(item.start)));
  w.key("chains").begin_array().string(item.outbound->name()).end_array();
  w.key("providerChains").begin_array().string("").end_array();
  w.field("rule", item.rule_type);
  w.field("rulePayload", snapshot.rule_payload(item));
  w.end_object();
}

}  // namespace

void append_connections(std::string& out, const engine::Engine& engine,
                        const std::vector<stats::FlowSnapshot>& snapshots) {
  JsonWriter w(out);
  w.begin_object();
  w.field("downloadTotal", engine.downloaded());
  w.field("uploadTotal", engine.uploaded());
  w.key("connections").begin_array();
  for (const stats::FlowSnapshot& s : snapshots) {
    for (const auto& item : s.items) append_connection(w, engine, s, item);
  }
  w.end_array();
  w.field("memory", resident_memory());
  w.end_object();
}

std::string traffic_json(uint64_t up, uint64_t down, uint64_t up_total, uint64_t down_total) {
  std::string out;
  JsonWriter(out)
      .begin_object()
      .field("up", up)
      .field("down", down)
      .field("upTotal", up_total)
      .field("downTotal", down_total)
      .end_object();
  return out;
}

std::string memory_json(uint64_t in_use) {
  std::string out;
  JsonWriter(out).begin_object().field("inuse", in_use).field("oslimit", uint64_t{0}).end_object();
  return out;
}

uint64_t resident_memory() {
  // The second field of statm: resident pages.
  char text[128];
  const int fd = ::open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 0;
  const ssize_t n = ::read(fd, text, sizeof text - 1);
  ::close(fd);
  if (n <= 0) return 0;
  text[n] = 0;
  unsigned long long total = 0, resident = 0;
  if (std::sscanf(text, "%llu %llu", &total, &resident) != 2) return 0;
  return resident * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

std::string rfc3339(WallTime t) {
  const auto since = t.time_since_epoch();
  const time_t seconds = std::chrono::duration_cast<std::chrono::seconds>(since).count();
  const auto nanos = static_cast<long>((since - std::chrono::seconds(seconds)).count());
  tm parts{};
  gmtime_r(&seconds, &parts);
  return format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:09}Z", parts.tm_year + 1900,
                parts.tm_mon + 1, parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec, nanos);
}

}  // namespace culvert::api
