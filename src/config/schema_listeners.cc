#include "config/schema_table.h"

namespace culvert::config {
namespace {

using enum State;

constexpr std::string_view kTypeNotYet = "its type is not supported yet";
constexpr std::string_view kNoUdp = "there is no UDP yet";

constexpr KeyRow kRows[] = {
    {"listeners", kWorks, "name type listen rule proxy routing-mark"},
    {"listeners", kWorks, "port", "also several: 200-302,400; at most 1024 sockets in all"},
    {"listeners:http", kWorks, "users:users", "an empty list asks nobody"},
    {"listeners:http", kRefused,
     "certificate private-key client-auth-type client-auth-cert ech-key "
     "reality-config:reality-config"},
    {"listeners:socks", kWorks, "users:users", "an empty list asks nobody"},
    {"listeners:socks", kIgnored, "udp", kNoUdp},
    {"listeners:socks", kRefused,
     "certificate private-key client-auth-type client-auth-cert ech-key "
     "reality-config:reality-config"},
    {"listeners:mixed", kWorks, "users:users", "an empty list asks nobody"},
    {"listeners:mixed", kIgnored, "udp", kNoUdp},
    {"listeners:mixed", kRefused,
     "certificate private-key client-auth-type client-auth-cert ech-key "
     "reality-config:reality-config"},
    {"listeners:tunnel", kWorks, "target"},
    {"listeners:tunnel", kWorks, "network", "tcp; udp is refused"},
    {"users", kWorks, "username password"},
    {"listeners:tproxy", kRefused, "udp", kTypeNotYet},
    {"listeners:shadowsocks", kRefused,
     "password cipher udp mux-option:mux-option shadow-tls:shadow-tls res-tls:res-tls "
     "jls-config:jls-config kcp-tun:kcp-tun simple-obfs:simple-obfs",
     kTypeNotYet},
    {"listeners:snell", kRefused,
     "psk version udp obfs-opts:plugin-opts shadow-tls:shadow-tls res-tls:res-tls "
     "jls-config:jls-config",
     kTypeNotYet},
    {"listeners:vmess", kRefused,
     "users:users.vmess ws-path grpc-service-name certificate private-key client-auth-type "
     "client-auth-cert ech-key shadow-tls:shadow-tls res-tls:res-tls jls-config:jls-config "
     "reality-config:reality-config tlsmirror-config:tlsmirror-config "
     "mekya-config:mekya-config mkcp-config:mkcp-config mux-option:mux-option",
     kTypeNotYet},
    {"listeners:vless", kRefused,
     "users:users.vless decryption ws-path xhttp-config:xhttp-config grpc-service-name "
     "certificate private-key client-auth-type client-auth-cert ech-key allow-insecure "
     "shadow-tls:shadow-tls res-tls:res-tls jls-config:jls-config "
     "reality-config:reality-config mux-option:mux-option",
     kTypeNotYet},
    {"listeners:trojan", kRefused,
     "users:users ws-path grpc-service-name certificate private-key client-auth-type "
     "client-auth-cert ech-key allow-insecure shadow-tls:shadow-tls res-tls:res-tls "
     "jls-config:jls-config reality-config:reality-config mux-option:mux-option "
     "ss-option:ss-opts",
     kTypeNotYet},
    {"listeners:hysteria2", kRefused,
     "users obfs obfs-password obfs-min-packet-size obfs-max-packet-size certificate "
     "private-key client-auth-type client-auth-cert ech-key max-idle-time alpn up down "
     "ignore-client-bandwidth masquerade cwnd bbr-profile udp-mtu mux-option:mux-option "
     "realm-opts:realm-opts.listener initial-stream-receive-window max-stream-receive-window "
     "initial-connection-receive-window max-connection-receive-window",
     kTypeNotYet},
    {"listeners:hysteria2-realm", kRefused,
     "token max-realms max-realms-per-ip trusted-proxy-header realm-name-pattern certificate "
     "private-key client-auth-type client-auth-cert ech-key alpn",
     kTypeNotYet},
    {"listeners:tuic", kRefused,
     "enable listen token users certificate private-key client-auth-type client-auth-cert "
     "ech-key congestion-controller max-idle-time authentication-timeout alpn "
     "max-udp-relay-packet-size cwnd bbr-profile mux-option:mux-option",
     kTypeNotYet},
    {"listeners:shadowquic", kRefused,
     "users:users jls-upstream:jls-upstream alpn quic-versions zero-rtt congestion-controller "
     "up down ignore-client-bandwidth max-idle-time max-datagram-frame-size recv-window-conn "
     "recv-window disable-mtu-discovery cwnd bbr-profile mux-option:mux-option",
     kTypeNotYet},
    {"listeners:anytls", kRefused,
     "users certificate private-key client-auth-type client-auth-cert ech-key "
     "shadow-tls:shadow-tls res-tls:res-tls jls-config:jls-config "
     "reality-config:reality-config allow-insecure padding-scheme",
     kTypeNotYet},
    {"listeners:mieru", kRefused, "transport users traffic-pattern user-hint-is-mandatory",
     kTypeNotYet},
    {"listeners:sudoku", kRefused,
     "key aead-method padding-min padding-max table-type handshake-timeout "
     "enable-pure-downlink custom-table custom-tables disable-http-mask http-mask-mode "
     "path-root fallback httpmask:httpmask mux-option:mux-option",
     kTypeNotYet},
    {"listeners:trusttunnel", kRefused,
     "users:users certificate private-key client-auth-type client-auth-cert ech-key network "
     "congestion-controller cwnd bbr-profile",
     kTypeNotYet},
    {"listeners:tun", kRefused,
     "device stack dns-hijack auto-route auto-detect-interface mtu gso gso-max-size "
     "inet4-address inet6-address iproute2-table-index iproute2-rule-index auto-redirect "
     "kernel-direct kernel-direct-max-entries kernel-direct-ebpf kernel-direct-ebpf-required "
     "kernel-direct-ebpf-interfaces kernel-direct-ebpf-mark kernel-direct-ebpf-max-entries "
     "kernel-direct-ebpf-proxy kernel-direct-ebpf-proxy-redirect kernel-direct-ebpf-proxy-mark "
     "kernel-direct-ebpf-flow-entries kernel-direct-ebpf-direct-prefixes "
     "kernel-direct-ebpf-proxy-prefixes auto-redirect-input-mark auto-redirect-output-mark "
     "auto-redirect-iproute2-fallback-rule-index loopback-address strict-route route-address "
     "route-address-set route-exclude-address route-exclude-address-set include-interface "
     "exclude-interface include-uid include-uid-range exclude-uid exclude-uid-range "
     "exclude-src-port exclude-src-port-range exclude-dst-port exclude-dst-port-range "
     "include-android-user include-package exclude-package include-mac-address "
     "exclude-mac-address endpoint-independent-nat udp-timeout icmp-timeout "
     "disable-icmp-forwarding file-descriptor inet4-route-address inet6-route-address "
     "inet4-route-exclude-address inet6-route-exclude-address recvmsgx sendmsgx",
     kTypeNotYet},
    {"users.vmess", kRefused, "username uuid alterId", kTypeNotYet},
    {"users.vless", kRefused, "username uuid flow", kTypeNotYet},
    {"mux-option", kRefused, "padding brutal:brutal-opts", kTypeNotYet},
    {"reality-config", kRefused,
     "dest private-key short-id server-names max-time-difference proxy "
     "limit-fallback-upload:reality-config.limit-fallback "
     "limit-fallback-download:reality-config.limit-fallback",
     kTypeNotYet},
    {"reality-config.limit-fallback", kRefused, "after-bytes bytes-per-sec burst-bytes-per-sec",
     kTypeNotYet},
    {"shadow-tls", kRefused,
     "enable version password users:shadow-tls.users handshake:shadow-tls.handshake "
     "handshake-for-server-name*shadow-tls.handshake strict-mode wildcard-sni",
     kTypeNotYet},
    {"shadow-tls.users", kRefused, "name password", kTypeNotYet},
    {"shadow-tls.handshake", kRefused, "dest proxy", kTypeNotYet},
    {"res-tls", kRefused, "enable dest password restls-script min-record-len rate-limit proxy",
     kTypeNotYet},
    {"jls-config", kRefused, "enable users:jls-config.users sni dest alpn proxy rate-limit",
     kTypeNotYet},
    {"jls-config.users", kRefused, "username password", kTypeNotYet},
    {"kcp-tun", kRefused,
     "enable key crypt mode conn autoexpire scavengettl mtu ratelimit sndwnd rcvwnd datashard "
     "parityshard dscp nocomp acknodelay nodelay interval resend nc sockbuf smuxver smuxbuf "
     "framesize streambuf keepalive",
     kTypeNotYet},
    {"simple-obfs", kRefused, "enable mode", kTypeNotYet},
    {"mkcp-config", kRefused,
     "enable mtu tti uplink-capacity downlink-capacity congestion write-buffer read-buffer "
     "seed header",
     kTypeNotYet},
    {"mekya-config", kRefused,
     "enable url h2-pool-size max-write-delay max-request-size polling-interval-initial "
     "max-write-size max-write-duration-ms max-simultaneous-write-connection "
     "packet-writing-buffer kcp:mkcp-config",
     kTypeNotYet},
    {"tlsmirror-config", kRefused,
     "primary-key dest proxy explicit-nonce-ciphersuites "
     "defer-instance-derived-write-time:tlsmirror.time "
     "transport-layer-padding:tlsmirror.padding connection-enrolment:tlsmirror.enrolment "
     "sequence-watermarking-enabled",
     kTypeNotYet},
    {"xhttp-config", kRefused,
     "path host mode x-padding-bytes x-padding-obfs-mode x-padding-key x-padding-header "
     "x-padding-placement x-padding-method uplink-http-method session-placement session-key "
     "seq-placement seq-key uplink-data-placement uplink-data-key uplink-chunk-size "
     "no-sse-header sc-stream-up-server-secs sc-max-buffered-posts sc-max-each-post-bytes",
     kTypeNotYet},
    {"realm-opts.listener", kRefused,
     "enable server-url token realm-id stun-servers sni skip-cert-verify name-cert-verify "
     "fingerprint certificate private-key alpn proxy",
     kTypeNotYet},
    {"jls-upstream", kRefused, "addr sni proxy rate-limit quic-version-probe", kTypeNotYet},
};

constexpr std::string_view kTypes[] = {
    "http",        "socks",      "mixed",  "redir", "tproxy", "tunnel",     "tun",
    "shadowsocks", "snell",      "vmess",  "vless", "trojan", "hysteria2",  "hysteria2-realm",
    "tuic",        "shadowquic", "anytls", "mieru", "sudoku", "trusttunnel"};
static_assert(std::size(kTypes) == 20);

}  // namespace

std::span<const KeyRow> listener_rows() {
  return kRows;
}

std::span<const std::string_view> listener_types() {
  return kTypes;
}

}  // namespace culvert::config
