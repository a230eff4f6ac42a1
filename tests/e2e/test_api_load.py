"""The API under many connections and slow readers (case K35)."""
import threading
import time

import pytest

from clients import Refused, WebSocket, read_exactly, socks5
from harness import wait_until
from servers import blob, echo

FLOWS = 2000
CLIENTS = 5


@pytest.fixture
def busy(culvert, serve):
    process = culvert()
    server = serve(echo)
    opened = [socks5(process.mixed, "127.0.0.1", server.port) for _ in range(FLOWS)]
    process.one = opened[0]
    process.ports = {str(c.getsockname()[1]) for c in opened}
    yield process
    for connection in opened:
        connection.close()


def ports_of(listing):
    return {flow["metadata"]["sourcePort"] for flow in listing["connections"]}


def test_k35_many_clients_one_of_them_stalled(busy):
    before = busy.rss_kib()
    stalled = WebSocket(busy.api, "/connections?interval=200")
    clients = [WebSocket(busy.api, "/connections?interval=200") for _ in range(CLIENTS - 1)]
    slowest = [0]
    over = threading.Event()

    def watch():
        while not over.is_set():
            begun = time.monotonic()
            busy.api.get("/version")
            slowest[0] = max(slowest[0], time.monotonic() - begun)

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        for _ in range(4):
            for client in clients:
                assert ports_of(client.json()) == busy.ports
        busy.one.sendall(blob(100_000))
        assert read_exactly(busy.one, 100_000) == blob(100_000)
        # Two listings of 700 bytes a flow, a piece for each client, and what the heap keeps.
        assert busy.rss_kib() - before < 16 << 10
    finally:
        over.set()
        watcher.join()
    assert slowest[0] < 2, "50 ms, on a machine that does nothing else"
    wait_until(lambda: is_cut_off(stalled), 15, "the end of the client that never reads")
    assert ports_of(clients[0].json()) == busy.ports
    for client in clients:
        client.connection.close()


def is_cut_off(client):
    """Without reading what was sent to it."""
    try:
        client.send(9, b"x")
    except OSError:
        return True
    return False


def test_k35_clients_that_vanish(busy):
    for _ in range(20):
        WebSocket(busy.api, "/connections?interval=100").connection.close()
        WebSocket(busy.api, "/logs?level=debug").connection.close()
    wait_until(lambda: busy.connected() == 2 * FLOWS, 5, "their connections' end")


def test_k35_a_bad_interval(busy):
    for interval in ("abc", "1s", "-", "9" * 40):
        with pytest.raises(Refused) as refused:
            WebSocket(busy.api, f"/connections?interval={interval}")
        assert refused.value.code == 400
