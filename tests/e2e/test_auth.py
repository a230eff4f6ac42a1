"""Users: authentication and skip-auth-prefixes."""
import pytest

from clients import (Refused, basic, connect, http_connect, read_head, read_response, read_to_end,
                     socks4a, socks5)
from servers import echo

USERS = ["u1:p:1", "u2:" + "x" * 200]
LONG = "x" * 200


@pytest.mark.parametrize("user,password", [("u1", "p:1"), ("u2", LONG)])
def test_right_credentials(culvert, curl, origin, user, password):
    process = culvert(authentication=USERS)
    for scheme in ("http", "socks5h"):
        got = curl.get("-U", f"{user}:{password}", origin.url("/bytes/5", "origin.example"),
                       proxy=f"{scheme}://127.0.0.1:{process.mixed}")
        assert len(got) == 5


@pytest.mark.parametrize("user,password", [("u1", "p:2"), ("u1", "p"), ("u1", ""), ("u2", "p:1"),
                                           ("nobody", "p:1"), ("u1", "p:1x"), ("", "")])
def test_wrong_credentials(culvert, serve, user, password):
    process = culvert(authentication=USERS)
    server = serve(echo)
    with pytest.raises((Refused, EOFError)) as refused:
        socks5(process.mixed, "127.0.0.1", server.port, user, password)
    if isinstance(refused.value, Refused):
        assert refused.value.code == "credentials"
    with pytest.raises(Refused) as refused:
        http_connect(process.mixed, "127.0.0.1", server.port, user, password)
    assert refused.value.code == 407
    assert not server.connections


def test_missing_credentials(culvert, serve, origin):
    process = culvert(authentication=USERS)
    server = serve(echo)
    with pytest.raises(Refused) as refused:
        socks5(process.mixed, "127.0.0.1", server.port)
    assert refused.value.code == 0xFF
    with pytest.raises(Refused):
        socks4a(process.mixed, "127.0.0.1", server.port)
    with connect(process.mixed) as connection:
        connection.sendall(f"GET {origin.url('/bytes/3')} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
        status, fields, _ = read_response(connection)
        assert status == 407
        assert fields["proxy-authenticate"].startswith("Basic realm=")
    assert not server.connections


@pytest.mark.parametrize("value", ["Basic", "Basic !!!", "Basic dTE6", "Bearer dTE6cDox",
                                   "Basic " + "A" * 5000, basic("u1", "p:1")[:-4]])
def test_malformed_credentials(culvert, origin, value):
    process = culvert(authentication=USERS)
    with connect(process.mixed) as connection:
        connection.sendall(f"GET {origin.url('/bytes/3')} HTTP/1.1\r\nHost: x\r\n"
                           f"Proxy-Authorization: {value}\r\n\r\n".encode())
        assert read_head(connection)[0] == 407


def test_each_request_is_judged_by_its_own_credentials(culvert, origin):
    process = culvert(authentication=USERS)
    with connect(process.mixed) as connection:
        for value, wanted in ((basic("u1", "p:1"), 200), (None, 407), (basic("u2", LONG), 200),
                              (basic("u1", "no"), 407), (basic("u1", "p:1"), 200)):
            request = f"GET {origin.url('/bytes/7')} HTTP/1.1\r\nHost: x\r\n"
            if value:
                request += f"Proxy-Authorization: {value}\r\n"
            connection.sendall(request.encode() + b"\r\n")
            status, _, body = read_response(connection)
            assert status == wanted
            assert len(body) == 7 or wanted == 407


def test_credentials_never_reach_the_origin(culvert, curl, origin):
    process = culvert(authentication=USERS)
    got = curl.get("-U", "u1:p:1", origin.url("/headers", "origin.example"),
                   proxy=f"http://127.0.0.1:{process.mixed}").decode().lower()
    assert "host: origin.example" in got
    assert "proxy-" not in got


def test_skipped_prefixes_need_none_but_know_the_user(culvert, serve):
    process = culvert(authentication=USERS, skip_auth_prefixes=["127.0.0.0/8"])
    server = serve(echo)
    with socks4a(process.mixed, "127.0.0.1", server.port):
        with socks5(process.mixed, "127.0.0.1", server.port, "u1", "p:1"):
            users = sorted(f["metadata"]["inboundUser"] for f in process.api.flows())
            assert users == ["", "u1"]


def test_other_prefixes_are_not_skipped(culvert, serve):
    process = culvert(authentication=USERS, skip_auth_prefixes=["192.0.2.0/24"])
    with pytest.raises(Refused):
        socks5(process.mixed, "127.0.0.1", serve(echo).port)


def test_a_second_try_on_the_same_connection_is_not_possible_over_socks(culvert, serve):
    process = culvert(authentication=USERS)
    server = serve(echo)
    with connect(process.mixed) as connection:
        connection.sendall(b"\x05\x01\x02\x01\x02u1\x05wrong" + b"\x01\x02u1\x03p:1" +
                           b"\x05\x01\x00\x01\x7f\x00\x00\x01" + server.port.to_bytes(2, "big"))
        try:
            assert read_to_end(connection) == b"\x05\x02\x01\x01"
        except ConnectionResetError:
            pass  # what it had not read yet
    assert not server.connections
