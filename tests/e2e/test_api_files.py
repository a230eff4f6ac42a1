"""Storage, the unix socket, files of a user interface, restart, and what Culvert tells beside."""
import http.client
import json
import os
import socket
import stat
import time

import pytest

from clients import Api, connect, read_exactly, read_head, read_response, socks5
from harness import wait_until
from servers import blob, echo


def test_storage(culvert):
    process = culvert()
    api = process.api
    assert api.get("/storage/a%2Fb") is None
    for text in (b'{"a": [1, 2.50, "\\u00e9"] }', b"7", b'"x"', b"null", b"[]"):
        status, _, body = api.ask("/storage/a%2Fb", "PUT", body=text,
                                  headers={"Content-Length": str(len(text))})
        assert (status, body) == (204, b"")
        assert api.ask("/storage/a%2Fb")[2] == text, "as it was sent"
    for text in (b"", b"{", b"{}x", b"[" * 100 + b"]" * 100):
        status, _, body = api.ask("/storage/a%2Fb", "PUT", body=text,
                                  headers={"Content-Length": str(len(text))})
        assert (status, json.loads(body)) == (400, {"message": "Body invalid"}), text
    assert api.send("PUT", "/storage/" + "k" * 64, {"long": True})[0] == 204
    assert api.send("PUT", "/storage/" + "k" * 65, {})[0] == 400
    assert api.send("GET", "/storage/" + "k" * 65)[0] == 400
    assert process.stop() == 0
    process.start("-d", str(process.home))
    process.wait_ready(process.controller)
    assert api.get("/storage/" + "k" * 64) == {"long": True}
    assert api.send("DELETE", "/storage/" + "k" * 64) == (204, None)
    assert api.get("/storage/" + "k" * 64) is None
    assert api.send("DELETE", "/storage/none") == (204, None)


def test_bodies(culvert):
    api = culvert().api
    fields = f"Host: x\r\nAuthorization: Bearer {api.secret}\r\n"
    with connect(api.port) as connection:
        # Chunked, with an extension and a trailer; then more requests on the same connection.
        connection.sendall((f"PUT /storage/k HTTP/1.1\r\n{fields}Transfer-Encoding: chunked\r\n\r\n"
                            '3;x=y\r\n[1,\r\n2\r\n2]\r\n0\r\nX: y\r\n\r\n').encode())
        assert read_response(connection)[0] == 204
        connection.sendall(f"GET /storage/k HTTP/1.1\r\n{fields}\r\n".encode())
        assert read_response(connection)[2] == b"[1,2]"
        # A byte at a time, and only when it was told to go on.
        connection.sendall((f"PUT /storage/k HTTP/1.1\r\n{fields}Content-Length: 3\r\n"
                            "Expect: 100-continue\r\n\r\n").encode())
        assert read_head(connection)[0] == 100
        for byte in (b"[", b"3", b"]"):
            connection.sendall(byte)
        assert read_response(connection)[0] == 204
        connection.sendall(f"GET /storage/k HTTP/1.1\r\n{fields}\r\n".encode())
        assert read_response(connection)[2] == b"[3]"
    for size, status in ((1 << 20, 413), ((1 << 20) + 1, 413), (1 << 30, 413)):
        with api.open("/storage/k", "PUT", headers={"Content-Length": str(size)}) as connection:
            if size == 1 << 20:
                connection.sendall(b'"' + b"x" * (size - 2) + b'"')
            assert read_response(connection)[0] == status, size
    with api.open("/storage/k", "PUT", headers={"Transfer-Encoding": "chunked"}) as connection:
        connection.sendall(b"x\r\n")
        assert read_response(connection)[0] == 400
    with api.open("/storage/k", "PUT", headers={"Transfer-Encoding": "chunked"}) as connection:
        sent = 0
        try:
            while sent < 8 << 20:
                connection.sendall(b"10000\r\n" + b" " * 65536 + b"\r\n")
                sent += 65536
        except OSError:
            pass  # it is told while we send
        assert read_response(connection)[0] == 413
    assert api.get("/storage/k") == [3]


def test_a_room_for_bodies(culvert):
    """Many clients that each send half a body hold a bounded amount."""
    process = culvert()
    opened = []
    try:
        statuses = []
        for _ in range(24):
            connection = process.api.open("/storage/k", "PUT",
                                          headers={"Content-Length": str(1 << 20)})
            opened.append(connection)
            try:
                connection.sendall(b" " * ((1 << 20) - 1))
            except OSError:
                pass  # refused while we send
        for connection in opened[16:]:
            statuses.append(read_head(connection)[0])
        assert set(statuses) == {503}
        assert process.api.get("/version")["meta"] is True
    finally:
        for connection in opened:
            connection.close()
    wait_until(lambda: process.api.send("PUT", "/storage/k", 1)[0] == 204, 5, "the room again")


class UnixApi(Api):
    def __init__(self, path):
        super().__init__(0)
        self.path = str(path)

    def open(self, target, method="GET", headers=None, token=True, body=b""):
        connection = socket.socket(socket.AF_UNIX)
        connection.settimeout(10)
        connection.connect(self.path)
        fields = {"Host": "anything.example", **(headers or {})}
        text = f"{method} {target} HTTP/1.1\r\n"
        text += "".join(f"{name}: {value}\r\n" for name, value in fields.items())
        connection.sendall(text.encode() + b"\r\n" + body)
        return connection


def test_the_unix_socket(culvert):
    process = culvert(external_controller=None, external_controller_unix="sockets/api.sock")
    path = process.home / "sockets/api.sock"
    wait_until(path.exists, 5, "the socket")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    api = UnixApi(path)
    assert api.get("/version")["meta"] is True, "it asks for no secret"
    assert api.send("PATCH", "/configs", {"mode": "direct"}) == (204, None)
    assert api.get("/configs")["mode"] == "direct"
    assert process.stop() == 0
    assert not path.exists()


@pytest.fixture
def ui(culvert):
    process = culvert.make()
    folder = process.home / "ui"
    (folder / "assets").mkdir(parents=True)
    (folder / "index.html").write_text("<html>hello</html>")
    (folder / "assets/app.js").write_text("let a = 1")
    (folder / "assets/large.bin").write_bytes(blob(300_000))
    (folder / "empty").write_text("")
    (folder / "inside").symlink_to("assets/app.js")
    (folder / "outside").symlink_to(process.home / "config.yaml")
    (folder / "up").symlink_to("..")
    os.mkfifo(folder / "pipe")
    from harness import free_port, profile
    process.controller = free_port()
    (process.home / "config.yaml").write_text(profile(
        external_controller=f"127.0.0.1:{process.controller}", external_ui="ui", secret="s3cret",
        rules=["MATCH,DIRECT"]))
    process.start("-d", str(process.home)).wait_ready(process.controller)
    return process


def get_file(process, path, method="GET", **headers):
    connection = http.client.HTTPConnection("127.0.0.1", process.controller, timeout=10)
    connection.putrequest(method, path, skip_accept_encoding=True)
    for name, value in headers.items():
        connection.putheader(name.replace("_", "-"), value)
    connection.endheaders()
    response = connection.getresponse()
    body = response.read()
    connection.close()
    return response.status, {k.lower(): v for k, v in response.getheaders()}, body


def test_files(ui):
    status, fields, _ = get_file(ui, "/ui")
    assert (status, fields["location"]) == (301, "/ui/")
    assert get_file(ui, "/ui?a=b")[1]["location"] == "/ui/?a=b"
    assert get_file(ui, "/ui/assets")[1]["location"] == "/ui/assets/"
    status, fields, body = get_file(ui, "/ui/")
    assert (status, body) == (200, b"<html>hello</html>"), "no secret is asked"
    assert fields["content-type"].startswith("text/html")
    assert fields["x-content-type-options"] == "nosniff"
    status, fields, body = get_file(ui, "/ui/assets/app.js")
    assert body == b"let a = 1" and fields["content-type"].startswith("text/javascript")
    assert get_file(ui, "/ui/assets/large.bin")[2] == blob(300_000)
    assert get_file(ui, "/ui/empty")[::2] == (200, b"")
    assert get_file(ui, "/ui/inside")[2] == b"let a = 1"
    status, head, body = get_file(ui, "/ui/assets/large.bin", "HEAD")
    assert (status, body, head["content-length"]) == (200, b"", "300000")
    assert get_file(ui, "/ui/", "POST")[0] == 405
    for changed in ({"If_None_Match": fields["etag"]}, {"If_None_Match": "W/" + fields["etag"]},
                    {"If_None_Match": '"x", ' + fields["etag"]}, {"If_None_Match": "*"},
                    {"If_Modified_Since": fields["last-modified"]}):
        status, answer, body = get_file(ui, "/ui/assets/app.js", **changed)
        assert (status, body) == (304, b"") and answer["etag"] == fields["etag"]
    assert get_file(ui, "/ui/assets/app.js", If_None_Match='"x"')[0] == 200


def test_k32_files_outside(ui):
    for path in ("/ui/../config.yaml", "/ui/%2e%2e/config.yaml", "/ui/..%2fconfig.yaml",
                 "/ui/assets/../../config.yaml", "/ui//etc/passwd", "/ui/%2fetc/passwd",
                 "/ui/outside", "/ui/up/config.yaml", "/ui/up/", "/ui/pipe", "/ui/assets/",
                 "/ui/index.html/", "/ui/nothing", "/ui/a%00b", "/ui/%zz", "/ui/./index.html"):
        status, _, body = get_file(ui, path)
        assert status == 404 and b"s3cret" not in body, path
    assert get_file(ui, "/version")[0] == 401, "the rest asks for the secret"


def test_files_on_one_connection(ui):
    connection = http.client.HTTPConnection("127.0.0.1", ui.controller, timeout=10)
    for path in ("/ui/", "/ui/nothing", "/ui/assets/large.bin", "/ui", "/ui/empty") * 2:
        connection.request("GET", path)
        connection.getresponse().read()
    assert connection.sock is not None
    connection.close()


def test_restart(culvert):
    process = culvert()
    pid = process.pid
    assert process.api.send("POST", "/restart") == (200, {"status": "ok"})
    wait_until(lambda: process.log().count("RESTful API listening") == 2, 10, "the second start")
    process.wait_ready(process.controller, process.mixed)
    assert process.pid == pid and process.is_running()
    assert process.api.get("/version")["meta"] is True
    assert process.descriptors() < 60, "nothing is left open"


def test_what_there_is_not(culvert):
    api = culvert().api
    for target in ("/configs/geo", "/upgrade", "/upgrade/geo", "/upgrade/ui"):
        status, body = api.send("POST", target)
        assert status == 501 and "not supported" in body["message"], target
    assert api.send("GET", "/dns/query?name=a.example&type=A")[0] == 501
    assert api.send("POST", "/cache/dns/flush") == (204, None)
    assert api.send("POST", "/cache/fakeip/flush") == (204, None)


def test_methods(culvert):
    api = culvert().api
    for target, allowed in (("/proxies/DIRECT", {"GET", "PUT", "DELETE"}), ("/rules", {"GET"}),
                            ("/configs", {"GET", "PUT", "PATCH"}), ("/restart", {"POST"}),
                            ("/connections", {"GET", "DELETE"}), ("/rules/disable", {"PATCH"})):
        status, fields, _ = api.ask(target, "TRACE")
        assert status == 405 and set(fields["allow"].split(", ")) == allowed, target
        status, fields, _ = api.ask(target, "OPTIONS", token=False, headers={
            "Origin": "https://metacubex.github.io", "Access-Control-Request-Method": "PATCH"})
        assert status == 204
        assert fields["access-control-allow-methods"] == "GET, POST, PUT, PATCH, DELETE"


def test_explain(culvert):
    process = culvert(rules=["DOMAIN,a.example,REJECT", "DST-PORT,8080,DIRECT", "MATCH,DIRECT"])
    api = process.api
    found = api.get("/culvert/explain?url=http://a.example/")
    assert (found["destination"], found["chain"]) == ("a.example:80", ["REJECT"])
    assert found["rule"]["type"] == "Domain" and found["rule"]["index"] == 0
    assert found["rejected"] is True and found["why"]
    assert set(found) == {"destination", "inbound", "admitted", "mode", "decidedBy", "subRules",
                          "resolved", "passed", "rule", "chain", "nodeType", "dialerChain",
                          "rejected", "why"}
    found = api.get("/culvert/explain?host=b.example&port=8080&network=udp&source=10.0.0.1"
                    "&inbound=DEFAULT-MIXED&user=u")
    assert found["rule"]["index"] == 1 and found["inbound"]["name"] == "DEFAULT-MIXED"
    for query in ("", "url=http://", "host=a.example", "host=a.example&port=0", "port=1",
                  "url=http://a.example/&network=sctp", "url=http://a.example/&source=here",
                  "url=http://a.example/&inbound=nobody"):
        status, body = api.send("GET", "/culvert/explain?" + query)
        assert status == 400 and body["message"], query


def test_sums(culvert, serve):
    process = culvert(authentication=["u:p"])
    with socks5(process.mixed, "127.0.0.1", serve(echo).port, "u", "p") as connection:
        connection.sendall(blob(5000))
        read_exactly(connection, 5000)
        moved = {"up": 5000, "down": 5000}
        sums = {"total": moved, "inbounds": {"DEFAULT-MIXED": moved}, "users": {"u": moved},
                "outbounds": {"DIRECT": moved}}
        # Bytes are counted when they have been sent: the client may have them a moment before.
        wait_until(lambda: process.api.get("/culvert/traffic") == sums, 10, "the sums")
