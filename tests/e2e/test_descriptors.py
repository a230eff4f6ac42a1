"""Descriptors run out (K39)."""
import resource
import threading

import pytest

from clients import connect, read_exactly, socks5
from harness import wait_until
from servers import echo

LIMIT = 128


def test_the_soft_limit_is_raised(culvert):
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    wanted = 2048 if hard == resource.RLIM_INFINITY else min(2048, hard)
    process = culvert(start={"descriptors": (256, wanted)})
    assert process.descriptor_limit() == wanted
    assert str(wanted) in process.log()


@pytest.fixture
def starved(culvert):
    """Has taken as many connections as it can, and more wait at the door."""
    process = culvert(start={"descriptors": (LIMIT, LIMIT)})
    crowd = [connect(process.mixed) for _ in range(LIMIT + 60)]
    wait_until(lambda: process.descriptors() >= LIMIT - 16, 5,
               f"nearly {LIMIT} descriptors in use, not {process.descriptors()}")
    yield process, crowd
    for connection in crowd:
        connection.close()


def test_accepting_pauses_without_spinning(starved):
    process, _ = starved
    before = process.cpu_seconds()
    threading.Event().wait(2)  # a spinning loop would fill it
    assert process.cpu_seconds() - before < 0.2
    assert process.log().count("\n") < 30
    assert "descriptors" in process.log() or "exhausted" in process.log()


def test_service_resumes(starved, serve):
    process, crowd = starved
    server = serve(echo)
    for connection in crowd:
        connection.close()

    def works():
        with socks5(process.mixed, "127.0.0.1", server.port, seconds=2) as connection:
            connection.sendall(b"ping")
            return read_exactly(connection, 4) == b"ping"

    assert works()
    wait_until(lambda: process.descriptors() < 40, 5, "the crowd's descriptors are back")


def test_the_controller_still_answers(starved):
    process, _ = starved
    assert process.api.get("/version")["meta"] is True
