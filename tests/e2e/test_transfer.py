"""Bytes through every way in, with curl as the client."""
import hashlib

import pytest

from clients import all_at_once
from servers import blob

SIZE = 8 << 20
DIGEST = hashlib.sha256(blob(SIZE)).hexdigest()

# (listener, curl's scheme, further arguments); -p makes curl use CONNECT for plain HTTP.
WAYS = [
    ("mixed", "http", ()),
    ("mixed", "http", ("-p",)),
    ("mixed", "socks4a", ()),
    ("mixed", "socks5", ()),
    ("mixed", "socks5h", ()),
    ("http", "http", ()),
    ("http", "http", ("-p",)),
    ("socks", "socks4a", ()),
    ("socks", "socks5h", ()),
]


@pytest.mark.parametrize("listener,scheme,extra", WAYS,
                         ids=["-".join((w[0], w[1], *w[2])) for w in WAYS])
def test_moves_8_mib_both_ways(culvert, curl, origin, listener, scheme, extra, tmp_path):
    process = culvert(port=True, socks_port=True)
    proxy = f"{scheme}://127.0.0.1:{getattr(process, listener)}"
    # With socks5:// curl resolves names itself.
    host = "127.0.0.1" if scheme == "socks5" else "origin.example"
    down = tmp_path / "down"
    curl.get(origin.url(f"/bytes/{SIZE}", host), "-o", str(down), *extra, proxy=proxy)
    assert hashlib.sha256(down.read_bytes()).hexdigest() == DIGEST
    up = curl.get(origin.url("/sha256", host), "-T", str(down), "-H", "Expect:", *extra, proxy=proxy)
    assert up.decode() == DIGEST


def test_uploads_in_chunks(culvert, curl, origin):
    process = culvert()
    body = blob(300_000)
    got = curl.get(origin.url("/sha256", "origin.example"), "-T", "-", data=body,
                   proxy=f"http://127.0.0.1:{process.mixed}")
    assert got.decode() == hashlib.sha256(body).hexdigest()


def test_answers_expect_100_continue(culvert, curl, origin):
    process = culvert()
    body = blob(200_000)
    done = curl.run("-v", "--data-binary", "@-", "-H", "Expect: 100-continue",
                    origin.url("/sha256", "origin.example"), data=body,
                    proxy=f"http://127.0.0.1:{process.mixed}")
    assert done.stdout.decode() == hashlib.sha256(body).hexdigest()
    assert b"< HTTP/1.1 100 Continue" in done.stderr


def test_body_without_length_ends_with_the_connection(culvert, curl, origin):
    process = culvert()
    got = curl.get(origin.url("/without-length", "origin.example"),
                   proxy=f"http://127.0.0.1:{process.mixed}")
    assert got == blob(100_000)


def test_head_has_no_body(culvert, curl, origin):
    process = culvert()
    got = curl.get("-I", origin.url("/bytes/1", "origin.example"),
                   proxy=f"http://127.0.0.1:{process.mixed}", seconds=5)
    assert b"Content-Length: 12345" in got


def test_plain_requests_share_a_connection(culvert, curl, origin):
    process = culvert()
    urls = [origin.url(f"/bytes/{n}", "origin.example") for n in (10, 20, 30)]
    got = curl.get(*(a for url in urls for a in ("-o", "/dev/null", url)), "-w", "%{num_connects} ",
                   proxy=f"http://127.0.0.1:{process.mixed}")
    assert got.decode().split() == ["1", "0", "0"]


def test_many_at_once(culvert, curl, origin):
    process = culvert()
    url = origin.url("/bytes/100000", "origin.example")
    wanted = blob(100_000)
    proxies = [f"{scheme}://127.0.0.1:{process.mixed}" for scheme in ("http", "socks5h", "socks4a")]
    got = all_at_once([lambda p=proxies[i % 3]: curl.get(url, proxy=p) for i in range(48)])
    assert all(body == wanted for body in got)
