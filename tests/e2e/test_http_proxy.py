"""Requests that curl would never send to an HTTP proxy (K20, K22)."""
import pytest

from clients import connect, read_head, read_response, read_to_end
from harness import wait_until


@pytest.fixture
def process(culvert):
    return culvert(port=True)


def ask(port, request):
    with connect(port) as connection:
        connection.sendall(request)
        return read_response(connection)


@pytest.mark.parametrize("request_line", [
    "CONNECT ::1:443", "CONNECT a.example", "CONNECT a.example:0", "CONNECT a.example:70000",
    "CONNECT", "GET /x", "GET http:///x", "GET https://a.example/", "GET ftp://a.example/",
    "GET http://a.example:99999/", "GET"])
def test_bad_targets(process, request_line):
    status, _, _ = ask(process.mixed, f"{request_line} HTTP/1.1\r\nHost: a.example\r\n\r\n".encode())
    assert status == 400


@pytest.mark.parametrize("fields", [
    "Content-Length: 5\r\nTransfer-Encoding: chunked", "Content-Length: 5\r\nContent-Length: 6",
    "Content-Length: -1", "Content-Length: 5, 5x", "Transfer-Encoding: gzip, identity",
    "Host: one.example\r\nHost: two.example", " folded", "X: a\r\n folded", "X : a", ": empty",
    "X: a\x00b"])
def test_ambiguous_heads(process, origin, fields):
    status, _, _ = ask(process.mixed,
                       f"POST {origin.url('/sha256')} HTTP/1.1\r\nX-First: 1\r\n{fields}\r\n\r\n"
                       .encode())
    assert status in (400, 501)


def test_bare_line_feeds(process, origin):
    status, _, _ = ask(process.mixed, f"GET {origin.url('/bytes/1')} HTTP/1.1\nHost: x\n\n\r\n\r\n"
                       .encode())
    assert status == 400


@pytest.mark.parametrize("head", [b"GET http://a.example/" + b"a" * 70_000 + b" HTTP/1.1\r\n\r\n",
                                  b"GET http://a.example/ HTTP/1.1\r\n" + b"X: a\r\n" * 14_000,
                                  b"GET http://a.example/ HTTP/1.1\r\nX: " + b"a" * 70_000])
def test_a_head_is_64_kib_at_most(process, head):
    for port in (process.mixed, process.http):
        status, _, _ = ask(port, head)
        assert status in (414, 431)


def test_pipelined_requests_are_answered_in_order(process, origin):
    with connect(process.mixed) as connection:
        connection.sendall("".join(
            f"GET {origin.url(f'/bytes/{n}', host)} HTTP/1.1\r\nHost: x\r\n\r\n"
            for n, host in ((11, "origin.example"), (22, "www.origin.example"),
                            (33, "origin.example"))).encode())
        assert [len(read_response(connection)[2]) for _ in range(3)] == [11, 22, 33]


def test_hop_by_hop_fields_stay_here(process, origin):
    _, _, body = ask(process.mixed,
                     f"GET {origin.url('/headers', 'origin.example')} HTTP/1.1\r\n"
                     "Host: other.example\r\nConnection: X-Drop, keep-alive\r\nX-Drop: 1\r\n"
                     "Proxy-Connection: keep-alive\r\nTE: trailers\r\nX-Keep: 2\r\n\r\n".encode())
    seen = body.decode().lower()
    assert "x-keep: 2" in seen
    assert f"host: origin.example:{origin.port}" in seen
    for gone in ("x-drop", "proxy-connection", "te:", "other.example", "accept-encoding"):
        assert gone not in seen


def test_user_info_is_not_forwarded(process, origin):
    url = origin.url("/headers", "origin.example").replace("http://", "http://user:pw@")
    status, _, body = ask(process.mixed, f"GET {url} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
    assert status == 400 or (status == 200 and b"pw" not in body)


def test_http_1_0_client(process, origin):
    with connect(process.mixed) as connection:
        connection.sendall(f"GET {origin.url('/bytes/1000', 'origin.example')} HTTP/1.0\r\n\r\n"
                           .encode())
        status, _ = read_head(connection)
        assert status == 200
        assert len(read_to_end(connection)) == 1000


def test_the_origin_is_left_when_the_client_leaves(process, serve):
    def answer_half(connection):
        connection.recv(65536)
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nhalf")
        while connection.recv(65536):
            pass

    server = serve(answer_half)
    connection = connect(process.mixed)
    connection.sendall(f"GET http://127.0.0.1:{server.port}/ HTTP/1.1\r\nHost: x\r\n\r\n".encode())
    assert read_head(connection)[0] == 200
    connection.close()
    wait_until(lambda: server.ended, 2, "the origin is let go")


def test_an_answer_cut_short_is_seen_as_cut_short(process, serve):
    def cut(connection):
        connection.recv(65536)
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nhalf")

    server = serve(cut)
    with connect(process.mixed) as connection:
        connection.sendall(f"GET http://127.0.0.1:{server.port}/ HTTP/1.1\r\nHost: x\r\n\r\n"
                           .encode())
        with pytest.raises((EOFError, ConnectionResetError)):
            read_response(connection)
