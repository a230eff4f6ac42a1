#include "api/config_view.h"

#include "api/classic_ports.h"
#include "api/json_writer.h"

namespace culvert::api {
namespace {

std::string_view word(config::Mode mode) {
  switch (mode) {
    case config::Mode::kGlobal:
      return "global";
    case config::Mode::kDirect:
      return "direct";
    case config::Mode::kRule:
      break;
  }
  return "rule";
}

void append_prefixes(JsonWriter& w, const std::vector<Prefix>& prefixes) {
  w.begin_array();
  for (const Prefix& p : prefixes) w.string(p.to_string());
  w.end_array();
}

// Lists that are not set are null (Go's empty slices).
void append_optional_prefixes(JsonWriter& w, const std::vector<Prefix>& prefixes) {
  if (prefixes.empty()) {
    w.null();
  } else {
    append_prefixes(w, prefixes);
  }
}

}  // namespace

std::string config_json(const config::Settings& s) {
  std::string out;
  JsonWriter w(out);
  w.begin_object();
  w.field("port", uint64_t{port_of(s, ClassicPort::kHttp)});
  w.field("socks-port", uint64_t{port_of(s, ClassicPort::kSocks)});
  w.raw(R"("redir-port":0,"tproxy-port":0)");
  w.field("mixed-port", uint64_t{port_of(s, ClassicPort::kMixed)});
  w.raw(R"("tun":{"enable":false,"device":"","stack":"gVisor","dns-hijack":null,)"
        R"("auto-route":false,"auto-detect-interface":false})");
  w.raw(R"("tuic-server":{"enable":false,"listen":"","certificate":"","private-key":""})");
  w.raw(R"("ss-config":"","vmess-config":"","authentication":null)");
  w.key("skip-auth-prefixes");
  append_optional_prefixes(w, s.skip_auth_prefixes);
  w.key("lan-allowed-ips");
  append_prefixes(w, s.lan_allowed_ips.empty()
                         ? std::vector<Prefix>{*Prefix::parse("0.0.0.0/0"), *Prefix::parse("::/0")}
                         : s.lan_allowed_ips);
  w.key("lan-disallowed-ips");
  append_optional_prefixes(w, s.lan_disallowed_ips);
  w.flag("allow-lan", s.allow_lan).field("bind-address", s.bind_address);
  w.flag("inbound-tfo", s.inbound_tfo).flag("inbound-mptcp", s.inbound_mptcp);
  w.plain_field("mode", word(s.mode)).flag("unified-delay", s.unified_delay);
  w.plain_field("log-level", log::name(s.log_level)).flag("ipv6", s.ipv6);
  w.field("interface-name", s.interface_name).field("routing-mark", uint64_t{s.routing_mark});
  w.raw(R"("geox-url":{"geo-ip":"","mmdb":"","asn":"","geo-site":""})");
  w.raw(R"("geo-auto-update":false,"geo-update-interval":0,"geodata-mode":false)");
  w.raw(R"("geodata-loader":"memconservative","geosite-matcher":"succinct")");
  w.flag("tcp-concurrent", s.tcp_concurrent);
  w.raw(R"("find-process-mode":"off","sniffing":false,"global-client-fingerprint":"")");
  w.raw(
      R"("global-ua":"","etag-support":false,"keep-alive-idle":)" +
      std::to_string(std::chrono::duration_cast<std::chrono::seconds>(s.keep_alive_idle).count()));
  w.raw(R"("keep-alive-interval":)" +
        std::to_string(
            std::chrono::duration_cast<std::chrono::seconds>(s.keep_alive_interval).count()));
  w.flag("disable-keep-alive", !s.keep_alive);
  w.end_object();
  return out;
}

}  // namespace culvert::api
