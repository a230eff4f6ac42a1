"""A profile loaded again by SIGHUP (K33): what stays, what changes, and what a bad one does."""
import os
import signal
import socket
import threading

import pytest

from clients import Refused, all_at_once, connect, read_exactly, read_to_end, socks5
from harness import LISTEN, free_port, profile, wait_until
from servers import Server, blob, echo

MIB = 1 << 20


def works(process, port, host="127.0.0.1", proxy=None):
    with socks5(proxy or process.mixed, host, port) as connection:
        connection.sendall(b"ping")
        return read_exactly(connection, 4) == b"ping"


def sockets_of(process):
    """{port: inodes} of what the process listens on."""
    inodes = set()
    for name in os.listdir(f"/proc/{process.pid}/fd"):
        try:
            inodes.add(os.readlink(f"/proc/{process.pid}/fd/{name}")[8:-1])
        except FileNotFoundError:
            pass
    found = {}
    with open(f"/proc/{process.pid}/net/tcp", encoding="ascii") as lines:
        next(lines)
        for line in lines:
            fields = line.split()
            if fields[3] == LISTEN and fields[9] in inodes:
                found.setdefault(int(fields[1].split(":")[1], 16), set()).add(fields[9])
    return found


class Stepped:
    """Sends each client `size` bytes: the first half at once, the second when it is told to."""

    def __init__(self, size):
        self.go = threading.Event()
        self.size = size
        self.server = Server(self.serve)

    def serve(self, connection):
        half = self.size // 2
        connection.sendall(blob(self.size)[:half])
        assert self.go.wait(30)
        connection.sendall(blob(self.size)[half:])

    def stop(self):
        self.go.set()
        self.server.stop()


@pytest.fixture
def stepped():
    made = Stepped(200_000)
    yield made
    made.stop()


@pytest.mark.parametrize("changes", [
    {}, {"rules": ["DOMAIN,exact.example,REJECT", "MATCH,A"]},
    {"mode": "direct"},
    {"proxies": [{"name": "B", "type": "direct"}], "rules": ["MATCH,REJECT"]}],
    ids=["same", "rule", "mode", "node-gone"])
def test_downloads_go_on(culvert, stepped, changes):
    process = culvert(proxies=[{"name": "A", "type": "direct"}], rules=["MATCH,A"])
    held = all_at_once([lambda: socks5(process.mixed, "127.0.0.1", stepped.server.port)] * 50)
    for connection in held:
        assert read_exactly(connection, 100_000) == blob(200_000)[:100_000]
    before = {flow["id"] for flow in process.api.flows()}
    assert len(before) == 50
    assert process.reload(**changes)
    assert {flow["id"] for flow in process.api.flows()} == before
    stepped.go.set()
    for connection in held:
        with connection:
            assert read_to_end(connection) == blob(200_000)[100_000:]
    wait_until(lambda: not process.api.flows(), 5, "the flows' end")


def test_what_a_reload_changes(culvert, serve):
    process = culvert(rules=["MATCH,DIRECT"])
    server = serve(echo)
    assert works(process, server.port, "exact.example")
    assert process.reload(rules=["DOMAIN,exact.example,REJECT", "MATCH,DIRECT"])
    with pytest.raises(Refused) as refused:
        socks5(process.mixed, "exact.example", server.port)
    assert refused.value.code == 2
    assert works(process, server.port, "origin.example")
    assert process.reload(mode="direct")
    assert works(process, server.port, "exact.example")
    assert process.reload(mode=None, authentication=["u1:p1"])
    with pytest.raises(Refused):
        socks5(process.mixed, "origin.example", server.port)
    with socks5(process.mixed, "origin.example", server.port, "u1", "p1") as connection:
        connection.sendall(b"ping")
        assert read_exactly(connection, 4) == b"ping"


def test_a_client_in_its_handshake_does_not_notice(culvert, serve):
    process = culvert()
    server = serve(echo)
    with connect(process.mixed) as connection:
        connection.sendall(b"\x05\x01\x00")
        assert read_exactly(connection, 2) == b"\x05\x00"
        assert process.reload(rules=["IP-CIDR,127.0.0.1/32,DIRECT", "MATCH,REJECT"])
        connection.sendall(b"\x05\x01\x00\x01\x7f\x00\x00\x01" + server.port.to_bytes(2, "big"))
        assert read_exactly(connection, 10)[1] == 0
        connection.sendall(b"ping")
        assert read_exactly(connection, 4) == b"ping"
        assert process.api.flows()[0]["rule"] == "IPCIDR", "judged by the rules there are now"


def test_only_the_listener_that_changed_restarts(culvert, serve):
    kept = {"name": "kept", "type": "mixed", "listen": "127.0.0.1", "port": free_port()}
    moved = {"name": "moved", "type": "mixed", "listen": "127.0.0.1", "port": free_port()}
    process = culvert(listeners=[kept, moved])
    server = serve(echo)
    before = sockets_of(process)
    idle = connect(kept["port"])
    leaving = connect(moved["port"])
    to = free_port()
    assert process.reload(listeners=[kept, {**moved, "port": to}])
    after = sockets_of(process)
    for port in (process.mixed, kept["port"], process.controller):
        assert after[port] == before[port], port
    assert moved["port"] not in after and len(after[to]) == len(before[moved["port"]])
    with pytest.raises(ConnectionRefusedError):
        connect(moved["port"])
    assert works(process, server.port, proxy=to)
    # Whoever had connected is served on, by either.
    for connection in (idle, leaving):
        with connection:
            connection.sendall(b"\x05\x01\x00")
            assert read_exactly(connection, 2) == b"\x05\x00"
    # What only says how flows are judged keeps the socket.
    assert process.reload(listeners=[{**kept, "proxy": "REJECT"}])
    assert sockets_of(process)[kept["port"]] == before[kept["port"]]
    with pytest.raises(Refused):
        socks5(kept["port"], "127.0.0.1", server.port)


BAD = [
    ("mode: sideways\n", 2, "mode"),
    ("rules:\n  - DOMAIN,exact.example,NOPE\n", 3, "NOPE"),
    ("mode: [\n", None, ""),
    ("proxies:\n  - {name: A, type: socks5, server: a.example}\n", 3, "no port"),
]


@pytest.mark.parametrize("text,line,word", BAD, ids=["value", "rule", "syntax", "node"])
def test_a_bad_profile_changes_nothing(culvert, serve, text, line, word):
    process = culvert(rules=["DOMAIN,exact.example,REJECT", "MATCH,DIRECT"])
    server = serve(echo)
    before = sockets_of(process)
    with socks5(process.mixed, "127.0.0.1", server.port) as open_one:
        assert not process.reload(f"mixed-port: {free_port()}\n" + text)
        said = process.log()
        place = f"{process.home}/config.yaml:{line}:" if line else f"{process.home}/config.yaml:"
        assert place in said and word in said, said
        assert sockets_of(process) == before
        with pytest.raises(Refused):
            socks5(process.mixed, "exact.example", server.port)
        assert works(process, server.port, "origin.example")
        open_one.sendall(b"ping")
        assert read_exactly(open_one, 4) == b"ping"
    assert process.reload(rules=["MATCH,DIRECT"])
    assert works(process, server.port, "exact.example")


def test_a_profile_that_is_gone_changes_nothing(culvert, serve):
    process = culvert(rules=["DOMAIN-SUFFIX,suffix.example,REJECT", "MATCH,DIRECT"])
    (process.home / "config.yaml").unlink()
    os.kill(process.pid, signal.SIGHUP)
    wait_until(lambda: "profile not reloaded" in process.log(), 10, "the refusal")
    assert "config.yaml: error: it is gone" in process.log()
    origin = serve(echo)
    assert works(process, origin.port)
    with pytest.raises(Refused):
        socks5(process.mixed, "a.suffix.example", origin.port)


@pytest.mark.parametrize("reuse", [False, True])
def test_a_port_that_another_process_has(culvert, serve, reuse):
    process = culvert(rules=["DOMAIN,exact.example,REJECT", "MATCH,DIRECT"])
    server = serve(echo)
    before = sockets_of(process)
    port, free = free_port(), free_port()
    with socket.socket() as taken:
        if reuse:
            taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        taken.bind(("127.0.0.1", port))
        taken.listen()
        wanted = {**process.settings}
        assert not process.reload(socks_port=free, port=port, rules=["MATCH,REJECT"])
        assert f"cannot listen on 127.0.0.1:{port}: Address already in use" in process.log()
        assert sockets_of(process) == before
        assert works(process, server.port, "origin.example")
        with pytest.raises(Refused):
            socks5(process.mixed, "exact.example", server.port)
        process.settings = wanted
    assert process.reload(port=port)
    assert port in sockets_of(process)


def test_many_reloads_leave_nothing(culvert, serve):
    process = culvert(socks_port=True,
                      proxies=[{"name": f"N{i}", "type": "socks5", "server": "127.0.0.1",
                                "port": 1 + i} for i in range(100)],
                      proxy_groups=[{"name": "G", "type": "select", "proxies": ["N1", "DIRECT"],
                                     "default-selected": "DIRECT"}],
                      rules=["MATCH,G"])
    server = serve(echo)
    first = process.settings
    second = {**first, "socks_port": free_port(), "tcp_concurrent": True,
              "rules": [f"DOMAIN,{i}.example,REJECT" for i in range(1000)] + ["MATCH,G"]}

    def rounds(count):
        for i in range(count):
            process.settings = second if i % 2 == 0 else first
            assert process.reload()
            if i % 10 == 0:
                assert works(process, server.port)

    rounds(40)
    descriptors, memory = process.resting_descriptors(), process.rss_kib()
    rounds(160)
    assert process.resting_descriptors() == descriptors
    # A leak of one generation a reload would be more than 100 KiB each.
    assert process.rss_kib() - memory < 4 << 10
    assert works(process, server.port)


def test_signals_in_a_burst(culvert, serve):
    process = culvert()
    (process.home / "config.yaml").write_text(profile(
        **{k: v for k, v in {**process.settings, "rules": ["MATCH,REJECT"]}.items()
           if v is not None}))
    for _ in range(100):
        process.process.send_signal(signal.SIGHUP)
    server = serve(echo)

    def rejects():
        try:
            return not works(process, server.port)
        except Refused:
            return True

    wait_until(rejects, 10, "the new rules")
    assert process.is_running()
    assert process.stop() == 0, "whatever is still being loaded"
