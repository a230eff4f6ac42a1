"""Names: the hosts file, dnsmasq as the name server, and servers that misbehave (K18)."""
import os
import socket
import subprocess
import time

import pytest

from clients import Refused, connect, http_connect, read_exactly, socks5, socks5_request
from conftest import require
from harness import wait_until
from servers import NameServer, dns_reply, echo

DNSMASQ_AT = "127.0.0.91"
SERVERS_AT = ("127.0.0.92", "127.0.0.93")


@pytest.fixture
def port_53():
    if os.geteuid() != 0:
        pytest.skip("listening on port 53 needs root")


@pytest.fixture
def name_server(port_53):
    """Makes name servers of our own, one on each of SERVERS_AT."""
    made = []

    def make(answer):
        made.append(NameServer(SERVERS_AT[len(made)], answer))
        return made[-1]

    yield make
    for server in made:
        server.stop()


@pytest.fixture
def dnsmasq(port_53, tmp_path):
    program = require("dnsmasq")
    log = tmp_path / "dnsmasq.log"
    many = tmp_path / "many"
    # An answer of some 1600 bytes.
    many.write_text("127.0.0.1 many.example\n" +
                    "".join(f"127.0.1.{i} many.example\n" for i in range(1, 100)))
    with open(log, "wb") as out:
        process = subprocess.Popen(
            [program, "--keep-in-foreground", "--conf-file=/dev/null", "--no-resolv", "--no-hosts",
             "--user=root", "--pid-file=", "--bind-interfaces", f"--listen-address={DNSMASQ_AT}",
             "--port=53", "--log-queries", "--log-facility=-", f"--addn-hosts={many}",
             "--host-record=a.example,127.0.0.1", "--host-record=six.example,::1",
             "--cname=alias.example,a.example", "--local=/example/", "--local-ttl=60"],
            stdin=subprocess.DEVNULL, stdout=out, stderr=out)
    wait_until(lambda: "started" in log.read_text() or process.poll() is not None, 5, "dnsmasq")
    assert process.poll() is None, log.read_text()
    process.queries = lambda name: log.read_text().count(f" {name} from ")
    yield process
    process.terminate()
    process.wait(5)


def resolving(culvert, *servers, options="timeout:1 attempts:2"):
    conf = "".join(f"nameserver {s}\n" for s in servers) + f"options {options}\n"
    return culvert(resolv_conf=conf, hosts="127.0.0.1 inhosts.example\n")


def works(process, name, server):
    with socks5(process.mixed, name, server.port) as connection:
        connection.sendall(b"ping")
        return read_exactly(connection, 4) == b"ping"


def test_names_from_dnsmasq(culvert, serve, dnsmasq):
    process = resolving(culvert, DNSMASQ_AT)
    server = serve(echo)
    assert works(process, "a.example", server)
    assert works(process, "A.Example", server)
    assert works(process, "alias.example", server)
    with pytest.raises(Refused) as refused:
        socks5(process.mixed, "absent.example", server.port)
    assert refused.value.code == 4
    with pytest.raises(Refused) as refused:
        http_connect(process.mixed, "absent.example", server.port)
    assert refused.value.code == 502


def test_answers_are_remembered(culvert, serve, dnsmasq):
    process = resolving(culvert, DNSMASQ_AT)
    server = serve(echo)
    assert works(process, "a.example", server)
    asked = dnsmasq.queries("a.example")
    assert asked >= 1
    for _ in range(5):
        assert works(process, "a.example", server)
    assert dnsmasq.queries("a.example") == asked


def test_an_answer_too_large_for_udp(culvert, dnsmasq, serve):
    question = b"\x04many\x07example\x00\x00\x01\x00\x01"
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.settimeout(5)
        probe.sendto(b"\x12\x34\x01\x00\x00\x01" + bytes(6) + question, (DNSMASQ_AT, 53))
        assert probe.recv(4096)[2] & 0x02, "dnsmasq truncates"
    process = resolving(culvert, DNSMASQ_AT)
    assert works(process, "many.example", serve(echo, "0.0.0.0"))  # any of the hundred will do


def test_truncation_leads_to_tcp(culvert, serve, name_server):
    dns = name_server(lambda query, tcp: dns_reply(
        query, addresses=("127.0.0.1",) if tcp else (), truncated=not tcp))
    process = resolving(culvert, SERVERS_AT[0])
    assert works(process, "big.example", serve(echo))
    assert dns.udp_queries >= 1 and dns.tcp_queries >= 1


def test_the_hosts_file_comes_first(culvert, serve, name_server):
    dns = name_server(lambda query, tcp: dns_reply(query, addresses=("127.0.0.77",)))
    process = resolving(culvert, SERVERS_AT[0])
    assert works(process, "inhosts.example", serve(echo))
    assert works(process, "INHOSTS.example", serve(echo))
    assert dns.udp_queries == 0


def answer_for_another_name(query, _):
    return dns_reply(query.replace(b"\x01a\x07example", b"\x01b\x07example"),
                     addresses=("127.0.0.66",))


def wrong_id(query, _):
    return bytes((query[0] ^ 1,)) + dns_reply(query, addresses=("127.0.0.66",))[1:]


FAULTS = {
    "refused": lambda query, tcp: dns_reply(query, rcode=5),
    "servfail": lambda query, tcp: dns_reply(query, rcode=2),
    "garbage": lambda query, tcp: b"\xff" * 40,
    "short": lambda query, tcp: query[:7],
    "cut": lambda query, tcp: dns_reply(query, addresses=("127.0.0.66",))[:-3],
    "silent": lambda query, tcp: None,
    "another-name": answer_for_another_name,
    "wrong-id": wrong_id,
}


@pytest.mark.parametrize("fault", FAULTS)
def test_the_next_server_is_asked(culvert, serve, name_server, fault):
    name_server(FAULTS[fault])
    good = name_server(lambda query, tcp: dns_reply(query, addresses=("127.0.0.1",)))
    process = resolving(culvert, *SERVERS_AT)
    start = time.monotonic()
    assert works(process, "a.example", serve(echo))
    assert time.monotonic() - start < 4
    assert good.udp_queries >= 1


@pytest.mark.parametrize("rcode,addresses", [(0, ()), (3, ())], ids=["empty", "nxdomain"])
def test_no_address_is_final(culvert, serve, name_server, rcode, addresses):
    name_server(lambda query, tcp: dns_reply(query, rcode, addresses))
    second = name_server(lambda query, tcp: dns_reply(query, addresses=("127.0.0.1",)))
    process = resolving(culvert, *SERVERS_AT)
    with pytest.raises(Refused) as refused:
        socks5(process.mixed, "a.example", serve(echo).port)
    assert refused.value.code == 4
    assert second.udp_queries == 0


def test_all_servers_silent_is_bounded(culvert, serve, name_server):
    name_server(FAULTS["silent"])
    process = resolving(culvert, SERVERS_AT[0])
    start = time.monotonic()
    with pytest.raises(Refused):
        socks5(process.mixed, "a.example", serve(echo).port, seconds=15)
    assert time.monotonic() - start < 7
    assert works(process, "inhosts.example", serve(echo))


def test_a_silent_name_holds_up_nobody_else(culvert, serve, name_server):
    def answer(query, _):
        return None if b"\x04slow" in query else dns_reply(query, addresses=("127.0.0.1",))

    name_server(answer)
    process = resolving(culvert, SERVERS_AT[0])
    server = serve(echo)
    with connect(process.mixed) as waiting:
        waiting.sendall(b"\x05\x01\x00" + socks5_request("slow.example", server.port))
        read_exactly(waiting, 2)
        start = time.monotonic()
        assert works(process, "quick.example", server)
        assert time.monotonic() - start < 1
