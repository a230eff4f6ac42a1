"""interface-name and routing-mark, in network namespaces of the test's own."""
import ctypes
import os
import subprocess
import threading

import pytest

from clients import Refused, read_to_end, socks5
from conftest import require
from harness import profile, wait_until
from servers import Server

CLONE_NEWNET = 0x40000000
ORIGIN = "10.77.9.9"


class Namespaces:
    """Two of them: `near`, where the program runs, has links c1 and c2 to `far`, where the origin
    is. Without more said, the way to the origin is c1."""

    def __init__(self, ip):
        self.ip = ip
        self.near = f"culvert-near-{os.getpid()}"
        self.far = f"culvert-far-{os.getpid()}"
        self.made = []

    def run(self, *words):
        return subprocess.run([self.ip, *words], capture_output=True, timeout=20, check=False)

    def do(self, *words):
        done = self.run(*words)
        assert done.returncode == 0, (words, done.stderr.decode())

    def start(self):
        for name in (self.near, self.far):
            made = self.run("netns", "add", name)
            if made.returncode != 0:
                pytest.skip(f"no network namespace may be made: {made.stderr.decode().strip()}")
            self.made.append(name)
            self.do("-n", name, "link", "set", "lo", "up")
        self.do("-n", self.far, "addr", "add", f"{ORIGIN}/32", "dev", "lo")
        self.link(1)
        self.link(2)
        self.do("-n", self.near, "rule", "add", "fwmark", "7", "table", "77")
        return self

    def link(self, n):
        made = self.run("-n", self.near, "link", "add", f"c{n}", "type", "veth", "peer", "name",
                        f"s{n}", "netns", self.far)
        if made.returncode != 0:
            pytest.skip(f"no veth may be made: {made.stderr.decode().strip()}")
        for side, name, host in (("c", self.near, 1), ("s", self.far, 2)):
            self.do("-n", name, "addr", "add", f"10.77.{n}.{host}/24", "dev", f"{side}{n}")
            self.do("-n", name, "link", "set", f"{side}{n}", "up")
        for extra in ((), ("table", "77")) if n == 2 else ((),):
            self.do("-n", self.near, "route", "add", f"{ORIGIN}/32", "via", f"10.77.{n}.2", "dev",
                    f"c{n}", "metric", str(100 * n), *extra)

    def unlink(self, n):
        self.do("-n", self.near, "link", "del", f"c{n}")

    def inside(self, name, function):
        """What `function` returns, called in a thread of its own that is in that namespace; sockets
        it makes stay there."""
        libc = ctypes.CDLL(None, use_errno=True)
        result = []

        def work():
            try:
                with open(f"/run/netns/{name}", "rb") as namespace:
                    if libc.setns(namespace.fileno(), CLONE_NEWNET) != 0:
                        raise OSError(ctypes.get_errno(), "setns")
                result.append((function(), None))
            except BaseException as error:  # carried to the caller's thread
                result.append((None, error))

        thread = threading.Thread(target=work, daemon=True)
        thread.start()
        thread.join(30)
        assert result, "not done after 30 s"
        value, error = result[0]
        if error is not None:
            raise error
        return value

    def stop(self):
        for name in self.made:
            self.run("netns", "del", name)


@pytest.fixture
def network():
    if os.geteuid() != 0:
        pytest.skip("network namespaces need root")
    made = Namespaces(require("ip"))
    try:
        yield made.start()
    finally:
        made.stop()


@pytest.fixture
def origin_there(network):
    """Tells every client which address it has come from."""
    server = network.inside(network.far, lambda: Server(
        lambda connection: connection.sendall(connection.getpeername()[0].encode()), ORIGIN))
    yield server
    server.stop()


@pytest.fixture
def start(network, culvert):
    """Starts the program in the near namespace, with these keys."""
    def make(**keys):
        process = culvert.make()
        process.binary, arguments = network.ip, ("netns", "exec", network.near,
                                                 process.binary)
        process.mixed = 17890
        process.settings = {"mixed_port": process.mixed, "log_level": "info", **keys}
        (process.home / "config.yaml").write_text(profile(**process.settings))
        process.start(*arguments, "-d", str(process.home))
        process.wait_log("DEFAULT-MIXED listening at: ")
        return process
    return make


def nodes(**options):
    names = ("plain", *options)
    return {"proxies": [{"name": "plain", "type": "direct"}] +
                       [{"name": name, "type": "direct", **keys}
                        for name, keys in options.items()],
            "rules": [f"IN-USER,{name},{name}" for name in names] + ["MATCH,plain"],
            "authentication": [f"{name}:x" for name in names]}


def source_by(network, process, origin, node):
    def ask():
        with socks5(process.mixed, ORIGIN, origin.port, node, "x") as connection:
            return read_to_end(connection).decode()
    return network.inside(network.near, ask)


def test_interfaces_and_marks_of_nodes(network, origin_there, start):
    process = start(**nodes(one={"interface-name": "c1"}, two={"interface-name": "c2"},
                            marked={"routing-mark": 7}))
    wanted = {"plain": "10.77.1.1", "one": "10.77.1.1", "two": "10.77.2.1", "marked": "10.77.2.1"}
    for node, source in wanted.items():
        assert source_by(network, process, origin_there, node) == source, node


def test_interface_and_mark_of_all(network, origin_there, start):
    process = start(interface_name="c2", **nodes(one={"interface-name": "c1"}))
    assert source_by(network, process, origin_there, "plain") == "10.77.2.1"
    assert source_by(network, process, origin_there, "one") == "10.77.1.1"
    assert process.reload(interface_name=None, routing_mark=7)
    assert source_by(network, process, origin_there, "plain") == "10.77.2.1"
    assert process.reload(routing_mark=None)
    assert source_by(network, process, origin_there, "plain") == "10.77.1.1"


def test_an_interface_that_goes_and_comes_back(network, origin_there, start):
    process = start(**nodes(two={"interface-name": "c2"}))
    assert source_by(network, process, origin_there, "two") == "10.77.2.1"
    network.unlink(2)
    seen = len(origin_there.connections)
    for _ in range(3):
        with pytest.raises(Refused):
            source_by(network, process, origin_there, "two")
    assert len(origin_there.connections) == seen, "none left by the other interface"
    assert source_by(network, process, origin_there, "plain") == "10.77.1.1"
    network.link(2)
    # Until the new link is up, which takes the kernel a moment.
    def works():
        try:
            return source_by(network, process, origin_there, "two") == "10.77.2.1"
        except Refused:
            return False
    wait_until(works, 10, f"flows by the new interface:\n{process.log()}")


def test_our_own_ports_at_an_address_that_came_later(network, start):
    process = start(allow_lan=True, rules=["MATCH,DIRECT"])
    network.do("-n", network.near, "addr", "add", "10.77.1.77/24", "dev", "c1")
    for host in ("10.77.1.1", "10.77.1.77"):
        with pytest.raises(Refused) as refused:
            network.inside(network.near, lambda h=host: socks5(process.mixed, h, process.mixed))
        assert refused.value.code == 2, host


def test_an_interface_that_is_not_there_yet(network, origin_there, start):
    network.unlink(2)
    process = start(**nodes(two={"interface-name": "c2"}))
    with pytest.raises(Refused):
        source_by(network, process, origin_there, "two")
    assert not origin_there.connections
    network.link(2)
    def works():
        try:
            return source_by(network, process, origin_there, "two") == "10.77.2.1"
        except Refused:
            return False
    wait_until(works, 10, f"flows by the new interface:\n{process.log()}")
