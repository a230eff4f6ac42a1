"""Nodes and groups over the API, as dashboards ask for them (cases K30, K31, K34)."""
import json
import threading
import time
import urllib.parse

import pytest

from clients import read_exactly, read_head, socks5
from harness import wait_until
from servers import blob, echo

NODE = {"name", "type", "udp", "uot", "xudp", "tfo", "mptcp", "smux", "interface", "routing-mark",
        "provider-name", "dialer-proxy", "alive", "history", "extra"}
GROUP = NODE | {"now", "all", "testUrl", "expectedStatus", "fixed", "hidden", "icon",
                "emptyFallback"}


def quote(name):
    return urllib.parse.quote(name, safe="")


def node(name, port):
    return {"name": name, "type": "socks5", "server": "127.0.0.1", "port": port}


def select(name, *members, **keys):
    return {"name": name, "type": "select", "proxies": list(members), **keys}


class Answers:
    """An HTTP server that answers `status` after `delay` seconds, and never when told so."""

    def __init__(self):
        self.status = 204
        self.delay = 0
        self.never = False
        self.asked = 0
        self.ended = threading.Event()

    def __call__(self, connection):
        while True:
            read_head_of_request(connection)
            self.asked += 1
            if self.never or self.delay:
                self.ended.wait(30 if self.never else self.delay)
            connection.sendall(f"HTTP/1.1 {self.status} X\r\nContent-Length: 0\r\n\r\n".encode())


def read_head_of_request(connection):
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        part = connection.recv(1)
        if not part:
            raise OSError("ended")
        head += part


@pytest.fixture
def answers(serve):
    made = Answers()
    made.url = f"http://127.0.0.1:{serve(made).port}/204"
    yield made
    made.ended.set()


@pytest.fixture
def upstream(culvert):
    return culvert(external_controller=None, secret=None)


@pytest.fixture
def process(culvert, upstream):
    return culvert(
        proxies=[node("A", upstream.mixed), node("B", upstream.mixed), node("dead", 1)],
        proxy_groups=[select("S", "A", "B", "dead", "DIRECT"), select("outer", "S", "REJECT")],
        rules=["MATCH,S"])


def delay(api, name, url, timeout=2000, what="proxies", **more):
    query = urllib.parse.urlencode({"url": url, "timeout": timeout, **more})
    return api.send("GET", f"/{what}/{quote(name)}/delay?{query}")


def test_shapes(process):
    proxies = process.api.get("/proxies")["proxies"]
    assert {"DIRECT", "REJECT", "REJECT-DROP", "PASS", "COMPATIBLE", "GLOBAL", "A", "B", "dead",
            "S", "outer"} == set(proxies)
    for name, proxy in proxies.items():
        assert proxy["name"] == name
        assert set(proxy) == (GROUP if "all" in proxy else NODE), name
    assert proxies["A"]["type"] == "Socks5" and proxies["DIRECT"]["type"] == "Direct"
    group = proxies["S"]
    assert group["type"] == "Selector"
    assert group["all"] == ["A", "B", "dead", "DIRECT"] and group["now"] == "A"
    assert proxies["outer"]["now"] == "S"
    assert proxies["GLOBAL"]["all"][0] == "DIRECT"
    assert process.api.get("/proxies/S") == group
    assert process.api.get("/group/S") == group
    assert {g["name"] for g in process.api.get("/group")["proxies"]} == {"GLOBAL", "S", "outer"}
    assert process.api.ask("/group/A")[0] == 404
    assert process.api.ask("/proxies/nobody")[0] == 404


def test_providers(process):
    providers = process.api.get("/providers/proxies")["providers"]
    assert set(providers) == {"default", "S", "outer"}
    for name, provider in providers.items():
        assert provider["name"] == name
        assert (provider["type"], provider["vehicleType"]) == ("Proxy", "Compatible")
        assert {"testUrl", "expectedStatus", "proxies"} < set(provider)
    assert [p["name"] for p in providers["S"]["proxies"]] == ["A", "B", "dead", "DIRECT"]
    assert {"DIRECT", "A", "B", "S"} < {p["name"] for p in providers["default"]["proxies"]}
    assert process.api.get("/providers/proxies/S") == providers["S"]
    assert process.api.get("/providers/proxies/S/A")["name"] == "A"
    assert process.api.send("PUT", "/providers/proxies/S") == (204, None)
    for target in ("/providers/proxies/nobody", "/providers/proxies/S/REJECT"):
        assert process.api.ask(target)[0] == 404
    assert process.api.get("/providers/rules") == {"providers": {}}


def test_selecting(process, serve):
    server = serve(echo)
    with socks5(process.mixed, "127.0.0.1", server.port) as old:
        old.sendall(b"x")
        read_exactly(old, 1)
        assert process.api.send("PUT", "/proxies/S", {"name": "B"}) == (204, None)
        assert process.api.get("/proxies/S")["now"] == "B"
        with socks5(process.mixed, "127.0.0.1", server.port) as new:
            new.sendall(b"x")
            read_exactly(new, 1)
            chains = sorted(f["chains"] for f in process.api.flows())
            assert chains == [["A", "S"], ["B", "S"]], "old ones stay where they are"


def test_k34_selecting_ends_what_was_carried(culvert, upstream, serve):
    process = culvert(proxies=[node("A", upstream.mixed), node("B", upstream.mixed)],
                      proxy_groups=[select("S", "A", "B")],
                      rules=["DOMAIN,exact.example,DIRECT", "MATCH,S"],
                      culvert={"interrupt-exist-connections": True})
    server = serve(echo)
    with socks5(process.mixed, "origin.example", server.port) as carried, \
            socks5(process.mixed, "exact.example", server.port) as other:
        for connection in (carried, other):
            connection.sendall(b"x")
            read_exactly(connection, 1)
        assert process.api.send("PUT", "/proxies/S", {"name": "A"}) == (204, None)
        carried.sendall(b"y")
        assert read_exactly(carried, 1) == b"y", "the selection is what it was"
        assert process.api.send("PUT", "/proxies/S", {"name": "B"}) == (204, None)
        with pytest.raises(ConnectionResetError):
            carried.recv(1)
        other.sendall(b"z")
        assert read_exactly(other, 1) == b"z"
        assert [f["chains"] for f in process.api.flows()] == [["DIRECT"]]


def test_what_cannot_be_selected(process):
    for name, body, status in (
            ("S", {"name": "REJECT"}, 400), ("S", {"name": "nobody"}, 400), ("S", {}, 400),
            ("S", {"name": 7}, 400), ("S", ["A"], 400), ("A", {"name": "B"}, 400),
            ("DIRECT", {"name": "A"}, 400), ("nobody", {"name": "A"}, 404)):
        got, answer = process.api.send("PUT", f"/proxies/{name}", body)
        assert got == status and answer["message"], (name, body)
    assert process.api.send("PUT", "/proxies/A", {"name": "B"})[1] == {
        "message": "Must be a Selector"}
    assert process.api.send("PUT", "/proxies/S") == (400, {"message": "Body invalid"})
    status, _, body = process.api.ask("/proxies/S", "PUT", body=b'{"name":"B"',
                                      headers={"Content-Length": "11"})
    assert (status, json.loads(body)) == (400, {"message": "Body invalid"})
    assert process.api.send("DELETE", "/proxies/S")[0] == 400
    assert process.api.get("/proxies/S")["now"] == "A"


def test_a_selection_is_remembered(culvert, upstream):
    keys = dict(proxies=[node("A", upstream.mixed), node("B", upstream.mixed)],
                proxy_groups=[select("S", "A", "B")], rules=["MATCH,S"])
    process = culvert(**keys)
    assert process.api.send("PUT", "/proxies/S", {"name": "B"})[0] == 204
    assert process.stop() == 0
    process.start("-d", str(process.home))
    process.wait_ready(process.controller)
    assert process.api.get("/proxies/S")["now"] == "B"


NAMES = ("a/b", "Group #1", "50%25", "..", "🇯🇵 日本", "x?y", "a+b")


def test_k30_names_in_paths(culvert, answers):
    process = culvert(proxy_groups=[select(name, "REJECT", "DIRECT") for name in NAMES])
    for name in NAMES:
        api, path = process.api, quote(name)
        assert api.send("PUT", f"/proxies/{path}", {"name": "DIRECT"}) == (204, None), name
        assert api.get(f"/proxies/{path}")["now"] == "DIRECT"
        assert api.get(f"/group/{path}")["name"] == name
        assert api.get(f"/providers/proxies/{path}")["name"] == name
        status, body = delay(api, name, answers.url)
        assert status == 200 and body["delay"] >= 1, (name, body)
        status, body = delay(api, name, answers.url, what="group")
        assert status == 200 and set(body) == {"DIRECT"}
        assert api.send("PUT", f"/proxies/{path}", {"name": "nobody"})[0] == 400
    # As it is, without an escape; and a plus that is a plus.
    with process.api.open("/proxies/🇯🇵%20日本") as connection:
        assert read_head(connection)[0] == 200
    assert process.api.get("/proxies/a+b")["name"] == "a+b"
    for target in ("/proxies/%zz", "/proxies/a%2", "/group/%/delay"):
        status, _, body = process.api.ask(target)
        assert (status, json.loads(body)) == (400, {"message": "Body invalid"})
    status, _, body = process.api.ask("/proxies/a%252Fb")
    assert (status, json.loads(body)) == (404, {"message": "Resource not found"})


def test_k31_delays(process, answers):
    api = process.api
    status, body = delay(api, "A", answers.url)
    assert status == 200 and 1 <= body["delay"] < 2000
    answers.delay = 0.2
    status, body = delay(api, "A", answers.url)
    assert status == 200 and 200 <= body["delay"] < 2000, body
    assert delay(api, "A", answers.url, timeout=40000)[0] == 200
    history = api.get("/proxies/A")["history"]
    assert [h["delay"] > 0 for h in history] == [True, True, True]
    assert history[-1]["time"].endswith("Z")
    for query in ("", "timeout=0", "timeout=", "timeout=abc", "timeout=-1", "timeout=5s"):
        target = f"/proxies/A/delay?{query}&url={quote(answers.url)}"
        assert api.send("GET", target) == (400, {"message": "Body invalid"}), query
    assert delay(api, "nobody", answers.url)[0] == 404


def test_k31_what_is_expected(process, answers):
    api = process.api
    assert delay(api, "A", answers.url, expected="200-299/301")[0] == 200
    assert delay(api, "A", answers.url, expected="abc") == (400, {"message": "Body invalid"})
    answers.status = 403
    failure = (503, {"message": "An error occurred in the delay test"})
    assert delay(api, "A", answers.url, expected="204") == failure
    assert delay(api, "A", answers.url)[0] == 200, "any answer will do where nothing is expected"
    extra = api.get("/proxies/A")["extra"][answers.url]
    assert extra["alive"] is True and [h["delay"] > 0 for h in extra["history"]] == [
        True, False, True]


def test_k31_failures(process, answers):
    api = process.api
    answers.never = True
    begun = time.monotonic()
    assert delay(api, "A", answers.url, timeout=300) == (504, {"message": "Timeout"})
    # 100 ms after the timeout, and more for a busy machine.
    assert 0.3 <= time.monotonic() - begun < 2
    assert api.get("/proxies/A")["alive"] is False
    status, body = delay(api, "dead", answers.url)
    assert (status, body) == (503, {"message": "An error occurred in the delay test"})
    status, body = delay(api, "A", "https://t.example/204")
    assert status == 503 and "https" in body["message"]
    assert delay(api, "A", "ftp://t.example/")[0] == 400


def test_k31_groups(process, answers):
    api = process.api
    status, body = delay(api, "outer", answers.url)
    assert status == 200 and body["delay"] >= 1
    assert len(api.get("/proxies/A")["history"]) == 1, "the leaf has the record"
    assert answers.url in api.get("/proxies/outer")["extra"]
    status, body = delay(api, "S", answers.url, what="group")
    assert status == 200 and set(body) == {"A", "B", "DIRECT"}, body
    assert api.get("/proxies/dead")["alive"] is False
    status, body = delay(api, "outer", answers.url, what="group")
    assert status == 200 and set(body) == {"S"}
    assert delay(api, "A", answers.url, what="group")[0] == 404
    status, body = api.send("GET", f"/providers/proxies/S/B/healthcheck?timeout=2000&url="
                            f"{quote(answers.url)}")
    assert status == 200 and body["delay"] >= 1


def test_k31_a_group_takes_no_longer_than_its_timeout(culvert, upstream, answers):
    names = [f"n{i}" for i in range(40)]
    process = culvert(proxies=[node(name, upstream.mixed) for name in names],
                      proxy_groups=[select("S", *names)], rules=["MATCH,S"])
    answers.never = True
    begun = time.monotonic()
    status, body = delay(process.api, "S", answers.url, timeout=500, what="group")
    assert (status, body) == (504, {"message": "get delay: all proxies timeout"})
    assert time.monotonic() - begun < 5, "and not node by node"
    assert answers.asked <= 16
    answers.never = False
    answers.ended.set()
    status, body = delay(process.api, "S", answers.url, what="group")
    assert status == 200 and set(body) == set(names)


def test_k34_ending_connections(process, serve):
    server = serve(echo)
    connections = [socks5(process.mixed, "127.0.0.1", server.port) for _ in range(4)]
    try:
        connections[0].sendall(blob(1000))
        read_exactly(connections[0], 1000)
        flows = process.api.flows()
        assert len(flows) == 4
        port = str(connections[0].getsockname()[1])
        busy = next(f for f in flows if f["metadata"]["sourcePort"] == port)
        for target in ("/connections/00000000-0000-4000-8000-000000000000", "/connections/nobody",
                       "/connections/%00"):
            assert process.api.send("DELETE", target) == (204, None)
        assert len(process.api.flows()) == 4
        assert process.api.send("DELETE", "/connections/" + busy["id"]) == (204, None)
        assert is_over(connections[0])
        assert {f["id"] for f in process.api.flows()} == {f["id"] for f in flows} - {busy["id"]}
        assert process.api.send("DELETE", "/connections") == (204, None)
        for connection in connections[1:]:
            assert is_over(connection)
        assert process.api.flows() == []
        wait_until(lambda: len(server.ended) == 4, 5, "the far sides' ends")
    finally:
        for connection in connections:
            connection.close()


def is_over(connection):
    try:
        return connection.recv(1) == b""
    except ConnectionResetError:
        return True


def test_k34_ending_many(culvert, serve):
    process = culvert()
    server = serve(echo)
    connections = [socks5(process.mixed, "127.0.0.1", server.port) for _ in range(1000)]
    try:
        slowest = [0]
        over = threading.Event()

        def watch():
            while not over.is_set():
                begun = time.monotonic()
                process.api.get("/version")
                slowest[0] = max(slowest[0], time.monotonic() - begun)

        watcher = threading.Thread(target=watch)
        watcher.start()
        try:
            assert process.api.send("DELETE", "/connections") == (204, None)
            assert process.api.flows() == []
        finally:
            over.set()
            watcher.join()
        assert slowest[0] < 2, "100 ms, on a machine that does nothing else"
        for connection in connections:
            assert is_over(connection)
    finally:
        for connection in connections:
            connection.close()


def test_ten_thousand_nodes(culvert):
    names = [f"node {i}" for i in range(10_000)]
    process = culvert(proxies=[node(name, 1) for name in names],
                      proxy_groups=[select("S", *names)], rules=["MATCH,S"])
    status, fields, body = process.api.ask("/proxies")
    assert status == 200 and fields["transfer-encoding"] == "chunked"
    proxies = json.loads(body)["proxies"]
    assert proxies["S"]["all"] == names and set(names) < set(proxies)
    providers = process.api.get("/providers/proxies")["providers"]
    assert [p["name"] for p in providers["S"]["proxies"]] == names
    assert len(providers["default"]["proxies"]) == 10_003
