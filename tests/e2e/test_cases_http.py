"""HTTP and SOCKS clients as they come in the wild: K19 to K23, beside what test_http_proxy.py,
test_auth.py, test_hostile.py and test_transfer.py say of them."""
import gzip
import socket
import threading

import pytest

from clients import (TUNNELS, Refused, basic, connect, http_connect, read_chunks, read_exactly,
                     read_head, read_response, read_to_end, socks5, socks5_request)
from harness import wait_until
from servers import blob, echo

LONG = ("p:" * 128)[:255]
USERS = ["u1:p:1", "u2:p2", f"u3:{LONG}"]


class Origin:
    """Answers one request after the other with what `answer(head)` returns: the bytes, or (bytes,
    True) to close behind them. Keeps each request's head, as text, and its body."""

    def __init__(self, serve, answer, *where):
        self.heads = []
        self.bodies = []
        self.answer = answer
        self.server = serve(self.run, *where)
        self.port = self.server.port

    def run(self, connection):
        while True:
            head = b""
            while not head.endswith(b"\r\n\r\n"):
                part = connection.recv(1)
                if not part:
                    return
                head += part
            text = head.decode("latin-1")
            self.heads.append(text)
            answer = self.answer(text)
            if callable(answer):
                answer = answer(connection)
            else:
                self.bodies.append(read_body(connection, text))
            data, ends = answer if isinstance(answer, tuple) else (answer, False)
            connection.sendall(data)
            if ends:
                return

    @property
    def connections(self):
        return len(self.server.connections)


def field(head, name):
    """A field's value in the text of a head, or None."""
    for line in head.split("\r\n")[1:]:
        key, _, value = line.partition(":")
        if key.lower() == name.lower():
            return value.strip()
    return None


def read_body(connection, head):
    """A body as it came: chunked ones with their framing and trailers."""
    if field(head, "Transfer-Encoding") == "chunked":
        raw = b""
        while not raw.endswith(b"\r\n0\r\n"):
            raw += read_exactly(connection, 1)
        while not raw.endswith(b"\r\n\r\n"):
            raw += read_exactly(connection, 1)
        return raw
    return read_exactly(connection, int(field(head, "Content-Length") or 0))


def ok(body=b"", fields=""):
    return f"HTTP/1.1 200 OK\r\nContent-Length: {len(body)}\r\n{fields}\r\n".encode() + body


def get(port, path="/", fields="", host="127.0.0.1", version="1.1"):
    return (f"GET http://{host}:{port}{path} HTTP/{version}\r\nHost: {host}:{port}\r\n{fields}"
            "\r\n").encode()


@pytest.fixture
def process(culvert):
    return culvert(port=True, socks_port=True)


# K19: where a body ends, 100, and who stays.

def test_k19_an_answer_without_a_length_ends_for_the_client_too(process, serve):
    body = blob(50_000)
    origin = Origin(serve, lambda head: (b"HTTP/1.0 200 OK\r\nContent-Type: a/b\r\n\r\n" + body,
                                         True))
    for port in (process.mixed, process.http):
        with connect(port, seconds=5) as client:
            client.sendall(get(origin.port))
            status, fields = read_head(client)
            assert status == 200
            # The end is told: by a chunk, or by the connection's, which is announced.
            if fields.get("transfer-encoding") == "chunked":
                got = b"".join(read_chunks(client))
            else:
                assert fields["connection"].lower() == "close"
                got = read_to_end(client)
            assert got == body


def test_k19_an_origin_that_closes_leaves_the_client_its_connection(process, serve):
    origin = Origin(serve, lambda head: (ok(b"body", "Connection: close\r\n"), True))
    with connect(process.mixed, seconds=5) as client:
        for i in range(3):
            client.sendall(get(origin.port, f"/{i}"))
            status, fields, body = read_response(client)
            assert (status, body) == (200, b"body")
            assert "close" not in fields.get("connection", "").lower()
    assert origin.connections == 3


def test_k19_continue_is_passed_on_and_then_the_answer(process, serve):
    asked = threading.Event()

    def answer(head):
        if field(head, "Expect") is None:
            return ok(b"plain")

        def converse(connection):
            connection.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
            body = read_exactly(connection, int(field(head, "Content-Length")))
            asked.set()
            return ok(body[::-1])
        return converse

    origin = Origin(serve, answer)
    with connect(process.mixed, seconds=5) as client:
        client.sendall(f"POST http://127.0.0.1:{origin.port}/ HTTP/1.1\r\nHost: x\r\n"
                       "Content-Length: 6\r\nExpect: 100-continue\r\n\r\n".encode())
        assert read_head(client) == (100, {})
        assert not asked.is_set(), "the body was not sent yet"
        client.sendall(b"abcdef")
        assert read_response(client)[::2] == (200, b"fedcba")
        client.sendall(get(origin.port))
        assert read_response(client)[::2] == (200, b"plain")
    assert origin.connections == 1
    assert field(origin.heads[0], "Expect") == "100-continue"


def test_k19_a_refused_expectation_is_the_answer(process, serve):
    refusal = b"HTTP/1.1 417 Expectation Failed\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
    origin = Origin(serve, lambda head: lambda connection: (refusal, True))
    with connect(process.mixed, seconds=5) as client:
        client.sendall(f"POST http://127.0.0.1:{origin.port}/ HTTP/1.1\r\nHost: x\r\n"
                       "Content-Length: 6\r\nExpect: 100-continue\r\n\r\n".encode())
        assert read_response(client)[0] == 417


@pytest.mark.parametrize("version,fields", [
    ("1.0", "Proxy-Connection: keep-alive\r\n"), ("1.0", "Connection: Keep-Alive\r\n"),
    ("1.1", "Proxy-Connection: keep-alive\r\n"), ("1.1", "")])
def test_k19_every_way_of_asking_to_stay(process, serve, version, fields):
    origin = Origin(serve, lambda head: ok(head.split()[1].encode()))
    with connect(process.mixed, seconds=5) as client:
        for path in ("/one", "/two", "/three"):
            client.sendall(get(origin.port, path, fields, version=version))
            status, said, body = read_response(client)
            assert (status, body) == (200, path.encode())
            if version == "1.0":
                assert said["connection"].lower() == "keep-alive"
    assert origin.connections == 1
    assert all(field(head, "Proxy-Connection") is None for head in origin.heads)


@pytest.mark.parametrize("version,fields", [("1.0", ""), ("1.1", "Proxy-Connection: close\r\n"),
                                            ("1.1", "Connection: close\r\n")])
def test_k19_a_client_that_does_not_ask_is_closed(process, serve, version, fields):
    origin = Origin(serve, lambda head: ok(b"body"))
    with connect(process.mixed, seconds=5) as client:
        client.sendall(get(origin.port, "/", fields, version=version))
        assert read_response(client)[::2] == (200, b"body")
        assert read_to_end(client) == b""


def test_k19_chunks_and_trailers_pass_both_ways(process, serve):
    up = b"5\r\nhello\r\n6;x=y\r\n world\r\n0\r\nX-Sum: 1\r\nX-Other: a b\r\n\r\n"
    down = b"3\r\nabc\r\n0\r\nX-Digest: 2\r\n\r\n"
    origin = Origin(serve, lambda head: (
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Digest\r\n\r\n" + down))
    with connect(process.mixed, seconds=5) as client:
        for _ in range(2):
            client.sendall(f"POST http://127.0.0.1:{origin.port}/ HTTP/1.1\r\nHost: x\r\n"
                           "Transfer-Encoding: chunked\r\nTrailer: X-Sum, X-Other\r\n\r\n".encode()
                           + up)
            status, fields = read_head(client)
            assert status == 200 and fields["trailer"] == "X-Digest"
            assert read_exactly(client, len(down)) == down
    assert origin.bodies == [up, up]
    assert field(origin.heads[0], "Trailer") == "X-Sum, X-Other"
    assert origin.connections == 1


def test_k19_answers_that_have_a_length_and_no_body(process, serve):
    def answer(head):
        if head.startswith("HEAD"):
            return b"HTTP/1.1 200 OK\r\nContent-Length: 12345\r\n\r\n"
        if field(head, "If-None-Match"):
            return b"HTTP/1.1 304 Not Modified\r\nContent-Length: 999\r\nETag: \"a\"\r\n\r\n"
        return ok(b"body")

    origin = Origin(serve, answer)
    with connect(process.mixed, seconds=5) as client:
        client.sendall(get(origin.port).replace(b"GET", b"HEAD"))
        status, fields = read_head(client)
        assert status == 200 and fields["content-length"] == "12345"
        client.sendall(get(origin.port, "/", "If-None-Match: \"a\"\r\n"))
        status, fields = read_head(client)
        assert status == 304 and fields["content-length"] == "999"
        client.sendall(get(origin.port))
        assert read_response(client)[::2] == (200, b"body")
    assert origin.connections == 1


# K20: addresses of IPv6, and authorities that are none.

def six_server(make):
    try:
        return make()
    except OSError as error:
        pytest.skip(f"no server on that port of ::1: {error}")


@pytest.mark.parametrize("port", [0, 80])
def test_k20_a_literal_of_ipv6(process, serve, port):
    origin = six_server(lambda: Origin(serve, lambda head: ok(b"six"), "::1", port))
    authority = "[::1]" if port == 80 else f"[::1]:{origin.port}"
    with connect(process.mixed, seconds=5) as client:
        client.sendall(f"GET http://{authority}/x HTTP/1.1\r\nHost: {authority}\r\n\r\n".encode())
        assert read_response(client)[::2] == (200, b"six")
    assert origin.heads[0].startswith("GET /x HTTP/1.1\r\n")
    assert field(origin.heads[0], "Host") == authority
    with http_connect(process.mixed, "::1", origin.port) as client:
        client.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        assert read_response(client)[::2] == (200, b"six")


def test_k20_a_literal_of_ipv6_is_what_rules_see(culvert):
    process = culvert(rules=["IP-CIDR6,2001:db8::1/128,REJECT,no-resolve",
                             "MATCH,REJECT-DROP"])
    for authority in ("[2001:db8::1]:8080", "[2001:db8::1]", "[2001:DB8:0::1]:80"):
        with connect(process.mixed, seconds=5) as client:
            client.sendall(f"GET http://{authority}/x HTTP/1.1\r\nHost: x\r\n\r\n".encode())
            assert read_response(client)[0] == 403, authority
    with pytest.raises(Refused) as refused:
        http_connect(process.mixed, "2001:db8::1", 443)
    assert refused.value.code == 403


@pytest.mark.parametrize("request_line", [
    "CONNECT ::1:443", "CONNECT ::1", "CONNECT [::1]", "CONNECT [::1]:0", "CONNECT [::1:443",
    "CONNECT [127.0.0.1]:443", "CONNECT a.example:", "CONNECT :443", "CONNECT a.example:443/x",
    "CONNECT u:p@a.example:443", "CONNECT http://a.example:443", "GET http://::1/x",
    "GET http://[::1/x", "GET http://[]/x", "GET http://[fe80::1%25lo]/x", "GET http:///x",
    "GET http://", "GET http://:80/x", "GET /x", "GET *", "GET a.example", "GET http:/a.example/"])
def test_k20_each_refusal_is_a_whole_answer(process, serve, request_line):
    for port in (process.mixed, process.http):
        with connect(port, seconds=5) as client:
            client.sendall(f"{request_line} HTTP/1.1\r\nHost: a.example\r\n\r\n".encode())
            status, fields, body = read_response(client)
            assert status == 400
            assert "content-length" in fields and fields["connection"].lower() == "close"
            assert len(body) == int(fields["content-length"])
            assert read_to_end(client) == b"", "nothing behind it"
    with TUNNELS["connect"](process.mixed, "127.0.0.1", serve(echo).port) as client:
        client.sendall(b"alive")
        assert read_exactly(client, 5) == b"alive"


def test_k20_user_info_stays_here(process, serve):
    origin = Origin(serve, lambda head: ok(b"body"))
    with connect(process.mixed, seconds=5) as client:
        client.sendall(f"GET http://alice:s3cret@127.0.0.1:{origin.port}/x HTTP/1.1\r\n"
                       "Host: y\r\n\r\n".encode())
        assert read_response(client)[0] == 200
    assert origin.heads == [f"GET /x HTTP/1.1\r\nHost: 127.0.0.1:{origin.port}\r\n\r\n"]


# K21: who asks. IN-USER is for when there are such rules; here the name has to be known.

@pytest.fixture
def held(serve):
    """An origin that answers a request when `go` is set, and counts those that wait."""
    class Held:
        def __init__(self):
            self.go = threading.Event()
            self.origin = Origin(serve, lambda head: self.answer)
            self.port = self.origin.port

        def answer(self, _):
            assert self.go.wait(10)
            return ok(b"body")

    held = Held()
    yield held
    held.go.set()


def users_of(process, count):
    flows = wait_until(lambda: len(f := process.api.flows()) == count and f, 5, f"{count} flows")
    return sorted(f["metadata"]["inboundUser"] for f in flows)


def authorization(user, password):
    return f"Proxy-Authorization: {basic(user, password)}\r\n"


def test_k21_each_request_of_a_connection_is_its_own_users(culvert, held):
    process = culvert(authentication=USERS)
    with connect(process.mixed, seconds=5) as client:
        for user, password in (("u1", "p:1"), ("u2", "p2"), ("u3", LONG), ("u1", "p:1")):
            held.go.clear()
            client.sendall(get(held.port, "/", authorization(user, password)))
            wait_until(lambda u=user: users_of(process, 1) == [u], 5, f"a flow of {user}")
            held.go.set()
            assert read_response(client)[::2] == (200, b"body")
        client.sendall(get(held.port, "/", authorization("u1", "p2")))
        assert read_response(client)[0] == 407
    assert len(held.origin.heads) == 4
    assert all(field(head, "Proxy-Authorization") is None for head in held.origin.heads)


@pytest.mark.parametrize("user,password,name", [
    (None, "", ""), ("u1", "p:1", "u1"), ("u3", LONG, "u3"), ("u1", "wrong", ""),
    ("nobody", "p2", "")])
def test_k21_skipped_prefixes_know_who_says_it(culvert, serve, held, user, password, name):
    process = culvert(authentication=USERS, skip_auth_prefixes=["127.0.0.0/8"])
    with connect(process.mixed, seconds=5) as client:
        client.sendall(get(held.port, "/", authorization(user, password) if user else ""))
        assert users_of(process, 1) == [name]
        held.go.set()
        assert read_response(client)[::2] == (200, b"body")
    wait_until(lambda: not process.api.flows(), 5, "the request's end")
    server = serve(echo)
    for tunnel in (http_connect, socks5):
        with tunnel(process.mixed, "127.0.0.1", server.port, user, password) as client:
            client.sendall(b"ping")
            assert read_exactly(client, 4) == b"ping"
            assert users_of(process, 1) == [name]
        wait_until(lambda: not process.api.flows(), 5, "the tunnel's end")


@pytest.mark.parametrize("skipped", [[], ["127.0.0.0/8"]])
def test_k21_a_socks_client_that_could_do_without_is_known_too(culvert, serve, skipped):
    """curl and others offer both methods when they have credentials."""
    process = culvert(authentication=USERS, skip_auth_prefixes=skipped)
    server = serve(echo)
    with connect(process.mixed, seconds=5) as client:
        client.sendall(b"\x05\x02\x00\x02")
        assert read_exactly(client, 2) == b"\x05\x02"
        client.sendall(b"\x01\x02u3\xff" + LONG.encode())
        assert read_exactly(client, 2) == b"\x01\x00"
        client.sendall(socks5_request("127.0.0.1", server.port))
        assert read_exactly(client, 10)[:2] == b"\x05\x00"
        assert users_of(process, 1) == ["u3"]


def test_k21_a_socks_password_is_compared_to_its_end(culvert, serve):
    process = culvert(authentication=USERS)
    server = serve(echo)
    socks5(process.mixed, "127.0.0.1", server.port, "u3", LONG).close()
    for wrong in (LONG[:-1], LONG[:-1] + "x", LONG.replace(":", ""), "p", ""):
        with pytest.raises(Refused) as refused:
            socks5(process.mixed, "127.0.0.1", server.port, "u3", wrong)
        assert refused.value.code == "credentials"


# K22: pipelining, hop-by-hop fields, the Host field, nothing added.

def test_k22_pipelined_requests_go_where_each_says(process, serve):
    first = Origin(serve, lambda head: ok(b"first" + head.split()[1].encode()))
    second = Origin(serve, lambda head: ok(b"second" + head.split()[1].encode()))
    with connect(process.mixed, seconds=5) as client:
        client.sendall(get(first.port, "/a", host="origin.example") +
                       get(second.port, "/b", host="www.origin.example") +
                       get(first.port, "/c", host="origin.example"))
        assert [read_response(client)[2] for _ in range(3)] == [b"first/a", b"second/b", b"first/c"]
    assert [head.split()[1] for head in first.heads] == ["/a", "/c"]
    assert [field(head, "Host") for head in second.heads] == [f"www.origin.example:{second.port}"]


def test_k22_the_target_wins_over_host(process, serve):
    target = Origin(serve, lambda head: ok(b"target"))
    other = Origin(serve, lambda head: ok(b"other"))
    with connect(process.mixed, seconds=5) as client:
        client.sendall(f"GET http://origin.example:{target.port}/ HTTP/1.1\r\n"
                       f"Host: www.origin.example:{other.port}\r\n\r\n".encode())
        assert read_response(client)[2] == b"target"
    assert field(target.heads[0], "Host") == f"origin.example:{target.port}"
    assert not other.connections


def test_k22_hop_by_hop_fields_of_answers_stay_here(process, serve):
    origin = Origin(serve, lambda head: ok(
        b"body", "Connection: X-Drop, keep-alive\r\nX-Drop: 1\r\nKeep-Alive: timeout=5\r\n"
        "Proxy-Connection: keep-alive\r\nProxy-Authenticate: Basic realm=\"origin\"\r\n"
        "X-Keep: 2\r\nSet-Cookie: a=1\r\nSet-Cookie: b=2\r\n"))
    with connect(process.mixed, seconds=5) as client:
        client.sendall(get(origin.port, "/", "Connection: X-Gone, Content-Length\r\nX-Gone: 1\r\n"
                           "Keep-Alive: timeout=5\r\nTE: trailers\r\nX-Keep: 2\r\n"))
        status, fields, body = read_response(client)
    assert (status, body) == (200, b"body")
    assert fields == {"content-length": "4", "x-keep": "2", "set-cookie": "b=2"}
    assert origin.heads == [f"GET / HTTP/1.1\r\nHost: 127.0.0.1:{origin.port}\r\nX-Keep: 2\r\n\r\n"]


@pytest.mark.parametrize("accepts", [None, "br, gzip;q=0.5", "identity"])
def test_k22_encodings_are_the_clients_own(process, serve, accepts):
    body = gzip.compress(blob(10_000)) + b"\r\n0\r\n\r\n"
    origin = Origin(serve, lambda head: ok(body, "Content-Encoding: gzip\r\nVary: *\r\n"))
    with connect(process.mixed, seconds=5) as client:
        client.sendall(get(origin.port, "/",
                           "" if accepts is None else f"Accept-Encoding: {accepts}\r\n"))
        status, fields, got = read_response(client)
    assert status == 200 and got == body
    assert fields["content-encoding"] == "gzip"
    assert field(origin.heads[0], "Accept-Encoding") == accepts


@pytest.mark.parametrize("fields", ["Content-Length: 5\r\nTransfer-Encoding: chunked\r\n",
                                    "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n",
                                    "Content-Length: 5\r\nContent-Length: 6\r\n"])
def test_k22_two_lengths_are_refused_and_nothing_is_asked(process, serve, fields):
    origin = Origin(serve, lambda head: ok())
    with connect(process.mixed, seconds=5) as client:
        client.sendall(f"POST http://127.0.0.1:{origin.port}/ HTTP/1.1\r\nHost: x\r\n{fields}\r\n"
                       "0\r\n\r\n".encode() + get(origin.port, "/smuggled"))
        assert read_response(client)[0] == 400
        assert read_to_end(client) == b"", "what is behind it is no request"
    assert not origin.connections


@pytest.mark.parametrize("port", ["mixed", "http"])
def test_k22_a_slow_origin_is_left_within_a_second(process, serve, port):
    def never(connection):
        while connection.recv(65536):
            pass

    server = serve(never)
    client = connect(getattr(process, port), seconds=5)
    client.sendall(get(server.port))
    wait_until(lambda: len(process.api.flows()) == 1, 5, "the request under way")
    client.close()
    wait_until(lambda: server.ended, 1, "the origin is let go")
    wait_until(lambda: not process.api.flows(), 5, "the flow's end")


# K23: edges of SOCKS5, over TCP.

def longest_name():
    """253 bytes, the most that names in DNS have as text."""
    return ".".join(["a" * 63] * 3 + ["b" * 57, "org"])


def test_k23_the_longest_name_connects(culvert, serve):
    name = longest_name()
    assert len(name) == 253
    process = culvert(hosts=f"127.0.0.1 {name}\n")
    server = serve(echo)
    for host in (name, name + "."):
        with socks5(process.mixed, host, server.port) as client:
            client.sendall(b"ping")
            assert read_exactly(client, 4) == b"ping"


@pytest.mark.parametrize("door", ["mixed", "socks"])
@pytest.mark.parametrize("request_,reply", [
    (socks5_request("a.example", 80)[:4] + bytes((255,)) + b"a" * 255 + b"\x00\x50", None),
    (b"\x05\x01\x00\x03\x00\x00\x50", 1),  # a name of no bytes
    (b"\x05\x01\x00\x02\x7f\x00\x00\x01\x00\x50", 8),  # no such type of address
    (socks5_request("127.0.0.1", 80, command=2), 7),  # BIND
    (socks5_request("a.example", 80, command=2), 7),
    (socks5_request("::1", 80, command=2), 7),
    (socks5_request("127.0.0.1", 80, command=3), 7),  # UDP ASSOCIATE
    (b"\x05\x03\x00\x01\x00\x00\x00\x00\x00\x00", 7),  # as most clients ask for it
    (socks5_request("127.0.0.1", 80, command=0x7F), 7)])
def test_k23_each_refusal_is_a_whole_reply(process, door, request_, reply):
    start = process.resting_descriptors()
    with connect(getattr(process, door), seconds=5) as client:
        client.sendall(b"\x05\x01\x00")
        assert read_exactly(client, 2) == b"\x05\x00"
        client.sendall(request_)
        answer = read_to_end(client)
    assert len(answer) == 10 and answer[:1] == b"\x05" and answer[2:] == b"\0\1" + b"\0" * 6
    assert answer[1] == reply if reply is not None else answer[1] != 0
    wait_until(lambda: process.descriptors() == start, 5, "nothing is kept of it")
    assert process.api.flows() == []


def test_k23_a_greeting_in_pieces(process, serve):
    """One byte a segment, methods nobody has among them."""
    server = serve(echo)
    with connect(process.mixed, seconds=5) as client:
        for byte in b"\x05\x04\x80\x01\xfe\x00":
            client.sendall(bytes((byte,)))
        assert read_exactly(client, 2) == b"\x05\x00"
        for byte in socks5_request("origin.example", server.port):
            client.sendall(bytes((byte,)))
        assert read_exactly(client, 10)[:2] == b"\x05\x00"
        client.sendall(b"ping")
        assert read_exactly(client, 4) == b"ping"


def test_k23_a_tunnel_ends_with_its_client(process, serve):
    server = serve(echo)
    client = socks5(process.socks, "127.0.0.1", server.port)
    client.sendall(b"ping")
    assert read_exactly(client, 4) == b"ping"
    client.close()
    wait_until(lambda: server.ended == [None], 5, "the server's end")
    wait_until(lambda: not process.api.flows(), 5, "the flow's end")
