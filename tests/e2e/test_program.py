"""The command line, the profile's errors, start and stop."""
import os
import re
import signal
import socket
import subprocess
import threading

import pytest

from clients import Api, connect, read_exactly, read_to_end, socks5
from harness import free_port, profile, wait_until
from servers import blob, echo, send_slowly


def run(process, *args, data=b""):
    """Runs the program to its end: (exit status, standard output, standard error)."""
    done = subprocess.run([process.binary, *args], env=process.environment, cwd=process.home,
                          input=data, capture_output=True, timeout=10, check=False)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def test_version(culvert):
    status, out, _ = run(culvert.make(), "-v")
    assert status == 0
    assert re.fullmatch(r"\S+ Meta \d+\.\d+\.\d+ linux \S+ with \S+( .*)?\n", out)


def test_help_and_unknown_options(culvert):
    process = culvert.make()
    status, out, _ = run(process, "-h")
    assert status == 0 and "-ext-ctl" in out
    for args in (("-nonsense",), ("-f",), ("stray",), ("-t=maybe",)):
        status, _, err = run(process, *args)
        assert status == 2 and err


def test_t_accepts(culvert):
    process = culvert.make()
    (process.home / "config.yaml").write_text(profile(mixed_port=free_port(),
                                                      rules=["MATCH,DIRECT"]))
    for args in (("-d", str(process.home), "-t"),
                 ("-t", "-f", str(process.home / "config.yaml")),
                 ("-d", str(process.home), "-t", "-f", "config.yaml")):
        status, out, _ = run(process, *args)
        assert status == 0 and "test is successful" in out, args


BAD = [
    ("mixed-port: 7890\nmode: sideways\n", 2, 7),
    ("mixed-port: 70000\n", 1, 13),
    ("mixed-port: 7890\nrules:\n  - DOMAIN,a.example,NOPE\n", 3, 5),
    ("mixed-port: 7890\nrules:\n  - MATCH,DIRECT\n  - NONSENSE,x,DIRECT\n", 4, 5),
    ("mixed-port: 7890\nrules:\n  - IP-CIDR,192.0.2.0/99,DIRECT\n", 3, 5),
    ("mixed-port: 7890\nauthentication:\n  - nocolon\n", 3, 5),
    ("mixed-port: [7890\n", None, None),
    ("a: *nowhere\n", 1, 4),
    ("mixed-port: 7890\nexternal-controller: 9090\n", 2, 22),
]


@pytest.mark.parametrize("text,line,column", BAD)
def test_a_bad_profile_is_placed(culvert, text, line, column):
    process = culvert.make()
    path = process.home / "bad.yaml"
    path.write_text(text)
    for extra in ((), ("-t",)):
        status, out, err = run(process, "-f", str(path), *extra)
        assert status == 1
        place = f"{path}:{line}:{column}:" if line else f"{path}:"
        assert place in err, err
        assert ("test failed" in out) == bool(extra)


def test_a_password_is_not_quoted_in_errors(culvert):
    process = culvert.make()
    path = process.home / "bad.yaml"
    path.write_text("mixed-port: 7890\nsecret: [hunter2]\nauthentication: [hunter3]\n")
    status, out, err = run(process, "-f", str(path), "-t")
    assert status == 1
    assert "hunter" not in out + err


def test_a_missing_profile(culvert):
    process = culvert.make()
    status, _, err = run(process, "-f", str(process.home / "absent.yaml"))
    assert status == 1 and "absent.yaml" in err


def test_a_misspelt_key_is_a_warning(culvert):
    process = culvert.make()
    path = process.home / "config.yaml"
    path.write_text(f"mixed-prot: 7890\nmixed-port: {free_port()}\nx-my-tool: {{a: 1}}\n")
    status, _, err = run(process, "-f", str(path), "-t")
    assert status == 0
    assert f"{path}:1:" in err and "mixed-port" in err
    assert "x-my-tool" not in err


def test_profile_from_standard_input(culvert, serve):
    process = culvert.make()
    port = free_port()
    read, write = os.pipe()
    os.write(write, profile(mixed_port=port, rules=["MATCH,DIRECT"]).encode())
    os.close(write)
    process.start("-f", "-", stdin=read)
    os.close(read)
    process.wait_ready(port)
    with socks5(port, "127.0.0.1", serve(echo).port):
        pass
    status, out, _ = run(process, "-t", "-f", "-", data=b"mixed-port: 1\n")
    assert status == 0 and "test is successful" in out


def test_options_override_the_profile(culvert):
    process = culvert.make()
    mixed, controller = free_port(), free_port()
    (process.home / "config.yaml").write_text(
        profile(mixed_port=mixed, external_controller="127.0.0.1:1", secret="old"))
    process.start("-d", str(process.home), "-ext-ctl", f"127.0.0.1:{controller}", "-secret", "new")
    process.wait_ready(mixed, controller)
    assert Api(controller, "new").ask("/version")[0] == 200
    assert Api(controller, "old").ask("/version")[0] == 401


def test_built_in_profile(culvert, curl, origin):
    for port in (7890, 9090):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                pytest.skip(f"port {port}, the built-in profile's, is in use on this host")
    process = culvert.make()
    process.start("-d", str(process.home))
    process.wait_ready(7890, 9090)
    process.wait_log("curl -x http://127.0.0.1:7890")
    secret, = re.findall(r"9090/?\S* with the secret (\S+)", process.log())
    assert len(secret) >= 16
    process.wait_log("culvert -f")
    assert Api(9090, secret).get("/version")["meta"] is True
    assert Api(9090, "").ask("/version")[0] == 401
    got = curl.get(origin.url("/bytes/10", "origin.example"), proxy="http://127.0.0.1:7890")
    assert len(got) == 10


def test_a_taken_port_is_named(culvert):
    first = culvert()
    second = culvert.make()
    (second.home / "config.yaml").write_text(profile(mixed_port=first.mixed))
    status, out, err = run(second, "-d", str(second.home))
    assert status == 1
    assert f"127.0.0.1:{first.mixed}" in out + err


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_stops_at_once_when_idle(culvert, number):
    process = culvert()
    process.process.send_signal(number)
    assert process.wait_exit(2) == 0


def test_stopping_lets_a_busy_flow_finish(culvert, serve):
    process = culvert()
    size = 1 << 20
    server = serve(lambda connection: send_slowly(connection, blob(size), 1.5))
    with socks5(process.mixed, "127.0.0.1", server.port) as busy:
        read_exactly(busy, 1)
        process.process.send_signal(signal.SIGTERM)

        def is_closed():
            with socket.socket() as probe:
                return probe.connect_ex(("127.0.0.1", process.mixed)) != 0

        wait_until(is_closed, 1, "no new connections")
        assert len(read_to_end(busy)) == size - 1
    assert process.wait_exit(5) == 0


def test_stopping_does_not_wait_for_an_idle_flow(culvert, serve):
    process = culvert()
    with socks5(process.mixed, "127.0.0.1", serve(echo).port) as idle, \
            connect(process.mixed), process.api.open("/logs"):
        process.process.send_signal(signal.SIGTERM)
        assert process.wait_exit(5) == 0
        idle.settimeout(2)
        try:
            assert idle.recv(1) == b""
        except ConnectionResetError:
            pass


def test_stops_at_once_when_asked_twice(culvert, serve):
    process = culvert()
    feeding = threading.Event()

    def feed(connection):
        while not feeding.is_set():
            connection.sendall(b"x" * 100)
            feeding.wait(0.05)

    with socks5(process.mixed, "127.0.0.1", serve(feed).port) as busy:
        read_exactly(busy, 1)
        process.process.send_signal(signal.SIGTERM)
        process.wait_log("stopping")
        process.process.send_signal(signal.SIGTERM)
        process.wait_exit(1)
    feeding.set()


def test_no_secret_in_the_log(culvert, serve):
    process = culvert(log_level="debug", authentication=["user:hunter2"], secret="hunter3")
    with socks5(process.mixed, "127.0.0.1", serve(echo).port, "user", "hunter2"):
        process.api.get("/version")
        process.api.ask("/version", headers={"Authorization": "Bearer hunter4"})
    assert process.stop() == 0
    assert "hunter" not in process.log()
