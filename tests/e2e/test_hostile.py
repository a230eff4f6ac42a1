"""Clients that are silent, slow, cut off or nonsense, beside an honest one (K40)."""
import random
import statistics
import threading
import time

import pytest

from clients import connect, read_exactly, socks5, socks5_request
from harness import wait_until
from servers import echo

TIMEOUT = 1
# From accept until the connection must be gone.
GONE = TIMEOUT + 1
DOORS = ("mixed", "http", "socks", "controller")


@pytest.fixture
def process(culvert):
    return culvert(port=True, socks_port=True, culvert={"handshake-timeout": TIMEOUT})


def seconds_until_closed(connection, limit):
    """How long the connection lives on, whatever the other end says before."""
    start = time.monotonic()
    connection.settimeout(limit)
    try:
        while connection.recv(65536):
            connection.settimeout(max(0.01, limit - (time.monotonic() - start)))
    except TimeoutError:
        raise AssertionError(f"still open after {limit} s") from None
    except OSError:
        pass
    return time.monotonic() - start


@pytest.mark.parametrize("door", DOORS)
def test_silent(process, door):
    with connect(getattr(process, door)) as connection:
        assert seconds_until_closed(connection, GONE) > TIMEOUT * 0.8


SLOW = {
    "http": (b"GET http://127.0.0.1/ HTTP/1.1\r\nHost: x\r\n", b"X-More: 1\r\n"),
    "controller": (b"GET /version HTTP/1.1\r\nHost: x\r\n", b"X-More: 1\r\n"),
    "socks": (b"\x05\xff", b"\x01"),
    "mixed": (b"\x05\xff", b"\x01"),
}


@pytest.mark.parametrize("door", DOORS)
def test_slow(process, door):
    """Bytes do not buy time."""
    first, more = SLOW[door]
    done = threading.Event()
    with connect(getattr(process, door)) as connection:
        def drip():
            try:
                connection.sendall(first)
                while not done.wait(0.1):
                    connection.sendall(more)
            except OSError:
                pass

        thread = threading.Thread(target=drip, daemon=True)
        thread.start()
        seconds_until_closed(connection, GONE)
        done.set()
        thread.join()


@pytest.mark.parametrize("door", DOORS)
def test_garbage(process, door):
    rng = random.Random(40)
    start = process.descriptors()
    first_bytes = b"\x04\x05GPC\x00\x16\xff"
    for round_ in range(40):
        garbage = rng.randbytes(rng.choice((1, 3, 100, 5000, 70_000)))
        if round_ % 2:
            garbage = bytes((rng.choice(first_bytes),)) + garbage
        connection = connect(getattr(process, door))
        try:
            connection.sendall(garbage)
        except OSError:
            pass
        connection.close()
    wait_until(lambda: process.descriptors() <= start, GONE + 2, "all of them gone")
    assert process.is_running()


MESSAGES = {
    "socks": [b"\x05\x01\x00" + socks5_request("origin.example", 80),
              b"\x05\x01\x02\x01\x04user\x04pass" + socks5_request("2001:db8::1", 80),
              b"\x04\x01\x00\x50\x00\x00\x00\x01me\x00origin.example\x00"],
    "http": [b"CONNECT origin.example:1 HTTP/1.1\r\nHost: origin.example:1\r\n\r\n",
             b"POST http://origin.example:1/ HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n"
             b"\r\n5\r\nhello\r\n0\r\n\r\n"],
    "controller": [b"GET /connections HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\n"
                   b"Connection: Upgrade\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"
                   b"Sec-WebSocket-Version: 13\r\nAuthorization: Bearer e2e-secret\r\n\r\n"
                   b"\x81\x85\x00\x00\x00\x00hello"],
}


@pytest.mark.parametrize("door", MESSAGES)
def test_cut_off_at_every_byte(process, door):
    start = process.descriptors()
    for message in MESSAGES[door]:
        for size in range(len(message)):
            connection = connect(getattr(process, door))
            connection.sendall(message[:size])
            connection.close()
    wait_until(lambda: process.descriptors() <= start, GONE + 8, "all of them gone")
    assert process.is_running()


def test_byte_by_byte_is_fine(process, serve):
    server = serve(echo)
    with connect(process.socks) as connection:
        for message, answer in ((b"\x05\x01\x00", b"\x05\x00"),
                                (socks5_request("127.0.0.1", server.port), b"\x05\x00\x00")):
            for byte in message:
                connection.sendall(bytes((byte,)))
            assert read_exactly(connection, len(answer)) == answer
        read_exactly(connection, 7)
        connection.sendall(b"ping")
        assert read_exactly(connection, 4) == b"ping"
    with connect(process.http) as connection:
        for byte in f"CONNECT 127.0.0.1:{server.port} HTTP/1.1\r\nHost: x\r\n\r\n".encode():
            connection.sendall(bytes((byte,)))
        assert read_exactly(connection, 12) == b"HTTP/1.1 200"


@pytest.mark.parametrize("request_,reply", [
    (b"\x05\x02\x00\x01\x7f\x00\x00\x01\x00\x50", 7),   # BIND
    (b"\x05\x09\x00\x01\x7f\x00\x00\x01\x00\x50", 7),   # no command at all
    (b"\x05\x01\x00\x02\x7f\x00\x00\x01\x00\x50", 8),   # no address type
    (b"\x05\x01\x00\x03\x00\x00\x50", None),            # a name of no length
    (b"\x05\x01\x00\x01\x7f\x00\x00\x01\x00\x00", None),  # port 0
])
def test_socks5_refusals_are_answers(process, request_, reply):
    with connect(process.socks) as connection:
        connection.sendall(b"\x05\x01\x00" + request_)
        assert read_exactly(connection, 2) == b"\x05\x00"
        answer = connection.recv(2)
        if reply is None:
            assert answer == b"" or (answer[0] == 5 and answer[1] != 0)
        else:
            assert answer == bytes((5, reply))


def test_a_name_of_255_bytes_is_looked_up(process):
    name = ".".join(["a" * 63] * 3 + ["b" * 63])
    assert len(name) == 255
    with connect(process.socks) as connection:
        connection.sendall(b"\x05\x01\x00" + socks5_request(name, 80))
        read_exactly(connection, 2)
        answer = read_exactly(connection, 2)
        assert answer[0] == 5 and answer[1] != 0  # it does not exist


def test_honest_among_many(process, serve):
    server = serve(echo)
    socks5(process.mixed, "127.0.0.1", server.port).close()
    wait_until(lambda: not process.api.flows(), 5, "the first flow's end")
    start = process.descriptors()
    crowd = []
    for i in range(300):
        connection = connect((process.mixed, process.socks, process.http)[i % 3])
        if i % 2:
            connection.sendall(b"\x05" if i % 3 < 2 else b"GET http://a.example/ HTTP/1.1\r\nX:")
        crowd.append(connection)
    taken = []
    for _ in range(20):
        before = time.monotonic()
        with socks5(process.mixed, "127.0.0.1", server.port) as honest:
            honest.sendall(b"ping")
            assert read_exactly(honest, 4) == b"ping"
        taken.append(time.monotonic() - before)
    assert statistics.median(taken) < 0.05
    wait_until(lambda: process.descriptors() <= start, GONE + 3, "the crowd is gone")
    for connection in crowd:
        connection.close()


def test_log_lines_of_peers_are_sampled_and_clean(process):
    for _ in range(50):
        with connect(process.socks) as connection:
            connection.sendall(b"\x05\x01\x00" + b"\x05\x01\x00\x03\x0e\x1b[31mevil\nname\x00\x00")
            read_exactly(connection, 2)
            connection.recv(64)
    assert process.stop() == 0
    log = process.log()
    assert "\x1b" not in log and "\nname" not in log
    assert log.count("\n") < 30
