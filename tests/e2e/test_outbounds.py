"""Nodes: flows through other proxies, alone and in chains, and which way their sockets leave."""
import socket
import threading
import time

import pytest

from clients import Refused, TUNNELS, all_at_once, http_connect, read_exactly, read_to_end, socks5
from conftest import require
from harness import free_port, wait_until
from servers import Server, answer_after_eof, blob, echo, greet_then_read
from test_rules import has_ipv6

USER, PASSWORD = "u1", "s3cret-Word"
MIB = 1 << 20


def upstream_culvert(culvert, kind, user):
    keys = {"authentication": [f"{USER}:{PASSWORD}"]} if user else {}
    other = culvert(mixed_port=None, **{"port" if kind == "http" else "socks_port": True}, **keys)
    return (other.http if kind == "http" else other.socks), other


def microsocks(peer, _tmp_path, user):
    port = free_port()
    extra = ("-u", USER, "-P", PASSWORD) if user else ()
    return peer(port, require("microsocks"), "-i", "127.0.0.1", "-p", str(port), *extra)


def dante(peer, tmp_path, _user):
    port = free_port()
    settings = tmp_path / "danted.conf"
    settings.write_text(f"""
logoutput: stderr
internal: 127.0.0.1 port = {port}
external: lo
clientmethod: none
socksmethod: none
client pass {{ from: 127.0.0.0/8 to: 0.0.0.0/0 }}
socks pass {{ from: 127.0.0.0/8 to: 0.0.0.0/0 }}
""")
    return peer(port, require("danted"), "-f", str(settings), "-p", str(tmp_path / "danted.pid"))


def tinyproxy(peer, tmp_path, user):
    port = free_port()
    settings = tmp_path / "tinyproxy.conf"
    settings.write_text(f"Port {port}\nListen 127.0.0.1\nTimeout 60\nMaxClients 50\n" +
                        (f"BasicAuth {USER} {PASSWORD}\n" if user else ""))
    return peer(port, require("tinyproxy"), "-d", "-c", str(settings))


PEERS = {"microsocks": ("socks5", microsocks), "dante": ("socks5", dante),
         "tinyproxy": ("http", tinyproxy), "culvert-socks": ("socks5", None),
         "culvert-http": ("http", None)}


@pytest.fixture
def node(culvert, peer, tmp_path):
    """Starts the server of a node, and returns the node; with `other` set, our own program as it."""
    def make(name, user=False, **keys):
        kind, start = PEERS[name]
        if start is None:
            port, make.other = upstream_culvert(culvert, kind, user)
        else:
            port = start(peer, tmp_path, user)
        return {"name": "N", "type": kind, "server": "127.0.0.1", "port": port, **keys}

    make.other = None
    return make


def exchange(connection, size=MIB):
    """Sends `size` bytes to an echo and reads them at the same time."""
    sending = threading.Thread(target=connection.sendall, args=(blob(size),), daemon=True)
    sending.start()
    assert read_exactly(connection, size) == blob(size)
    sending.join(10)
    assert not sending.is_alive()


@pytest.mark.parametrize("name", PEERS)
def test_flows_through_a_node(culvert, serve, node, name):
    process = culvert(proxies=[node(name)], rules=["MATCH,N"])
    server = serve(echo)
    # Others ask the system for names.
    for host in ("127.0.0.1", "origin.example" if node.other else "localhost"):
        for tunnel in ("socks5", "connect"):
            with TUNNELS[tunnel](process.mixed, host, server.port) as connection:
                exchange(connection)
                flow, = process.api.flows()
                assert flow["chains"] == ["N"]
                assert flow["metadata"]["host"] == ("" if host[0].isdigit() else host)
                if node.other:
                    seen, = node.other.api.flows()
                    assert seen["metadata"]["host"] == flow["metadata"]["host"], "sent as it was"
            wait_until(lambda: not process.api.flows(), 5, "the flow's end")
            if node.other:
                wait_until(lambda: not node.other.api.flows(), 5, "the flow's end there")
    assert len(server.connections) == 4


@pytest.mark.skipif(not has_ipv6(), reason="this host has no IPv6 loopback")
@pytest.mark.parametrize("name", [n for n in PEERS if n != "dante"])
def test_ipv6_destinations_through_a_node(culvert, serve, node, name):
    process = culvert(proxies=[node(name)], rules=["MATCH,N"])
    server = serve(echo, "::1")
    for tunnel in ("socks5", "connect"):
        with TUNNELS[tunnel](process.mixed, "::1", server.port) as connection:
            exchange(connection, 100_000)


@pytest.mark.skipif(not has_ipv6(), reason="this host has no IPv6 loopback")
def test_a_server_at_an_ipv6_address(culvert, serve):
    other = culvert(mixed_port=None, listeners=[
        {"name": "six", "type": "mixed", "listen": "::1", "port": free_port()}])
    port = other.settings["listeners"][0]["port"]
    process = culvert(proxies=[{"name": "N", "type": kind, "server": server, "port": port}
                               for kind, server in (("socks5", "::1"),)] +
                      [{"name": "M", "type": "http", "server": "[::1]", "port": port}],
                      rules=["DOMAIN,exact.example,M", "MATCH,N"])
    server = serve(echo)
    for host, chain in (("origin.example", ["N"]), ("exact.example", ["M"])):
        with socks5(process.mixed, host, server.port) as connection:
            exchange(connection, 1000)
            assert process.api.flows()[-1]["chains"] == chain
        wait_until(lambda: not process.api.flows(), 5, "the flow's end")


@pytest.mark.parametrize("name", ["culvert-socks", "culvert-http"])
def test_half_closes_pass_through_a_node(culvert, serve, node, name):
    process = culvert(proxies=[node(name)], rules=["MATCH,N"])
    late = serve(answer_after_eof(MIB, 0.2))
    with socks5(process.mixed, "origin.example", late.port) as connection:
        connection.sendall(b"question")
        connection.shutdown(socket.SHUT_WR)
        assert read_to_end(connection) == blob(MIB)
    received = []
    early = serve(greet_then_read(b"hello", received))
    with socks5(process.mixed, "origin.example", early.port) as connection:
        assert read_to_end(connection) == b"hello"
        connection.sendall(blob(MIB))
    wait_until(lambda: received, 5, "the server reads to the end")
    assert received == [blob(MIB)]


@pytest.mark.parametrize("name", [n for n in PEERS if n != "dante"])
def test_credentials_of_a_node(culvert, serve, node, name):
    right = node(name, user=True, username=USER, password=PASSWORD)
    wrong = {**right, "name": "W", "password": "wrong-secret"}
    none = {k: v for k, v in right.items() if k not in ("username", "password")}
    process = culvert(proxies=[right, wrong, {**none, "name": "O"}],
                      hosts="127.0.0.1 w.example\n127.0.0.1 o.example\n",
                      rules=["DOMAIN,w.example,W", "DOMAIN,o.example,O", "MATCH,N"])
    server = serve(echo)
    with socks5(process.mixed, "127.0.0.1", server.port) as connection:
        exchange(connection, 1000)
    for host in ("w.example", "o.example"):
        with pytest.raises(Refused):
            socks5(process.mixed, host, server.port)
        with pytest.raises(Refused) as refused:
            http_connect(process.mixed, host, server.port)
        assert refused.value.code == 502
    assert len(server.connections) == 1
    process.wait_log("dial W (match Domain(w.example))")
    for secret in (PASSWORD, "wrong-secret"):
        assert secret not in process.log()


def test_a_node_tells_what_its_server_says(culvert, serve, node):
    process = culvert(proxies=[node("culvert-socks")], rules=["MATCH,N"])
    closed = serve(echo)
    closed.stop()
    with pytest.raises(Refused) as refused:
        socks5(process.mixed, "127.0.0.1", closed.port)
    assert refused.value.code == 5


@pytest.mark.parametrize("kind", ["socks5", "http"])
def test_servers_that_are_none(culvert, serve, kind):
    silent = serve(lambda connection: connection.recv(1 << 16) and threading.Event().wait(20))
    garbage = serve(lambda connection: connection.sendall(b"220 mail.example ESMTP\r\n" * 10))
    closing = serve(lambda connection: connection.recv(1))
    gone = serve(echo)
    gone.stop()
    servers = {"silent": silent, "garbage": garbage, "closing": closing, "gone": gone}
    process = culvert(
        proxies=[{"name": name, "type": kind, "server": "127.0.0.1", "port": server.port}
                 for name, server in servers.items()],
        rules=[f"DOMAIN,{name}.example,{name}" for name in servers])

    def refused_after(name):
        start = time.monotonic()
        with pytest.raises(Refused):
            socks5(process.mixed, f"{name}.example", 80, seconds=15)
        return time.monotonic() - start

    assert all(refused_after(name) < 2 for name in ("garbage", "closing", "gone"))
    assert 4 < refused_after("silent") < 8
    assert process.resting_descriptors() > 0, "nothing is left open"


def test_a_chain_of_two(culvert, serve, node, peer, tmp_path):
    first = {**node("culvert-http"), "name": "First"}
    last = {"name": "Last", "type": "socks5", "server": "127.0.0.1",
            "port": microsocks(peer, tmp_path, False), "dialer-proxy": "Way"}
    process = culvert(proxies=[last, first],
                      proxy_groups=[{"name": "Way", "type": "select", "proxies": ["First"]}],
                      rules=["MATCH,Last"])
    server = serve(echo)
    with socks5(process.mixed, "localhost", server.port) as connection:
        exchange(connection)
        flow, = process.api.flows()
        assert flow["chains"][0] == "Last"
        through, = node.other.api.flows()
        assert through["metadata"]["destinationPort"] == str(last["port"])
    wait_until(lambda: not node.other.api.flows(), 5, "both ends")


def test_a_groups_default(culvert, serve):
    nodes = [{"name": n, "type": "direct"} for n in ("A", "B", "C")]
    process = culvert(proxies=nodes, proxy_groups=[
        {"name": "Inner", "type": "select", "proxies": ["A", "B"]},
        {"name": "G", "type": "select", "proxies": ["C", "Inner"], "default-selected": "Inner"}],
        rules=["MATCH,G"])
    with socks5(process.mixed, "127.0.0.1", serve(echo).port):
        flow, = process.api.flows()
        assert flow["chains"] == ["A", "Inner", "G"]
    process.wait_log("using G[A]")


def test_a_node_that_is_not_supported(culvert, serve):
    process = culvert(proxies=[{"name": "V", "type": "vmess", "server": "127.0.0.1", "port": 1,
                                "uuid": "00000000-0000-4000-8000-000000000000", "alterId": 0,
                                "cipher": "auto"}],
                      rules=["DOMAIN,exact.example,V", "MATCH,DIRECT"])
    server = serve(echo)
    with pytest.raises(Refused) as refused:
        socks5(process.mixed, "exact.example", server.port)
    assert refused.value.code == 2
    process.wait_log("V rejects its flows: ")
    with socks5(process.mixed, "origin.example", server.port) as connection:
        exchange(connection, 100)


@pytest.mark.parametrize("through", [None, "DIRECT"])
@pytest.mark.parametrize("kind", ["socks5", "http"])
def test_a_node_whose_server_is_our_own_listener(culvert, serve, kind, through):
    port = free_port()
    node = {"name": "N", "type": kind, "server": "127.0.0.1", "port": port}
    if through:
        node["dialer-proxy"] = through
    process = culvert(mixed_port=port, proxies=[node],
                      rules=["DOMAIN,exact.example,N", "MATCH,DIRECT"])
    start = time.monotonic()
    with pytest.raises(Refused):
        socks5(port, "exact.example", 80)
    assert time.monotonic() - start < 3
    process.wait_log("exact.example:80")
    all_at_once([lambda: pytest.raises(Refused, socks5, port, "exact.example", 80)] * 50)
    with socks5(port, "origin.example", serve(echo).port) as connection:
        exchange(connection, 100)
    wait_until(lambda: process.log().count("--> exact.example:80") == 51, 5,
               f"a line for each, since none of them went round: {process.log()}")


# K07.
def test_a_chain_that_is_a_loop(culvert, serve):
    process = culvert(
        proxies=[{"name": "N", "type": "socks5", "server": "127.0.0.1", "port": 1,
                  "dialer-proxy": "D"}],
        proxy_groups=[{"name": "D", "type": "select", "proxies": ["DIRECT", "N"],
                       "default-selected": "N"}],
        rules=["DOMAIN,exact.example,N", "MATCH,DIRECT"])
    start = time.monotonic()
    with pytest.raises(Refused):
        socks5(process.mixed, "exact.example", 80)
    assert time.monotonic() - start < 3
    process.wait_log("dial loop: N -> D -> N")

    def tries(count):
        for _ in range(count):
            with pytest.raises(Refused):
                socks5(process.mixed, "exact.example", 80)

    tries(200)
    before = process.rss_kib()
    tries(1000)
    assert process.rss_kib() - before < 1024
    assert process.log().count("dial loop") < 5, "sampled"
    with socks5(process.mixed, "origin.example", serve(echo).port) as connection:
        exchange(connection, 100)


@pytest.mark.skipif(not has_ipv6(), reason="this host has no IPv6 loopback")
def test_ip_version(culvert):
    four = Server(lambda connection: connection.sendall(b"4"))
    six = Server(lambda connection: connection.sendall(b"6"), "::1", four.port)
    try:
        versions = {"v4": "ipv4", "v6": "ipv6", "v4p": "ipv4-prefer", "v6p": "ipv6-prefer"}
        names = [f"{name}.example" for name in versions]
        process = culvert(
            hosts="".join(f"127.0.0.1 {n}\n::1 {n}\n" for n in names) + "127.0.0.1 only4.example\n"
            "::1 only6.example\n",
            proxies=[{"name": name, "type": "direct", "ip-version": version}
                     for name, version in versions.items()],
            rules=[f"DOMAIN,{name}.example,{name}" for name in versions] +
                  ["DOMAIN,only4.example,v6", "DOMAIN,only6.example,v4", "MATCH,v4"])
        for name in versions:
            with socks5(process.mixed, f"{name}.example", four.port) as connection:
                assert read_to_end(connection).decode() == name[1]
        for host in ("only4.example", "only6.example", "::1"):
            with pytest.raises(Refused):
                socks5(process.mixed, host, four.port)
    finally:
        four.stop()
        six.stop()


def test_fast_open_and_multipath_change_nothing_for_flows(culvert, serve):
    hosts = "".join(f"127.0.0.1 {n}.example\n" for n in ("tfo", "mptcp", "both", "direct"))
    other = culvert(mixed_port=None, socks_port=True, inbound_tfo=True, inbound_mptcp=True,
                    hosts=hosts)
    process = culvert(inbound_tfo=True, inbound_mptcp=True, proxies=[
        {"name": name, "type": "socks5", "server": "127.0.0.1", "port": other.socks, **options}
        for name, options in (("tfo", {"tfo": True}), ("mptcp", {"mptcp": True}),
                              ("both", {"tfo": True, "mptcp": True}))] +
        [{"name": "direct", "type": "direct", "tfo": True, "mptcp": True}],
        hosts=hosts, rules=[f"DOMAIN,{n}.example,{n}" for n in ("tfo", "mptcp", "both", "direct")])
    server = serve(echo)
    for name in ("tfo", "mptcp", "both", "direct"):
        for _ in range(2):  # the second may have a cookie
            with socks5(process.mixed, f"{name}.example", server.port) as connection:
                exchange(connection, 100_000)
                assert process.api.flows()[-1]["chains"] == [name]
            wait_until(lambda: not process.api.flows(), 5, "the flow's end")
    # The one that speaks first: with fast open the connection waits for our first byte.
    first = serve(lambda connection: (connection.sendall(b"hello"), connection.recv(1)))
    with socks5(process.mixed, "direct.example", first.port) as connection:
        assert read_exactly(connection, 5) == b"hello"
