"""The controller: what it answers, and to whom."""
import json
import re
import socket
import time
import urllib.parse

import pytest

from clients import Api, Refused, WebSocket, connect, read_exactly, read_head, socks5
from harness import free_port, wait_until
from servers import blob, echo

ROUTES = ("/", "/version", "/connections", "/traffic", "/memory", "/logs")
METADATA = {
    "network", "type", "sourceIP", "destinationIP", "sourceGeoIP", "destinationGeoIP",
    "sourceIPASN", "destinationIPASN", "sourcePort", "destinationPort", "inboundIP", "inboundPort",
    "inboundName", "inboundUser", "rematchName", "host", "dnsMode", "uid", "process", "processPath",
    "specialProxy", "specialRules", "remoteDestination", "dscp", "sniffHost"}


def test_hello_and_version(culvert):
    api = culvert().api
    assert api.get("/") == {"hello": "mihomo"}
    version = api.get("/version")
    assert version["meta"] is True and re.match(r"\d+\.\d+\.\d+", version["version"])


def test_one_connection_carries_many_requests(culvert):
    api = culvert().api
    with connect(api.port) as connection:
        for _ in range(3):
            connection.sendall(f"GET /version HTTP/1.1\r\nHost: x\r\n"
                               f"Authorization: Bearer {api.secret}\r\n\r\n".encode())
            status, fields = read_head(connection)
            assert status == 200 and fields["content-type"].startswith("application/json")
            json.loads(read_exactly(connection, int(fields["content-length"])))


def test_a_flow_is_listed_while_it_is_open(culvert, serve):
    process = culvert()
    server = serve(echo)
    before = process.api.get("/connections")
    assert before["connections"] == []
    with socks5(process.mixed, "origin.example", server.port) as connection:
        connection.sendall(blob(50_000))
        assert read_exactly(connection, 50_000) == blob(50_000)
        listing = process.api.get("/connections")
        assert set(listing) == {"downloadTotal", "uploadTotal", "connections", "memory"}
        assert listing["memory"] > 0
        assert listing["uploadTotal"] - before["uploadTotal"] == 50_000
        assert listing["downloadTotal"] - before["downloadTotal"] == 50_000
        flow, = listing["connections"]
        assert set(flow) == {"id", "metadata", "upload", "download", "start", "chains",
                             "providerChains", "rule", "rulePayload"}
        assert re.fullmatch(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", flow["id"])
        assert (flow["upload"], flow["download"]) == (50_000, 50_000)
        assert (flow["rule"], flow["rulePayload"]) == ("Match", "")
        assert flow["chains"] == ["DIRECT"]
        assert re.match(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d", flow["start"])
        metadata = flow["metadata"]
        assert set(metadata) == METADATA
        assert (metadata["network"], metadata["type"]) == ("tcp", "Socks5")
        assert metadata["sourceIP"] == "127.0.0.1"
        assert metadata["sourcePort"] == str(connection.getsockname()[1])
        assert metadata["destinationPort"] == str(server.port)
        assert metadata["host"] == "origin.example"
        assert metadata["inboundPort"] == str(process.mixed)
        assert metadata["inboundName"] == "DEFAULT-MIXED"
    wait_until(lambda: process.api.flows() == [], 5, "the flow's end")


def test_listing_over_websocket(culvert, serve):
    process = culvert()
    with socks5(process.mixed, "127.0.0.1", serve(echo).port), \
            WebSocket(process.api, "/connections?interval=100") as socket_:
        for _ in range(3):
            flow, = socket_.json()["connections"]
            assert flow["metadata"]["destinationIP"] == "127.0.0.1"
            assert flow["metadata"]["host"] == ""


def test_a_long_listing_comes_in_parts(culvert, serve):
    process = culvert()
    server = serve(echo)
    opened = []
    try:
        for _ in range(200):
            opened.append(socks5(process.mixed, "origin.example", server.port))
        wait_until(lambda: len(process.api.flows()) == 200, 5, "every flow listed")
        status, fields, body = process.api.ask("/connections")
        assert (status, fields["transfer-encoding"]) == (200, "chunked")
        ports = {str(c.getsockname()[1]) for c in opened}
        assert {f["metadata"]["sourcePort"] for f in json.loads(body)["connections"]} == ports
        with WebSocket(process.api, "/connections?interval=100") as socket_:
            assert not socket_.part()[0], "in fragments"
        with WebSocket(process.api, "/connections?interval=100") as socket_:
            for _ in range(3):
                flows = socket_.json()["connections"]
                assert {f["metadata"]["sourcePort"] for f in flows} == ports
    finally:
        for connection in opened:
            connection.close()
    wait_until(lambda: process.api.flows() == [], 5, "the flows' end")


def test_a_bad_interval_is_refused_before_the_upgrade(culvert):
    with pytest.raises(Refused) as refused:
        WebSocket(culvert().api, "/connections?interval=abc")
    assert refused.value.code == 400


def test_traffic(culvert, serve):
    process = culvert()
    with WebSocket(process.api, "/traffic") as socket_, \
            socks5(process.mixed, "127.0.0.1", serve(echo).port) as connection:
        assert set(socket_.json()) == {"up", "down", "upTotal", "downTotal"}
        connection.sendall(blob(100_000))
        read_exactly(connection, 100_000)
        seen = [socket_.json()]
        if seen[0]["upTotal"] != 100_000:
            seen.append(socket_.json())
        assert sum(s["up"] for s in seen) == sum(s["down"] for s in seen) == 100_000
        assert seen[-1]["upTotal"] == seen[-1]["downTotal"] == 100_000


def test_traffic_and_memory_as_lines(culvert):
    api = culvert().api
    assert next(api.lines("/traffic")) == {"up": 0, "down": 0, "upTotal": 0, "downTotal": 0}
    memory = api.lines("/memory")
    assert next(memory) == {"inuse": 0, "oslimit": 0}
    assert next(memory)["inuse"] > 1 << 20


def test_logs(culvert, serve):
    process = culvert(log_level="warning")
    server = serve(echo)
    with WebSocket(process.api, "/logs?level=info") as plain, \
            WebSocket(process.api, "/logs?level=info&format=structured") as structured, \
            WebSocket(process.api, "/logs?level=error") as errors:
        with socks5(process.mixed, "origin.example", server.port):
            line = plain.json()
            assert line["type"] == "info"
            assert f"origin.example:{server.port}" in line["payload"]
            assert "DIRECT" in line["payload"]
            full = structured.json()
            assert set(full) == {"time", "level", "message", "fields"}
            assert full["level"] == "info" and full["message"] == line["payload"]
            errors.connection.settimeout(0.3)
            with pytest.raises(TimeoutError):
                errors.frame()
    assert "origin.example" not in process.log()


def test_unknown_log_level_is_refused(culvert):
    api = culvert().api
    assert api.ask("/logs?level=loud")[0] == 400


def test_unknown_paths_and_methods(culvert):
    api = culvert().api
    for target in ("/nothing", "/versions", "/ui/../config.yaml",
                   "/ui/%2e%2e/config.yaml", "//version", "/%zz"):
        status, fields, body = api.ask(target)
        assert status in (400, 404), target
        assert "message" in json.loads(body)
    assert api.ask("/version", "POST")[0] in (404, 405)
    assert api.ask("/", "DELETE")[0] in (404, 405)


def test_websocket_pings_and_closes(culvert):
    with WebSocket(culvert().api, "/memory") as socket_:
        socket_.send(9, b"are you there")
        seen = []
        while (10, b"are you there") not in seen:
            seen.append(socket_.frame())
            assert len(seen) < 5
        socket_.send(8, b"\x03\xe8")
        while (frame := socket_.frame())[0] != 8:
            pass
        assert frame == (8, b"\x03\xe8")
        assert socket_.connection.recv(1) == b""


@pytest.mark.parametrize("frame", [
    b"\x81\x05hello",                           # not masked
    b"\xc1\x80\x00\x00\x00\x00",                # a reserved bit
    b"\x83\x80\x00\x00\x00\x00",                # a reserved opcode
    b"\x09\x80\x00\x00\x00\x00",                # a control frame in parts
    b"\x89\xfe\x00\x7e\x00\x00\x00\x00",        # a control frame above 125 bytes
    b"\x81\xff\x7f\xff\xff\xff\xff\xff\xff\xff\x00\x00\x00\x00"])
def test_bad_frames_end_the_websocket(culvert, frame):
    process = culvert()
    with WebSocket(process.api, "/logs") as socket_:
        socket_.connection.sendall(frame)
        socket_.connection.settimeout(5)
        data = b"x"
        while data:
            try:
                data = socket_.connection.recv(65536)
            except ConnectionResetError:
                break
    assert process.api.get("/version")


# Who may ask.

SECRET = "p+w%/é"


@pytest.mark.parametrize("target", ROUTES)
def test_without_the_secret_nothing(culvert, target):
    api = culvert(secret=SECRET).api
    for fields in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": f"Bearer {SECRET}x"},
                   {"Authorization": "Bearer"}, {"Authorization": "Bearer "},
                   {"Authorization": f"Basic {SECRET}"}, {"Authorization": SECRET}):
        status, _, body = api.ask(target, headers=fields, token=False)
        assert (status, json.loads(body)) == (401, {"message": "Unauthorized"}), fields


def test_the_secret_in_the_header(culvert):
    api = culvert(secret=SECRET).api
    for scheme in ("Bearer", "bearer", "BEARER"):
        assert api.ask("/version", headers={"Authorization": f"{scheme} {SECRET}"})[0] == 200


def test_the_secret_in_the_query_is_for_upgrades(culvert):
    api = culvert(secret=SECRET).api
    token = urllib.parse.quote(SECRET, safe="")
    assert api.ask(f"/version?token={token}", token=False)[0] == 401
    for word in ("websocket", "WebSocket"):
        with WebSocket(api, f"/memory?token={token}", token=False,
                       headers={"Upgrade": word}) as socket_:
            assert socket_.json()["inuse"] == 0
    # Not an upgrade: half of one.
    assert api.ask(f"/version?token={token}", token=False,
                   headers={"Upgrade": "websocket"})[0] == 401
    for wrong in (urllib.parse.quote(token, safe=""), "x", "", urllib.parse.quote("p w%/é", safe="")):
        with pytest.raises(Refused) as refused:
            WebSocket(api, f"/memory?token={wrong}", token=False)
        assert refused.value.code == 401


def test_with_a_secret_any_host_will_do(culvert):
    api = culvert().api
    assert api.ask("/version", headers={"Host": "evil.example"})[0] == 200


def test_without_a_secret_names_are_not_hosts(culvert):
    process = culvert(secret="")
    api = process.api
    for host in ("127.0.0.1", f"127.0.0.1:{api.port}", "localhost", f"localhost:{api.port}",
                 "[::1]:9090", "LOCALHOST"):
        assert api.ask("/version", headers={"Host": host})[0] == 200, host
    for host in ("evil.example", f"evil.example:{api.port}", "localhost.evil.example", "",
                 "127.0.0.1.evil.example", None):
        assert api.ask("/version", headers={"Host": host})[0] in (400, 403), host


PREFLIGHT = {"Access-Control-Request-Method": "GET",
             "Access-Control-Request-Headers": "authorization",
             "Access-Control-Request-Private-Network": "true"}


def allowed_origin(api, origin, method="GET", headers=None):
    _, fields, _ = api.ask("/version", method, headers={"Origin": origin, **(headers or {})})
    return fields.get("access-control-allow-origin")


def test_without_a_secret_foreign_pages_read_nothing(culvert):
    process = culvert(secret="")
    api = process.api
    for origin in ("http://evil.example", "null", "https://metacubex.github.io.evil.example",
                   "http://127.0.0.1.evil.example", "file://"):
        assert allowed_origin(api, origin) is None, origin
        assert allowed_origin(api, origin, "OPTIONS", PREFLIGHT) is None, origin
        with pytest.raises(Refused) as refused:
            WebSocket(api, "/connections", headers={"Origin": origin})
        assert refused.value.code == 403
    for origin in ("https://metacubex.github.io", "http://127.0.0.1:9090", "http://localhost:3000"):
        assert allowed_origin(api, origin) == origin
        with WebSocket(api, "/connections", headers={"Origin": origin}) as socket_:
            assert socket_.json()["connections"] == []


def test_preflights_need_no_secret_and_give_none_away(culvert):
    api = culvert().api
    status, fields, _ = api.ask("/version", "OPTIONS", token=False,
                                headers={"Origin": "https://any.example", **PREFLIGHT})
    assert status in (200, 204)
    assert fields["access-control-allow-origin"] == "*"
    assert "authorization" in fields["access-control-allow-headers"].lower()
    assert fields["access-control-allow-private-network"] == "true"
    assert "access-control-allow-credentials" not in fields


def test_listed_origins_only(culvert):
    api = culvert(external_controller_cors={"allow-origins": ["https://one.example"],
                                            "allow-private-network": False}).api
    assert allowed_origin(api, "https://one.example") == "https://one.example"
    assert allowed_origin(api, "https://two.example") is None
    _, fields, _ = api.ask("/version", "OPTIONS",
                           headers={"Origin": "https://one.example", **PREFLIGHT})
    assert "access-control-allow-private-network" not in fields


def test_not_opened_beyond_loopback_without_a_secret(culvert):
    port = free_port()
    process = culvert(secret="", external_controller=f"0.0.0.0:{port}")
    process.wait_log("is not opened")
    with socket.socket() as probe:
        assert probe.connect_ex(("127.0.0.1", port)) != 0
    with pytest.raises(Refused):  # the rest works, and says that nobody is there
        socks5(process.mixed, "127.0.0.1", port)


def test_large_bodies_are_refused_unread(culvert):
    api = culvert().api
    status, _, _ = api.ask("/version", "PATCH", headers={"Content-Length": str(1 << 30)})
    assert status == 413


def test_a_stalled_reader_slows_nobody(culvert, curl, origin):
    """K35: bounded memory, prompt answers."""
    process = culvert(log_level="info")
    stalled = [WebSocket(process.api, target) for target in
               ("/logs?level=debug", "/connections?interval=100")]
    for socket_ in stalled:
        socket_.connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    before = process.rss_kib()
    slowest = 0
    for _ in range(20):
        with connect(process.mixed) as connection:
            connection.sendall(b"".join(
                f"GET {origin.url('/bytes/1', 'origin.example')} HTTP/1.1\r\nHost: x\r\n\r\n"
                .encode() for _ in range(20)))
            for _ in range(20):
                _, fields = read_head(connection)
                read_exactly(connection, int(fields["content-length"]))
        start = time.monotonic()
        process.api.get("/version")
        slowest = max(slowest, time.monotonic() - start)
    assert slowest < 1
    assert process.rss_kib() - before < 8 << 10
    for socket_ in stalled:
        socket_.connection.close()


def test_vanished_readers_are_let_go(culvert):
    process = culvert()
    process.api.get("/version")
    start = process.resting_descriptors()
    sockets = [WebSocket(process.api, target) for target in ("/logs", "/traffic", "/memory",
                                                             "/connections") for _ in range(5)]
    assert process.descriptors() == start + len(sockets)
    for socket_ in sockets:
        socket_.connection.close()
    wait_until(lambda: process.descriptors() == start, 5, "every WebSocket let go")


def test_an_api_for_another_host_needs_its_own_secret(culvert):
    first, second = culvert(secret="one"), culvert(secret="two")
    assert Api(first.controller, "two").ask("/version")[0] == 401
    assert Api(second.controller, "two").ask("/version")[0] == 200
