#include "config/schema_table.h"

namespace culvert::config {
namespace {

using enum State;

constexpr std::string_view kEnabledOnly = "unless not enabled";

constexpr KeyRow kRows[] = {
    {"", kWorks, "port socks-port mixed-port", "0 is off"},
    {"", kWorks, "allow-lan bind-address", "of the three ports"},
    {"", kWorks, "authentication skip-auth-prefixes lan-allowed-ips lan-disallowed-ips"},
    {"", kWorks, "inbound-tfo inbound-mptcp"},
    {"", kWorks, "listeners:listeners tunnels:tunnels"},
    {"", kWorks, "proxies:proxies",
     "a node of a type, or with an option, that is not supported yet rejects its flows and is "
     "listed by -t; an error with --strict"},
    {"", kWorks, "proxy-groups:proxy-groups"},
    {"", kWorks, "rules sub-rules"},
    {"", kWorks, "mode log-level ipv6 tcp-concurrent unified-delay"},
    {"", kWorks, "interface-name routing-mark", "of outbound sockets"},
    {"", kWorks, "keep-alive-idle keep-alive-interval disable-keep-alive"},
    {"", kWorks, "external-controller secret external-controller-cors:external-controller-cors"},
    {"", kWorks, "external-controller-unix external-ui external-ui-name",
     "paths below the home directory or SAFE_PATHS"},
    {"", kIgnored, "external-ui-url", "nothing is downloaded"},
    {"", kIgnored, "external-controller-pipe", "of Windows"},
    {"", kRefused, "external-controller-tls external-doh-server"},
    {"", kRefused, "external-controller-routing-mark", "unless 0"},
    {"", kWorks, "profile:profile experimental:experimental culvert:culvert"},
    {"", kRefused, "redir-port tproxy-port ss-config vmess-config"},
    {"", kRefused, "tuic-server:listeners:tuic", kEnabledOnly},
    {"", kRefused, "tls:tls hosts"},
    {"", kRefused, "dns:dns sniffer:sniffer tun:tun ntp:ntp iptables:iptables", kEnabledOnly},
    {"", kRefused, "proxy-providers*proxy-providers rule-providers*rule-providers"},
    {"", kRefused, "aster:aster"},
    {"", kRefused, "traffic-control:traffic-control", kEnabledOnly},
    {"", kIgnored, "find-process-mode", "no rule asks for the process yet"},
    {"", kIgnored, "global-client-fingerprint", "set it in each node"},
    {"", kIgnored, "global-ua etag-support", "nothing is downloaded"},
    {"", kIgnored,
     "geodata-mode geodata-loader geosite-matcher geo-auto-update geo-update-interval "
     "geox-url:geox-url",
     "no geo data is used yet"},
    {"", kIgnored, "clash-for-android:clash-for-android"},

    {"external-controller-cors", kWorks, "allow-origins allow-private-network"},
    {"profile", kWorks, "store-selected"},
    {"profile", kIgnored, "store-fake-ip", "there are no fake addresses yet"},
    {"experimental", kRefused, "dialer-ip4p-convert"},
    {"experimental", kIgnored, "quic-go-disable-gso quic-go-disable-ecn fingerprints"},
    {"culvert", kWorks, "workers", "0 is one per usable CPU"},
    {"culvert", kWorks, "buffer-budget", "bytes in flight, such as 64MiB; 0 goes by the memory"},
    {"culvert", kWorks, "handshake-timeout", "of a client, from accept"},
    {"culvert", kWorks, "interrupt-exist-connections",
     "ends the flows that a group carries when another of its members is selected"},

    {"tunnels", kWorks, "address target proxy", "or a text: network,address,target,proxy"},
    {"tunnels", kWorks, "network", "tcp; udp is refused"},

    {"proxy-groups", kWorks, "name proxies include-all include-all-proxies", {}},
    {"proxy-groups", kWorks, "type",
     "select; url-test, fallback and load-balance are read but reject their flows yet; relay is "
     "refused, as it is no more"},
    {"proxy-groups", kWorks, "filter exclude-filter",
     "patterns of PCRE2, several with ` between them"},
    {"proxy-groups", kWorks, "exclude-type", "the API's type names, several with | between them"},
    {"proxy-groups", kWorks, "empty-fallback default-selected"},
    {"proxy-groups", kWorks, "url timeout expected-status", "of delay tests"},
    {"proxy-groups", kWorks, "disable-udp hidden icon"},
    {"proxy-groups", kIgnored, "interval lazy max-failed-times tolerance strategy",
     "a select group does not choose by itself"},
    {"proxy-groups", kIgnored, "interface-name routing-mark dialer-proxy", "set it in the nodes"},
    {"proxy-groups", kRefused, "use include-all-providers", "there are no providers yet"},

    {"proxy-providers", kRefused,
     "type path url proxy interval size-limit header filter exclude-filter exclude-type "
     "dialer-proxy payload age-secret-key health-check:proxy-providers.health-check "
     "override:proxy-providers.override"},
    {"proxy-providers.health-check", kRefused, "enable url interval timeout lazy expected-status"},
    {"proxy-providers.override", kRefused,
     "tfo mptcp udp udp-over-tcp up down dialer-proxy skip-cert-verify name-cert-verify "
     "interface-name routing-mark ip-version additional-prefix additional-suffix override-expr "
     "proxy-name:proxy-providers.override.proxy-name"},
    {"proxy-providers.override.proxy-name", kRefused, "pattern target"},
    {"rule-providers", kRefused,
     "type behavior format path url proxy interval size-limit header payload path-in-bundle"},

    {"dns", kRefused,
     "enable listen listen-routing-mark ipv6 ipv6-timeout prefer-h3 use-hosts use-system-hosts "
     "respect-rules enhanced-mode fake-ip-range fake-ip-range6 fake-ip-filter fake-ip-filter-mode "
     "fake-ip-ttl default-nameserver nameserver fallback fallback-filter:dns.fallback-filter "
     "fallback-lazy-query nameserver-policy proxy-server-nameserver "
     "proxy-server-nameserver-policy direct-nameserver direct-nameserver-follow-policy "
     "cache-algorithm cache-max-size"},
    {"dns.fallback-filter", kRefused, "geoip geoip-code ipcidr domain geosite"},
    {"sniffer", kRefused,
     "enable sniff:sniffer.sniff override-destination force-domain skip-domain skip-src-address "
     "skip-dst-address force-dns-mapping parse-pure-ip sniffing port-whitelist"},
    {"sniffer.sniff", kRefused,
     "HTTP:sniffer.sniff.* TLS:sniffer.sniff.* QUIC:sniffer.sniff.* http:sniffer.sniff.* "
     "tls:sniffer.sniff.* quic:sniffer.sniff.*"},
    {"sniffer.sniff.*", kRefused, "ports override-destination"},
    {"ntp", kRefused, "enable server port interval dialer-proxy write-to-system"},
    {"iptables", kRefused, "enable inbound-interface bypass dns-redirect"},
    {"tls", kRefused,
     "certificate private-key client-auth-type client-auth-cert ech-key custom-certifactes"},
    {"geox-url", kIgnored, "geoip geosite mmdb asn"},
    {"clash-for-android", kIgnored, "append-system-dns ui-subtitle-pattern"},
    {"tun", kRefused,
     "enable device stack dns-hijack auto-route auto-detect-interface mtu gso gso-max-size "
     "inet4-address inet6-address iproute2-table-index iproute2-rule-index auto-redirect "
     "auto-redirect-input-mark auto-redirect-output-mark "
     "auto-redirect-iproute2-fallback-rule-index loopback-address strict-route route-address "
     "route-address-set route-exclude-address route-exclude-address-set include-interface "
     "exclude-interface include-uid include-uid-range exclude-uid exclude-uid-range "
     "exclude-src-port exclude-src-port-range exclude-dst-port exclude-dst-port-range "
     "include-android-user include-package exclude-package include-mac-address "
     "exclude-mac-address endpoint-independent-nat udp-timeout icmp-timeout "
     "disable-icmp-forwarding file-descriptor inet4-route-address inet6-route-address "
     "inet4-route-exclude-address inet6-route-exclude-address recvmsgx sendmsgx"},
    {"tun", kRefused,
     "kernel-direct kernel-direct-max-entries kernel-direct-ebpf kernel-direct-ebpf-required "
     "kernel-direct-ebpf-interfaces kernel-direct-ebpf-mark kernel-direct-ebpf-max-entries "
     "kernel-direct-ebpf-proxy kernel-direct-ebpf-proxy-redirect kernel-direct-ebpf-proxy-mark "
     "kernel-direct-ebpf-flow-entries kernel-direct-ebpf-direct-prefixes "
     "kernel-direct-ebpf-proxy-prefixes",
     "Aster's"},
    {"aster", kRefused, "secret public-base-url store managed-listeners", "Aster's"},
    {"traffic-control", kRefused,
     "enabled store checkpoint-interval max-store-size portal:traffic-control.portal "
     "reports:traffic-control.reports global:traffic-control.policy "
     "devices:traffic-control.policy rules:traffic-control.policy targets:traffic-control.policy",
     "Aster's"},
    {"traffic-control.portal", kRefused, "listen url", "Aster's"},
    {"traffic-control.reports", kRefused,
     "enabled hourly-retention daily-retention monthly-retention orphan-retention", "Aster's"},
    {"traffic-control.policy", kRefused,
     "id name enabled upload-bps download-bps quota:traffic-control.quota "
     "policy:traffic-control.policy.inner mac source-cidrs type payload target kind",
     "Aster's"},
    {"traffic-control.policy.inner", kRefused,
     "id name enabled upload-bps download-bps quota:traffic-control.quota", "Aster's"},
    {"traffic-control.quota", kRefused,
     "total-bytes upload-bytes download-bytes window overage-upload-bps overage-download-bps "
     "portal",
     "Aster's"},
};

constexpr KeywordRow kKeywords[] = {
    {"DOMAIN", kWorks},
    {"DOMAIN-SUFFIX", kWorks},
    {"DOMAIN-KEYWORD", kWorks},
    {"DOMAIN-REGEX", kRefused},
    {"DOMAIN-WILDCARD", kRefused},
    {"GEOSITE", kRefused},
    {"GEOIP", kRefused},
    {"SRC-GEOIP", kRefused},
    {"IP-ASN", kRefused},
    {"SRC-IP-ASN", kRefused},
    {"IP-CIDR", kWorks},
    {"IP-CIDR6", kWorks},
    {"SRC-IP-CIDR", kWorks},
    {"IP-SUFFIX", kRefused},
    {"SRC-IP-SUFFIX", kRefused},
    {"SRC-PORT", kWorks},
    {"DST-PORT", kWorks},
    {"IN-PORT", kWorks},
    {"DSCP", kRefused},
    {"PROCESS-NAME", kRefused},
    {"PROCESS-PATH", kRefused},
    {"PROCESS-NAME-REGEX", kRefused},
    {"PROCESS-PATH-REGEX", kRefused},
    {"PROCESS-NAME-WILDCARD", kRefused},
    {"PROCESS-PATH-WILDCARD", kRefused},
    {"UID", kRefused},
    {"NETWORK", kWorks},
    {"IN-TYPE", kWorks},
    {"IN-USER", kWorks},
    {"IN-NAME", kWorks},
    {"REMATCH-NAME", kRefused},
    {"RULE-SET", kRefused, "there are no providers yet"},
    {"SUB-RULE", kRefused, "a listener's `rule` may name a list of sub-rules"},
    {"AND", kWorks},
    {"OR", kWorks},
    {"NOT", kWorks},
    {"MATCH", kWorks},
};

}  // namespace

std::span<const KeyRow> general_rows() {
  return kRows;
}

std::span<const KeywordRow> rule_keywords() {
  return kKeywords;
}

}  // namespace culvert::config
