"""How connections end: half-closes, resets, and nothing left behind (K26)."""
import socket
import threading

import pytest

from clients import TUNNELS, all_at_once, read_exactly, read_to_end, socks5
from harness import wait_until
from servers import (answer_after_eof, blob, echo, greet_then_read, read_until_end, reset,
                     reset_after_first_byte)


@pytest.mark.parametrize("tunnel", TUNNELS)
def test_client_ends_first_and_gets_its_answer(culvert, serve, tunnel):
    process = culvert()
    server = serve(answer_after_eof(1 << 20, 1.5))
    with TUNNELS[tunnel](process.mixed, "origin.example", server.port) as connection:
        connection.sendall(b"question")
        connection.shutdown(socket.SHUT_WR)
        assert read_to_end(connection) == blob(1 << 20)
    wait_until(lambda: server.ended == [None], 5, "the server's end in order")


@pytest.mark.parametrize("tunnel", TUNNELS)
def test_server_ends_first_and_gets_the_rest(culvert, serve, tunnel):
    process = culvert()
    received = []
    server = serve(greet_then_read(b"hello", received))
    with TUNNELS[tunnel](process.mixed, "origin.example", server.port) as connection:
        assert read_to_end(connection) == b"hello"
        connection.sendall(blob(1 << 20))
    wait_until(lambda: received, 5, "the server reads to the end")
    assert received == [blob(1 << 20)]


def test_server_resets(culvert, serve):
    process = culvert()
    server = serve(reset_after_first_byte)
    with socks5(process.mixed, "127.0.0.1", server.port) as connection:
        connection.sendall(b"x")
        with pytest.raises(ConnectionResetError):
            read_to_end(connection)


def test_client_resets(culvert, serve):
    process = culvert()
    server = serve(read_until_end)
    connection = socks5(process.mixed, "127.0.0.1", server.port)
    connection.sendall(b"x")
    wait_until(lambda: server.connections, 5, "a connection at the server")
    reset(connection)
    wait_until(lambda: server.ended, 5, "the server's end")
    assert isinstance(server.ended[0], ConnectionResetError)


def test_descriptors_return(culvert, serve):
    process = culvert()
    server = serve(echo)

    def open_one(tunnel):
        connection = TUNNELS[tunnel](process.mixed, "127.0.0.1", server.port)
        connection.sendall(b"ping")
        assert read_exactly(connection, 4) == b"ping"
        return connection

    open_one("socks5").close()
    wait_until(lambda: not process.api.flows(), 5, "the first flow's end")
    start = process.resting_descriptors()
    names = list(TUNNELS)
    held = all_at_once([lambda n=names[i % 3]: open_one(n) for i in range(200)])
    assert process.descriptors() >= start + 400
    assert len(process.api.flows()) == 200
    for i, connection in enumerate(held):
        if i % 2:
            reset(connection)
        else:
            connection.close()
    wait_until(lambda: process.descriptors() == start, 5,
               f"{start} descriptors, not {process.descriptors()}")
    assert process.api.flows() == []


def test_a_stopped_reader_holds_up_nobody_else(culvert, serve, origin, curl):
    process = culvert()
    flood = serve(lambda connection: connection.sendall(blob(32 << 20)))
    before = process.rss_kib()
    stopped = [socks5(process.mixed, "127.0.0.1", flood.port) for _ in range(8)]
    for connection in stopped:
        read_exactly(connection, 1)
    got = curl.get(origin.url("/bytes/1000000", "origin.example"), seconds=5,
                   proxy=f"socks5h://127.0.0.1:{process.mixed}")
    assert len(got) == 1_000_000
    # 256 KiB a direction at most, not what the server has to say.
    assert process.rss_kib() - before < 16 << 10
    for connection in stopped:
        connection.close()
    wait_until(lambda: not process.api.flows(), 5, "the flows' end")


def test_a_quiet_connection_outlives_the_handshake_timeout(culvert, serve):
    process = culvert(culvert={"handshake-timeout": 1})
    server = serve(echo)
    with socks5(process.mixed, "127.0.0.1", server.port) as connection:
        threading.Event().wait(2)  # longer than the timeout
        connection.sendall(b"ping")
        assert read_exactly(connection, 4) == b"ping"
