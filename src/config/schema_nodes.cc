#include "config/schema_table.h"

namespace culvert::config {
namespace {

using enum State;

constexpr std::string_view kTypeNotYet = "its type is not supported yet";
constexpr std::string_view kWithTls = "nothing without tls";

constexpr KeyRow kRows[] = {
    {"proxies", kWorks, "name type"},
    {"proxies", kWorks, "dialer-proxy interface-name routing-mark ip-version tfo mptcp"},
    {"proxies", kRefused, "smux:smux", "unless not enabled"},
    {"proxies:rematch", kRefused, "target-rematch-name target-sub-rule", kTypeNotYet},
    {"proxies:http", kWorks, "server port username password headers"},
    {"proxies:http", kRefused, "tls"},
    {"proxies:http", kWorks,
     "sni skip-cert-verify name-cert-verify fingerprint certificate private-key", kWithTls},
    {"proxies:socks5", kWorks, "server port username password"},
    {"proxies:socks5", kRefused, "tls"},
    {"proxies:socks5", kIgnored, "udp", "there is no UDP yet"},
    {"proxies:socks5", kWorks,
     "skip-cert-verify name-cert-verify fingerprint certificate private-key", kWithTls},
    {"proxies:ss", kRefused,
     "server port password cipher udp plugin plugin-opts:plugin-opts udp-over-tcp "
     "udp-over-tcp-version client-fingerprint",
     kTypeNotYet},
    {"proxies:ssr", kRefused,
     "server port password cipher obfs obfs-param protocol protocol-param udp", kTypeNotYet},
    {"proxies:vmess", kRefused,
     "server port uuid alterId cipher udp network tls alpn skip-cert-verify name-cert-verify "
     "fingerprint certificate private-key servername ech-opts:ech-opts "
     "shadow-tls-opts:shadow-tls-opts restls-opts:restls-opts jls-opts:jls-opts "
     "reality-opts:reality-opts tlsmirror-opts:tlsmirror-opts mekya-opts:mekya-opts "
     "mkcp-opts:mkcp-opts http-opts:http-opts h2-opts:h2-opts grpc-opts:grpc-opts "
     "ws-opts:ws-opts packet-addr xudp packet-encoding global-padding authenticated-length "
     "client-fingerprint",
     kTypeNotYet},
    {"proxies:vless", kRefused,
     "server port uuid flow tls alpn udp packet-addr xudp packet-encoding encryption network "
     "ech-opts:ech-opts shadow-tls-opts:shadow-tls-opts restls-opts:restls-opts "
     "jls-opts:jls-opts reality-opts:reality-opts http-opts:http-opts h2-opts:h2-opts "
     "grpc-opts:grpc-opts ws-opts:ws-opts xhttp-opts:xhttp-opts ws-headers skip-cert-verify "
     "name-cert-verify fingerprint certificate private-key servername client-fingerprint",
     kTypeNotYet},
    {"proxies:trojan", kRefused,
     "server port password alpn sni skip-cert-verify name-cert-verify fingerprint certificate "
     "private-key udp network ech-opts:ech-opts shadow-tls-opts:shadow-tls-opts "
     "restls-opts:restls-opts jls-opts:jls-opts reality-opts:reality-opts grpc-opts:grpc-opts "
     "ws-opts:ws-opts ss-opts:ss-opts client-fingerprint",
     kTypeNotYet},
    {"proxies:snell", kRefused,
     "server port psk udp version reuse obfs-opts:plugin-opts client-fingerprint", kTypeNotYet},
    {"proxies:anytls", kRefused,
     "server port password alpn sni ech-opts:ech-opts shadow-tls-opts:shadow-tls-opts "
     "restls-opts:restls-opts jls-opts:jls-opts reality-opts:reality-opts client-fingerprint "
     "skip-cert-verify name-cert-verify fingerprint certificate private-key udp "
     "client-metadata idle-session-check-interval idle-session-timeout min-idle-session "
     "disable-reuse",
     kTypeNotYet},
    {"proxies:hysteria", kRefused,
     "server port ports protocol obfs-protocol up up-speed down down-speed auth auth-str obfs "
     "sni ech-opts:ech-opts skip-cert-verify name-cert-verify fingerprint certificate "
     "private-key alpn recv-window-conn recv-window disable-mtu-discovery fast-open "
     "hop-interval",
     kTypeNotYet},
    {"proxies:hysteria2", kRefused,
     "server port ports hop-interval up down password obfs obfs-password obfs-min-packet-size "
     "obfs-max-packet-size sni ech-opts:ech-opts skip-cert-verify name-cert-verify fingerprint "
     "certificate private-key alpn cwnd bbr-profile udp-mtu handshake-timeout "
     "realm-opts:realm-opts initial-stream-receive-window max-stream-receive-window "
     "initial-connection-receive-window max-connection-receive-window",
     kTypeNotYet},
    {"proxies:tuic", kRefused,
     "server port token uuid password ip heartbeat-interval alpn reduce-rtt request-timeout "
     "udp-relay-mode congestion-controller disable-sni max-udp-relay-packet-size fast-open "
     "max-open-streams cwnd bbr-profile skip-cert-verify name-cert-verify fingerprint "
     "certificate private-key recv-window-conn recv-window disable-mtu-discovery "
     "max-datagram-frame-size sni ech-opts:ech-opts udp-over-stream udp-over-stream-version",
     kTypeNotYet},
    {"proxies:wireguard", kRefused,
     "server port public-key pre-shared-key reserved allowed-ips ip ipv6 private-key workers "
     "mtu udp persistent-keepalive amnezia-wg-option:amnezia-wg-option peers:peers "
     "remote-dns-resolve dns refresh-server-ip-interval",
     kTypeNotYet},
    {"proxies:ssh", kRefused,
     "server port username password private-key private-key-passphrase host-key "
     "host-key-algorithms",
     kTypeNotYet},
    {"proxies:mieru", kRefused,
     "server port port-range transport udp username password multiplexing handshake-mode "
     "traffic-pattern",
     kTypeNotYet},
    {"proxies:sudoku", kRefused,
     "server port key aead-method padding-min padding-max table-type enable-pure-downlink "
     "http-mask http-mask-mode http-mask-tls http-mask-host path-root multiplex "
     "http-mask-multiplex httpmask:httpmask custom-table custom-tables",
     kTypeNotYet},
    {"proxies:masque", kRefused,
     "server port private-key public-key ip ipv6 uri sni mtu udp handshake-timeout "
     "skip-cert-verify name-cert-verify network congestion-controller cwnd bbr-profile "
     "remote-dns-resolve dns",
     kTypeNotYet},
    {"proxies:trusttunnel", kRefused,
     "server port username password alpn sni ech-opts:ech-opts client-fingerprint "
     "skip-cert-verify name-cert-verify fingerprint certificate private-key udp health-check "
     "quic congestion-controller cwnd bbr-profile max-connections min-streams max-streams",
     kTypeNotYet},
    {"proxies:shadowquic", kRefused,
     "server port username password sni alpn quic-versions udp-over-stream zero-rtt "
     "keep-alive-interval congestion-controller up down cwnd bbr-profile recv-window-conn "
     "recv-window disable-mtu-discovery max-datagram-frame-size max-open-streams",
     kTypeNotYet},
    {"proxies:openvpn", kRefused,
     "server port proto dev cipher data-ciphers data-ciphers-fallback auth comp-lzo ca cert "
     "key tls-auth key-direction tls-crypt tls-crypt-v2 username password peer-info ping "
     "ping-restart handshake-timeout mtu udp remote-dns-resolve dns",
     kTypeNotYet},
    {"proxies:gost-relay", kRefused,
     "server port forward udp tls mux sni username password skip-cert-verify name-cert-verify "
     "fingerprint certificate private-key client-fingerprint",
     kTypeNotYet},
    {"proxies:tailscale", kRefused,
     "hostname auth-key control-url state-dir ephemeral udp accept-routes exit-node "
     "exit-node-allow-lan-access",
     kTypeNotYet},
    {"smux", kRefused,
     "enabled protocol max-connections min-streams max-streams padding statistic only-tcp "
     "brutal-opts:brutal-opts",
     kTypeNotYet},
    {"brutal-opts", kRefused, "enabled up down", kTypeNotYet},
    {"ech-opts", kRefused, "enable config query-server-name", kTypeNotYet},
    {"reality-opts", kRefused, "public-key short-id support-x25519mlkem768", kTypeNotYet},
    {"shadow-tls-opts", kRefused, "password version", kTypeNotYet},
    {"restls-opts", kRefused, "password version-hint restls-script", kTypeNotYet},
    {"jls-opts", kRefused, "username password", kTypeNotYet},
    {"http-opts", kRefused, "method path headers", kTypeNotYet},
    {"h2-opts", kRefused, "host path", kTypeNotYet},
    {"grpc-opts", kRefused,
     "grpc-service-name grpc-user-agent ping-interval max-connections min-streams max-streams",
     kTypeNotYet},
    {"ws-opts", kRefused,
     "path headers max-early-data early-data-header-name v2ray-http-upgrade "
     "v2ray-http-upgrade-fast-open",
     kTypeNotYet},
    {"xhttp-opts", kRefused,
     "path host mode headers no-grpc-header x-padding-bytes x-padding-obfs-mode x-padding-key "
     "x-padding-header x-padding-placement x-padding-method uplink-http-method "
     "session-placement session-key session-table session-length seq-placement seq-key "
     "uplink-data-placement uplink-data-key uplink-chunk-size sc-max-each-post-bytes "
     "sc-min-posts-interval-ms reuse-settings:xhttp-opts.reuse-settings "
     "download-settings:xhttp-opts.download-settings",
     kTypeNotYet},
    {"xhttp-opts.reuse-settings", kRefused,
     "max-concurrency max-connections c-max-reuse-times h-max-request-times "
     "h-max-reusable-secs h-keep-alive-period",
     kTypeNotYet},
    {"xhttp-opts.download-settings", kRefused,
     "path host headers reuse-settings:xhttp-opts.reuse-settings server port tls alpn "
     "ech-opts:ech-opts shadow-tls-opts:shadow-tls-opts restls-opts:restls-opts "
     "jls-opts:jls-opts reality-opts:reality-opts skip-cert-verify name-cert-verify "
     "fingerprint certificate private-key servername client-fingerprint",
     kTypeNotYet},
    {"ss-opts", kRefused, "enabled method password", kTypeNotYet},
    {"mkcp-opts", kRefused,
     "mtu tti uplink-capacity downlink-capacity congestion write-buffer read-buffer seed "
     "header",
     kTypeNotYet},
    {"mekya-opts", kRefused,
     "url h2-pool-size max-write-delay max-request-size polling-interval-initial "
     "max-write-size max-write-duration-ms max-simultaneous-write-connection "
     "packet-writing-buffer kcp:mkcp-opts",
     kTypeNotYet},
    {"realm-opts", kRefused,
     "enable server-url token realm-id stun-servers sni skip-cert-verify name-cert-verify "
     "fingerprint certificate private-key alpn",
     kTypeNotYet},
    {"peers", kRefused, "server port public-key pre-shared-key reserved allowed-ips", kTypeNotYet},
    {"amnezia-wg-option", kRefused,
     "version jc jmin jmax s1 s2 s3 s4 h1 h2 h3 h4 i1 i2 i3 i4 i5 j1 j2 j3 itime "
     "header-protection-key content-padding-addition rekey-after-time rekey-timeout "
     "reject-after-time keepalive-timeout max-handshake-attempts random-trailers "
     "disable-cookies",
     kTypeNotYet},
    {"httpmask", kRefused, "disable mode tls host path-root multiplex", kTypeNotYet},
    {"tlsmirror-opts", kRefused,
     "primary-key explicit-nonce-ciphersuites defer-instance-derived-write-time:tlsmirror.time "
     "transport-layer-padding:tlsmirror.padding connection-enrolment:tlsmirror.enrolment "
     "embedded-traffic-generator:tlsmirror.generator sequence-watermarking-enabled",
     kTypeNotYet},
    {"tlsmirror.time", kRefused, "base-nanoseconds uniform-random-multiplier-nanoseconds",
     kTypeNotYet},
    {"tlsmirror.padding", kRefused, "enabled", kTypeNotYet},
    {"tlsmirror.enrolment", kRefused, "primary-ingress-outbound primary-egress-outbound",
     kTypeNotYet},
    {"tlsmirror.generator", kRefused, "steps:tlsmirror.step", kTypeNotYet},
    {"tlsmirror.step", kRefused,
     "name host path method headers:tlsmirror.header next-step:tlsmirror.next-step "
     "connection-ready connection-recall-exit wait-time:tlsmirror.time "
     "h2-do-not-wait-for-download-finish",
     kTypeNotYet},
    {"tlsmirror.header", kRefused, "name value values", kTypeNotYet},
    {"tlsmirror.next-step", kRefused, "weight goto-location", kTypeNotYet},
    {"plugin-opts", kRefused,
     "mode host path tls ech-opts:ech-opts fingerprint certificate private-key headers "
     "skip-cert-verify name-cert-verify mux v2ray-http-upgrade v2ray-http-upgrade-fast-open "
     "password version alpn version-hint restls-script force-tls12 username key crypt conn "
     "autoexpire scavengettl mtu ratelimit sndwnd rcvwnd datashard parityshard dscp nocomp "
     "acknodelay nodelay interval resend nc sockbuf smuxver smuxbuf framesize streambuf "
     "keepalive",
     kTypeNotYet},
};

constexpr std::string_view kTypes[] = {
    "ss",     "ssr",      "socks5",      "http",      "vmess",    "vless",      "snell",
    "trojan", "hysteria", "hysteria2",   "wireguard", "tuic",     "shadowquic", "gost-relay",
    "direct", "dns",      "reject",      "rematch",   "ssh",      "mieru",      "anytls",
    "sudoku", "masque",   "trusttunnel", "openvpn",   "tailscale"};
// In the order of kTypes.
constexpr std::string_view kApiNames[] = {
    "Shadowsocks", "ShadowsocksR", "Socks5",   "Http",      "Vmess",     "Vless",
    "Snell",       "Trojan",       "Hysteria", "Hysteria2", "WireGuard", "Tuic",
    "ShadowQuic",  "GostRelay",    "Direct",   "Dns",       "Reject",    "Rematch",
    "Ssh",         "Mieru",        "AnyTLS",   "Sudoku",    "Masque",    "TrustTunnel",
    "OpenVPN",     "Tailscale"};
static_assert(std::size(kTypes) == 26 && std::size(kApiNames) == 26);

}  // namespace

std::span<const KeyRow> node_rows() {
  return kRows;
}

std::span<const std::string_view> proxy_types() {
  return kTypes;
}

std::string_view api_type_name(std::string_view proxy_type) {
  for (size_t i = 0; i < std::size(kTypes); ++i) {
    if (kTypes[i] == proxy_type) return kApiNames[i];
  }
  return {};
}

}  // namespace culvert::config
