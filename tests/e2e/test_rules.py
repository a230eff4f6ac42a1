"""Which rule a destination meets, and what each target does."""
import socket
import time

import pytest

from clients import Refused, TUNNELS, connect, http_connect, read_exactly, socks5, socks5_request
from servers import HttpOrigin, echo

RULES = [
    "DOMAIN,exact.example,DIRECT",
    "DOMAIN-SUFFIX,suffix.example,REJECT",
    "DOMAIN-KEYWORD,keyword,REJECT",
    "DOMAIN,Bücher.Example,REJECT",
    "IP-CIDR,127.0.0.2/32,REJECT,no-resolve",
    "IP-CIDR,127.0.0.3/32,REJECT-DROP,no-resolve",
    "DOMAIN,www.origin.example,DIRECT",
    "IP-CIDR,127.0.0.4/32,REJECT",
    "MATCH,DIRECT",
]
HOSTS = "".join(f"127.0.0.1 {name}\n" for name in (
    "exact.example", "sub.exact.example", "suffix.example", "a.suffix.example",
    "notsuffix.example", "has-keyword-in.example", "www.origin.example")) + \
    "127.0.0.4 cidr.example\n"

# (destination, rule type and payload when let through, None when rejected)
CASES = [
    ("exact.example", ("Domain", "exact.example")),
    ("EXACT.example", ("Domain", "exact.example")),
    ("sub.exact.example", ("Match", "")),
    ("suffix.example", None),
    ("a.suffix.example", None),
    ("A.SUFFIX.EXAMPLE", None),
    ("notsuffix.example", ("Match", "")),
    ("has-keyword-in.example", None),
    ("has-KEYWORD-in.example", None),
    ("xn--bcher-kva.example", None),
    ("bücher.example", None),
    ("127.0.0.2", None),
    ("127.0.0.1", ("Match", "")),
    ("www.origin.example", ("Domain", "www.origin.example")),
    ("cidr.example", None),  # resolved for the first rule that needs the address
]


@pytest.fixture
def ruled(culvert):
    return culvert(rules=RULES, hosts=HOSTS)


@pytest.mark.parametrize("tunnel", TUNNELS)
def test_rules_decide(ruled, serve, tunnel):
    server = serve(echo)
    for host, rule in CASES:
        if rule is None:
            with pytest.raises(Refused) as refused:
                TUNNELS[tunnel](ruled.mixed, host, server.port)
            assert refused.value.code == {"socks5": 2, "socks4a": 91, "connect": 403}[tunnel], host
        else:
            with TUNNELS[tunnel](ruled.mixed, host, server.port) as connection:
                connection.sendall(b"ping")
                assert read_exactly(connection, 4) == b"ping"
                flow, = ruled.api.flows()
                assert (flow["rule"], flow["rulePayload"]) == rule, host
                assert flow["chains"] == ["DIRECT"]
            while ruled.api.flows():
                time.sleep(0.005)


def test_plain_requests_meet_the_rules_one_by_one(ruled, curl, origin):
    urls = [origin.url("/bytes/9", host) for host in ("exact.example", "a.suffix.example",
                                                      "www.origin.example")]
    got = curl.run(*(a for url in urls for a in ("-o", "/dev/null", url)), "-w", "%{http_code} ",
                   proxy=f"http://127.0.0.1:{ruled.mixed}")
    assert got.stdout.decode().split() == ["200", "403", "200"]


def test_the_request_line_decides_not_the_host_field(ruled, curl, origin):
    got = curl.get("-H", "Host: a.suffix.example", origin.url("/headers", "exact.example"),
                   proxy=f"http://127.0.0.1:{ruled.mixed}").decode()
    assert f"Host: exact.example:{origin.port}" in got
    done = curl.run("-o", "/dev/null", "-w", "%{http_code}", "-H", "Host: exact.example",
                    origin.url("/headers", "a.suffix.example"),
                    proxy=f"http://127.0.0.1:{ruled.mixed}")
    assert done.stdout == b"403"


def test_reject_drop_keeps_silent(ruled, serve):
    server = serve(echo)
    with connect(ruled.mixed) as connection:
        connection.sendall(b"\x05\x01\x00" + socks5_request("127.0.0.3", server.port))
        assert read_exactly(connection, 2) == b"\x05\x00"
        connection.settimeout(1)
        with pytest.raises(TimeoutError):
            connection.recv(1)
    assert not server.connections


def test_mode_direct_passes_the_rules_by(culvert, serve):
    process = culvert(mode="direct", rules=["MATCH,REJECT"])
    server = serve(echo)
    with socks5(process.mixed, "127.0.0.1", server.port) as connection:
        connection.sendall(b"ping")
        assert read_exactly(connection, 4) == b"ping"


def test_nothing_matches_means_direct(culvert, serve):
    process = culvert(rules=["DOMAIN,other.example,REJECT"])
    with socks5(process.mixed, "origin.example", serve(echo).port) as connection:
        connection.sendall(b"ping")
        assert read_exactly(connection, 4) == b"ping"


def test_its_own_ports_are_no_destination(culvert):
    process = culvert()
    for port in (process.mixed, process.controller):
        for host in ("127.0.0.1", "origin.example", "127.0.0.1"):
            with pytest.raises(Refused):
                socks5(process.mixed, host, port)
            with pytest.raises(Refused):
                http_connect(process.mixed, host, port)


def has_ipv6():
    try:
        with socket.socket(socket.AF_INET6) as probe:
            probe.bind(("::1", 0))
        return True
    except OSError:
        return False


@pytest.mark.skipif(not has_ipv6(), reason="this host has no IPv6 loopback")
def test_ipv6_destinations(culvert, curl):
    process = culvert(rules=["IP-CIDR6,2001:db8::/32,REJECT", "IP-CIDR,::1/128,DIRECT",
                             "MATCH,REJECT"])
    six = HttpOrigin("::1")
    try:
        for scheme, extra in (("http", ()), ("http", ("-p",)), ("socks5h", ())):
            got = curl.get("-g", f"http://[::1]:{six.port}/headers", *extra,
                           proxy=f"{scheme}://127.0.0.1:{process.mixed}").decode()
            assert f"Host: [::1]:{six.port}" in got
        with pytest.raises(Refused) as refused:
            socks5(process.mixed, "2001:db8::1", 80)
        assert refused.value.code == 2
    finally:
        six.stop()


def test_refused_and_unknown_destinations_are_told_apart(culvert, serve):
    process = culvert()
    closed = serve(echo)
    closed.stop()
    with pytest.raises(Refused) as refused:
        socks5(process.mixed, "127.0.0.1", closed.port)
    assert refused.value.code == 5
    with pytest.raises(Refused) as refused:
        http_connect(process.mixed, "127.0.0.1", closed.port)
    assert refused.value.code == 502
