"""Listeners and tunnels: where clients come in, who may, and where their flows go."""
import os
import socket

import pytest

from clients import (Refused, TUNNELS, connect, http_connect, read_exactly, read_to_end, socks4a,
                     socks5)
from harness import free_port, given_ports, wait_until
from servers import blob, echo, greet_then_read

CLASSIC = ["u1:p1", "u2:p2"]


def listener(name, kind="mixed", **keys):
    return {"name": name, "type": kind, "listen": "127.0.0.1", "port": free_port(), **keys}


def ping(connection):
    with connection:
        connection.sendall(b"ping")
        return read_exactly(connection, 4) == b"ping"


def flow_of(process):
    flow, = process.api.flows()
    return flow


def ended(process):
    wait_until(lambda: not process.api.flows(), 5, "the flow's end")


def assert_reset(port):
    """A connection there is reset, which may be as soon as it is open."""
    with pytest.raises(ConnectionResetError):
        with connect(port) as connection:
            read_to_end(connection)


def run_of_ports(count):
    while True:
        first = free_port()
        try:
            for port in range(first, first + count):
                with socket.socket() as probe:
                    probe.bind(("127.0.0.1", port))
            given_ports.update(range(first, first + count))
            return first
        except OSError:
            continue


def test_several_ports_of_one_listener(culvert, serve):
    first, other = run_of_ports(3), free_port()
    process = culvert(mixed_port=None, listeners=[
        listener("many", port=f"{first}-{first + 2},{other}")])
    server = serve(echo)
    for port in (first, first + 1, first + 2, other):
        with socks5(port, "127.0.0.1", server.port):
            metadata = flow_of(process)["metadata"]
            assert metadata["inboundName"] == "many"
            assert metadata["inboundPort"] == str(port)
        ended(process)
    with pytest.raises(ConnectionRefusedError):
        connect(first + 3 if first + 3 != other else first - 1)


def test_types_of_listeners(culvert, serve):
    entries = [listener(kind, kind) for kind in ("http", "socks", "mixed")]
    process = culvert(mixed_port=None, listeners=entries, culvert={"handshake-timeout": 1})
    server = serve(echo)
    speaks = {"http": {"connect"}, "socks": {"socks5", "socks4a"}, "mixed": set(TUNNELS)}
    for entry in entries:
        for name, tunnel in TUNNELS.items():
            if name in speaks[entry["type"]]:
                assert ping(tunnel(entry["port"], "origin.example", server.port)), (entry, name)
            else:
                with pytest.raises((Refused, EOFError, ConnectionResetError, AssertionError)):
                    tunnel(entry["port"], "origin.example", server.port)
    assert len(server.connections) == 6


def test_users_of_a_listener(culvert, serve):
    own = listener("own", users=[{"username": "me", "password": "mine"}])
    none = listener("none", users=[])
    absent = listener("absent")
    process = culvert(authentication=CLASSIC, listeners=[own, none, absent])
    server = serve(echo)
    asks = {process.mixed: ("u1", "p1"), absent["port"]: ("u2", "p2"), own["port"]: ("me", "mine")}
    everybody = {("u1", "p1"), ("u2", "p2"), ("me", "mine")}
    for port, right in asks.items():
        with pytest.raises(Refused):
            socks5(port, "127.0.0.1", server.port)
        for user, password in everybody:
            known = (user == "me") == (right[0] == "me")
            for tunnel in (socks5, http_connect):
                if known:
                    assert ping(tunnel(port, "127.0.0.1", server.port, user, password))
                else:
                    with pytest.raises(Refused):
                        tunnel(port, "127.0.0.1", server.port, user, password)
    for tunnel in TUNNELS.values():
        assert ping(tunnel(none["port"], "127.0.0.1", server.port))
    for port, name in ((own["port"], "me"), (absent["port"], "u2")):
        ended(process)
        with socks5(port, "127.0.0.1", server.port, name, "mine" if name == "me" else "p2"):
            assert flow_of(process)["metadata"]["inboundUser"] == name


def test_skipped_prefixes_are_for_the_port_keys_alone(culvert, serve):
    entries = [listener("absent"), listener("own", users=[{"username": "me", "password": "x"}])]
    process = culvert(authentication=CLASSIC, skip_auth_prefixes=["127.0.0.0/8"],
                      port=True, socks_port=True, listeners=entries)
    server = serve(echo)
    for port in (process.mixed, process.socks):
        assert ping(socks5(port, "127.0.0.1", server.port))
    assert ping(http_connect(process.http, "127.0.0.1", server.port))
    for entry in entries:
        with pytest.raises(Refused):
            socks5(entry["port"], "127.0.0.1", server.port)
        with pytest.raises(Refused) as refused:
            http_connect(entry["port"], "127.0.0.1", server.port)
        assert refused.value.code == 407


@pytest.mark.parametrize("keys", [{"lan_allowed_ips": ["192.0.2.0/24"]},
                                  {"lan_disallowed_ips": ["127.0.0.0/8"]}])
def test_admission_is_for_the_port_keys_alone(culvert, serve, keys):
    entry = listener("plain")
    process = culvert(listeners=[entry], **keys)
    server = serve(echo)
    with pytest.raises((EOFError, ConnectionResetError)):
        socks5(process.mixed, "127.0.0.1", server.port)
    assert ping(socks5(entry["port"], "127.0.0.1", server.port))
    process.wait_log("refused")


def test_proxy_and_rule_of_a_listener(culvert, serve):
    by_proxy = listener("by-proxy", proxy="A")
    by_group = listener("by-group", proxy="G")
    rejecting = listener("rejecting", proxy="REJECT")
    by_rule = listener("by-rule", rule="mine")
    process = culvert(
        listeners=[by_proxy, by_group, rejecting, by_rule],
        proxies=[{"name": "A", "type": "direct"}, {"name": "B", "type": "direct"}],
        proxy_groups=[{"name": "G", "type": "select", "proxies": ["B", "A"]}],
        sub_rules={"mine": ["DOMAIN,exact.example,B", "MATCH,REJECT"]},
        rules=["MATCH,REJECT"])
    server = serve(echo)
    with pytest.raises(Refused):
        socks5(process.mixed, "exact.example", server.port)
    for entry, chain in ((by_proxy, ["A"]), (by_group, ["B", "G"])):
        with socks5(entry["port"], "origin.example", server.port):
            flow = flow_of(process)
            assert (flow["chains"], flow["rule"]) == (chain, "")
        ended(process)
    with pytest.raises(Refused) as refused:
        socks5(rejecting["port"], "exact.example", server.port)
    assert refused.value.code == 2
    with socks5(by_rule["port"], "exact.example", server.port):
        flow = flow_of(process)
        assert (flow["chains"], flow["rule"]) == (["B"], "Domain")
    with pytest.raises(Refused):
        socks5(by_rule["port"], "origin.example", server.port)


def test_mode_does_not_overrule_a_listeners_proxy(culvert, serve):
    entry = listener("by-proxy", proxy="REJECT")
    process = culvert(mode="direct", listeners=[entry])
    server = serve(echo)
    assert ping(socks5(process.mixed, "127.0.0.1", server.port))
    with pytest.raises(Refused):
        socks5(entry["port"], "127.0.0.1", server.port)


def test_tunnels(culvert, serve):
    ports = [free_port() for _ in range(5)]
    server = serve(echo)
    process = culvert(
        tunnels=[f"tcp,127.0.0.1:{ports[0]},origin.example:{server.port}",
                 f"tcp,127.0.0.1:{ports[1]},127.0.0.1:{server.port},A",
                 {"network": ["tcp"], "address": f"127.0.0.1:{ports[2]}",
                  "target": f"exact.example:{server.port}", "proxy": "A"}],
        listeners=[listener("entry", "tunnel", port=ports[3],
                            target=f"origin.example:{server.port}", proxy="A"),
                   listener("judged", "tunnel", port=ports[4],
                            target=f"suffix.example:{server.port}", rule="mine")],
        proxies=[{"name": "A", "type": "direct"}],
        sub_rules={"mine": ["DOMAIN,suffix.example,A"]},
        rules=["DOMAIN,origin.example,DIRECT", "MATCH,REJECT"])
    wanted = [("origin.example", "DIRECT", "DEFAULT-TUNNEL"), ("", "A", "DEFAULT-TUNNEL"),
              ("exact.example", "A", "DEFAULT-TUNNEL"), ("origin.example", "A", "entry"),
              ("suffix.example", "A", "judged")]
    for port, (host, chain, name) in zip(ports, wanted):
        with connect(port) as connection:
            connection.sendall(blob(100_000))
            assert read_exactly(connection, 100_000) == blob(100_000)
            flow = flow_of(process)
            assert flow["chains"] == [chain]
            metadata = flow["metadata"]
            assert (metadata["host"], metadata["inboundName"]) == (host, name)
            assert metadata["type"] == "Tunnel" and metadata["inboundPort"] == str(port)
        ended(process)


def test_a_tunnel_to_a_server_that_speaks_first(culvert, serve):
    port, received = free_port(), []
    server = serve(greet_then_read(b"hello", received))
    culvert(tunnels=[f"tcp,127.0.0.1:{port},origin.example:{server.port}"])
    with connect(port) as connection:
        assert read_to_end(connection) == b"hello"
        connection.sendall(blob(100_000))
    wait_until(lambda: received, 5, "the server reads to the end")
    assert received == [blob(100_000)]


def test_a_tunnel_that_leads_nowhere_is_reset(culvert, serve):
    closed = serve(echo)
    closed.stop()
    ports = [free_port(), free_port()]
    culvert(tunnels=[f"tcp,127.0.0.1:{ports[0]},127.0.0.1:{closed.port}",
                     f"tcp,127.0.0.1:{ports[1]},127.0.0.1:{closed.port},REJECT"])
    for port in ports:
        assert_reset(port)


def test_a_tunnel_to_itself_is_no_loop(culvert, serve):
    port = free_port()
    process = culvert(tunnels=[f"tcp,127.0.0.1:{port},127.0.0.1:{port}"])
    assert_reset(port)
    assert ping(socks5(process.mixed, "127.0.0.1", serve(echo).port))


@pytest.mark.skipif(os.geteuid() != 0, reason="marks need root")
def test_a_listener_with_a_mark(culvert, serve):
    entry = listener("marked", **{"routing-mark": 7})
    culvert(listeners=[entry])
    assert ping(socks4a(entry["port"], "origin.example", serve(echo).port))


def test_tunnels_at_one_port_of_two_addresses(culvert, serve):
    port = free_port()
    servers = [serve(greet_then_read(word, [])) for word in (b"first", b"second")]
    culvert(tunnels=[f"tcp,127.0.0.{i + 1}:{port},127.0.0.1:{server.port}"
                     for i, server in enumerate(servers)])
    for host, word in (("127.0.0.1", b"first"), ("127.0.0.2", b"second")):
        with connect(port, host) as connection:
            assert read_to_end(connection) == word
