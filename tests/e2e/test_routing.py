"""Rules of every type, judged by where a flow goes: to one node or another."""
import socket

import pytest

from clients import Refused, basic, connect, http_connect, read_response, socks4a, socks5
from harness import free_port, wait_until
from servers import HttpOrigin, NameServer, dns_reply, echo
from test_names import SERVERS_AT, port_53  # noqa: F401

NODES = [{"name": f"P{n}", "type": "direct"} for n in range(1, 7)]


def flow_of(process):
    flow, = process.api.flows()
    return flow


def route(process, opened):
    """(node, rule type, payload) of the flow that this connection is."""
    with opened:
        flow = flow_of(process)
    wait_until(lambda: not process.api.flows(), 5, "the flow's end")
    return flow["chains"][0], flow["rule"], flow["rulePayload"]


def from_address(source, proxy_port, host, port, source_port=0):
    """A SOCKS4a connection from this local address."""
    connection = socket.create_connection(("127.0.0.1", proxy_port), timeout=10,
                                          source_address=(source, source_port))
    connection.sendall(b"\x04\x01" + port.to_bytes(2, "big") + b"\0\0\0\1\0" + host.encode() +
                       b"\0")
    code = connection.recv(8)[1]
    if code != 90:
        connection.close()
        raise Refused(code)
    return connection


def test_how_a_flow_came_in(culvert, serve):
    named = {"name": "named", "type": "mixed", "listen": "127.0.0.1", "port": free_port()}
    third = {"name": "third", "type": "mixed", "listen": "127.0.0.1", "port": free_port()}
    process = culvert(port=True, socks_port=True, proxies=NODES, listeners=[named, third], rules=[
        f"IN-PORT,{third['port']},P1", "IN-NAME,named/other,P2", "IN-NAME,DEFAULT-HTTP,P3",
        "IN-TYPE,SOCKS4,P4", "IN-TYPE,SOCKS5/HTTP,P5", "IN-TYPE,HTTPS,P6", "MATCH,REJECT"])
    server = serve(echo)
    to = ("127.0.0.1", server.port)
    assert route(process, socks5(third["port"], *to)) == ("P1", "InPort", str(third["port"]))
    assert route(process, socks5(named["port"], *to)) == ("P2", "InName", "named/other")
    assert route(process, http_connect(process.http, *to))[:2] == ("P3", "InName")
    assert route(process, socks4a(process.mixed, "origin.example", server.port))[0] == "P4"
    assert route(process, socks5(process.socks, *to))[0] == "P5"
    assert route(process, http_connect(process.mixed, *to))[0] == "P6"


# K21.
def test_users(culvert, serve, origin):
    process = culvert(authentication=["u1:p:1", "u2:p2", "u3:p3"], proxies=NODES,
                      rules=["IN-USER,u1,P1", "IN-USER,u2/u9,P2", "MATCH,P3"])
    server = serve(echo)
    for user, password, node in (("u1", "p:1", "P1"), ("u2", "p2", "P2"), ("u3", "p3", "P3")):
        for tunnel in (socks5, http_connect):
            opened = tunnel(process.mixed, "127.0.0.1", server.port, user, password)
            assert route(process, opened)[0] == node, user
    # Plain requests on one connection, each judged by its own.
    with connect(process.mixed) as connection:
        for user, password, node in (("u1", "p:1", "P1"), ("u2", "p2", "P2"), ("u1", "p:1", "P1"),
                                     ("u3", "p3", "P3")):
            connection.sendall(f"GET {origin.url('/bytes/7')} HTTP/1.1\r\nHost: x\r\n"
                               f"Proxy-Authorization: {basic(user, password)}\r\n\r\n".encode())
            assert read_response(connection)[0] == 200
            assert flow_of(process)["chains"] == [node], user


def test_users_of_skipped_prefixes(culvert, serve):
    process = culvert(authentication=["u1:p1"], skip_auth_prefixes=["127.0.0.0/8"], proxies=NODES,
                      rules=["IN-USER,u1,P1", "MATCH,P2"])
    server = serve(echo)
    to = ("127.0.0.1", server.port)
    assert route(process, socks5(process.mixed, *to, "u1", "p1"))[0] == "P1"
    assert route(process, socks5(process.mixed, *to))[0] == "P2"
    assert route(process, socks5(process.mixed, *to, "u1", "wrong"))[0] == "P2"
    assert route(process, http_connect(process.mixed, *to, "u1", "p1"))[0] == "P1"


def test_sources(culvert, serve):
    port = free_port()
    process = culvert(proxies=NODES, rules=[
        "SRC-IP-CIDR,127.0.0.2/32,P1", "IP-CIDR,127.0.0.3/32,P2,src", f"SRC-PORT,{port},P3",
        "SRC-PORT,1-2/4,REJECT", "MATCH,P4"])
    server = serve(echo)
    to = (process.mixed, "origin.example", server.port)
    assert route(process, from_address("127.0.0.2", *to))[:2] == ("P1", "SrcIPCIDR")
    assert route(process, from_address("127.0.0.3", *to))[0] == "P2"
    assert route(process, from_address("127.0.0.4", *to, port)) == ("P3", "SrcPort", str(port))
    assert route(process, from_address("127.0.0.4", *to))[0] == "P4"
    # The address is the client's, not the destination's.
    assert route(process, socks5(process.mixed, "127.0.0.1", server.port))[0] == "P4"


def test_ports_and_networks(culvert, serve):
    first, second, third = serve(echo), serve(echo), serve(echo)
    process = culvert(proxies=NODES, rules=[
        "NETWORK,UDP,REJECT", f"DST-PORT,{first.port},P1",
        f"DST-PORT,1-3/{second.port}-{second.port},P2", "NETWORK,tcp,P3", "MATCH,REJECT"])
    for server, node, rule in ((first, "P1", "DstPort"), (second, "P2", "DstPort"),
                               (third, "P3", "Network")):
        assert route(process, socks5(process.mixed, "127.0.0.1", server.port))[:2] == (node, rule)


def test_logic(culvert, serve):
    server = serve(echo)
    process = culvert(proxies=NODES, rules=[
        f"AND,((DOMAIN,exact.example),(DST-PORT,{server.port})),P1",
        f"AND,((DOMAIN,www.origin.example),(DST-PORT,1)),REJECT",
        "OR,((DOMAIN,suffix.example),(DOMAIN-KEYWORD,keyword)),P2",
        "NOT,((DOMAIN-SUFFIX,example)),P3",
        "AND,((NOT,((IN-TYPE,SOCKS5))),(OR,((DOMAIN,origin.example),(DOMAIN,a.suffix.example)))),P4",
        "MATCH,P5"])
    wanted = {"exact.example": ("P1", "AND"), "www.origin.example": ("P5", "Match"),
              "suffix.example": ("P2", "OR"), "has-keyword-in.example": ("P2", "OR"),
              "127.0.0.1": ("P3", "NOT"), "origin.example": ("P5", "Match")}
    for host, rule in wanted.items():
        assert route(process, socks5(process.mixed, host, server.port))[:2] == rule, host
    opened = http_connect(process.mixed, "origin.example", server.port)
    assert route(process, opened)[:2] == ("P4", "AND")


# K08.
def test_pass_goes_on_with_the_next_rule(culvert, serve):
    process = culvert(proxies=NODES, proxy_groups=[
        {"name": "G", "type": "select", "proxies": ["PASS", "P1"]}],
        rules=["DOMAIN,exact.example,PASS", "DOMAIN-SUFFIX,suffix.example,G",
               " MATCH , P2 "])
    server = serve(echo)
    for host in ("exact.example", "a.suffix.example", "origin.example"):
        opened = socks5(process.mixed, host, server.port)
        assert route(process, opened) == ("P2", "Match", ""), host


def test_nothing_but_pass_is_direct(culvert, serve):
    process = culvert(rules=["MATCH,PASS"])
    opened = socks5(process.mixed, "127.0.0.1", serve(echo).port)
    assert route(process, opened)[0] == "DIRECT"


@pytest.fixture
def counted(port_53):  # noqa: F811
    """A name server that knows every name of in.example as 127.0.0.77 and others as 127.0.0.1,
    and which names it was asked for, each once for each of A and AAAA."""
    asked = []

    def answer(query, _):
        name, at = [], 12
        while query[at]:
            name.append(query[at + 1:at + 1 + query[at]].decode())
            at += query[at] + 1
        name = ".".join(name)
        asked.append((name, query[at + 2]))
        address = "127.0.0.77" if name.endswith("in.example") else "127.0.0.1"
        return dns_reply(query, addresses=(address,))

    server = NameServer(SERVERS_AT[0], answer)
    server.asked = asked
    yield server
    server.stop()


A, AAAA = 1, 28


# K13, without fake-ip.
@pytest.mark.parametrize("ipv6", [False, True])
def test_which_rules_ask_for_the_address(culvert, serve, counted, ipv6):
    # Through nodes that send the name on, so that no lookup but the rules' is counted.
    other = culvert(mixed_port=None, socks_port=True,
                    hosts="".join(f"127.0.0.1 {n}\n" for n in (
                        "x.p.example", "other.example", "more.example", "a.in.example")))
    nodes = [{"name": f"P{n}", "type": "socks5", "server": "127.0.0.1", "port": other.socks}
             for n in range(1, 7)]
    process = culvert(
        resolv_conf=f"nameserver {SERVERS_AT[0]}\noptions timeout:1 attempts:2\n", hosts="",
        ipv6=ipv6, proxies=nodes, rules=[
            "DOMAIN-SUFFIX,p.example,P1",
            "IP-CIDR,198.51.100.0/24,P2,no-resolve",
            "SRC-IP-CIDR,127.0.0.7/32,P3",
            "IP-CIDR,127.0.0.8/32,P6,src",
            "IP-CIDR,127.0.0.77/32,P4",
            "MATCH,P5"])
    server = serve(echo)
    to = (process.mixed,)
    assert route(process, socks5(*to, "x.p.example", server.port))[0] == "P1"
    assert route(process, from_address("127.0.0.7", *to, "other.example", server.port))[0] == "P3"
    assert route(process, from_address("127.0.0.8", *to, "other.example", server.port))[0] == "P6"
    assert counted.asked == []
    assert route(process, socks5(*to, "other.example", server.port))[0] == "P5"
    each = [A, AAAA] if ipv6 else [A]
    assert sorted(counted.asked) == [("other.example", kind) for kind in each]
    counted.asked.clear()
    assert route(process, socks5(*to, "a.in.example", server.port))[:2] == ("P4", "IPCIDR")
    assert sorted(counted.asked) == [("a.in.example", kind) for kind in each]
    counted.asked.clear()
    for _ in range(3):
        assert route(process, socks5(*to, "other.example", server.port))[0] == "P5"
    assert counted.asked == [], "what is known is not asked again"
    # An address needs no lookup to be compared.
    assert route(process, socks5(*to, "127.0.0.1", server.port))[0] == "P5"
    assert counted.asked == []


def test_two_origins_by_rule(culvert, curl):
    """The whole way, seen from the origins: which one answers."""
    first, second = HttpOrigin("127.0.0.1"), HttpOrigin("127.0.0.1")
    try:
        ways = [culvert(mixed_port=None, socks_port=True, hosts=f"127.0.0.1 {host}\n")
                for host in ("exact.example", "origin.example")]
        process = culvert(
            proxies=[{"name": f"P{i}", "type": "socks5", "server": "127.0.0.1", "port": way.socks}
                     for i, way in enumerate(ways)],
            rules=["DOMAIN,exact.example,P0", "DOMAIN,origin.example,P1", "MATCH,REJECT"])
        for origin, host in ((first, "exact.example"), (second, "origin.example")):
            body = curl.get(origin.url("/headers", host), proxy=f"http://127.0.0.1:{process.mixed}")
            assert f"Host: {host}:{origin.port}" in body.decode()
    finally:
        first.stop()
        second.stop()


def test_mode_global(culvert, serve):
    server = serve(echo)
    process = culvert(mode="global", proxies=NODES, rules=["MATCH,REJECT"])
    opened = socks5(process.mixed, "127.0.0.1", server.port)
    with opened:
        assert flow_of(process)["chains"] == ["DIRECT", "GLOBAL"]
    chosen = culvert(mode="global", proxies=NODES, rules=["MATCH,REJECT"], proxy_groups=[
        {"name": "GLOBAL", "type": "select", "proxies": ["P1", "P2"], "default-selected": "P2"}])
    with socks5(chosen.mixed, "127.0.0.1", server.port):
        flow = flow_of(chosen)
        assert (flow["chains"], flow["rule"]) == (["P2", "GLOBAL"], "")
