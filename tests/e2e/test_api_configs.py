"""General settings, reloads and rules over the API (case K33)."""
import json

import pytest

from clients import Refused, all_at_once, read_exactly, socks5
from harness import free_port, profile, wait_until
from servers import blob, echo


def payload(process, **keys):
    return profile(**{"mixed_port": process.mixed, "secret": process.secret,
                      "external_controller": f"127.0.0.1:{process.controller}",
                      "rules": ["MATCH,DIRECT"], **keys})


def is_open(port):
    try:
        socks5(port, "127.0.0.1", 1).close()
    except ConnectionRefusedError:
        return False
    except Exception:  # a listener that says no is one
        return True
    return True


def test_general_settings(culvert):
    process = culvert(socks_port=True, ipv6=False, log_level="warning")
    configs = process.api.get("/configs")
    assert configs["mixed-port"] == process.mixed
    assert configs["socks-port"] == process.socks
    for key in ("port", "redir-port", "tproxy-port"):
        assert configs[key] == 0
    assert configs["mode"] == "rule" and configs["log-level"] == "warning"
    assert configs["ipv6"] is False and configs["allow-lan"] is False
    assert configs["bind-address"] == "*" and configs["authentication"] is None
    assert configs["tun"]["enable"] is False and configs["find-process-mode"] == "off"
    assert set(configs["geox-url"]) == {"geo-ip", "mmdb", "asn", "geo-site"}
    for key in ("skip-auth-prefixes", "lan-allowed-ips", "lan-disallowed-ips", "inbound-tfo",
                "inbound-mptcp", "unified-delay", "interface-name", "routing-mark",
                "tcp-concurrent", "sniffing", "global-client-fingerprint", "global-ua",
                "etag-support", "geodata-mode", "tuic-server", "ss-config", "vmess-config"):
        assert key in configs, key


@pytest.fixture
def download(culvert, serve):
    """A process and a flow through it that goes on."""
    process = culvert()
    with socks5(process.mixed, "127.0.0.1", serve(echo).port) as connection:
        def goes_on():
            connection.sendall(blob(5000))
            return read_exactly(connection, 5000) == blob(5000)

        process.goes_on = goes_on
        assert goes_on()
        yield process


def test_k33_reloads(download):
    api = download.api
    assert api.send("PUT", "/configs?force=true", {"path": "", "payload": ""}) == (204, None)
    assert download.goes_on()
    text = payload(download, rules=["DOMAIN,a.example,REJECT", "MATCH,DIRECT"])
    assert api.send("PUT", "/configs", {"payload": text}) == (204, None)
    assert [r["type"] for r in api.get("/rules")["rules"]] == ["Domain", "Match"]
    path = download.home / "other.yaml"
    path.write_text(payload(download))
    assert api.send("PUT", "/configs", {"path": str(path)}) == (204, None)
    assert len(api.get("/rules")["rules"]) == 1
    assert api.send("PATCH", "/configs", {"mode": "Direct"}) == (204, None)
    assert api.get("/configs")["mode"] == "direct"
    assert download.goes_on()


def test_k33_bad_profiles(download):
    api = download.api
    before = api.get("/configs")
    status, answer = api.send("PUT", "/configs",
                              {"payload": payload(download) + "mode: upside-down\n"})
    lines = payload(download).count("\n") + 1
    assert status == 400 and f":{lines}:" in answer["message"], answer
    assert api.send("PUT", "/configs", {"path": "config.yaml"}) == (
        400, {"message": "path is not a absolute path"})
    status, answer = api.send("PUT", "/configs", {"path": "/etc/passwd"})
    assert status == 400 and "SAFE_PATHS" in answer["message"] and "root" not in answer["message"]
    # Nothing of the controller's comes from a client.
    status, _ = api.send("PUT", "/configs", {"payload": "secret: other\nmixed-port: %d\n"
                                             "rules: ['MATCH,DIRECT']" % download.mixed})
    assert status == 204 and api.send("GET", "/version")[0] == 200
    assert api.send("PUT", "/configs", {"path": "/nowhere/at/all.yaml"})[0] == 400
    for body in ([], {"path": 7}, {"payload": {}}, "text"):
        assert api.send("PUT", "/configs", body) == (400, {"message": "Body invalid"}), body
    assert api.send("PUT", "/configs") == (400, {"message": "Body invalid"})
    taken = payload(download, socks_port=download.controller)
    assert api.send("PUT", "/configs", {"payload": taken})[0] == 400
    assert api.get("/configs") == before and download.goes_on()


def test_k33_patches(download):
    api = download.api
    old, new = download.mixed, free_port()
    assert api.send("PATCH", "/configs", {"mixed-port": new, "unknown": 1}) == (204, None)
    assert is_open(new) and not is_open(old)
    assert download.goes_on(), "its listener is gone, it is not"
    port = free_port()
    assert api.send("PATCH", "/configs", {"mixed-port": 0, "socks-port": port}) == (204, None)
    assert is_open(port) and not is_open(new)
    configs = api.get("/configs")
    assert (configs["mixed-port"], configs["socks-port"]) == (0, port)
    changes = {"log-level": "debug", "ipv6": False, "tcp-concurrent": True, "allow-lan": True,
               "bind-address": "127.0.0.1", "skip-auth-prefixes": ["10.0.0.0/8"],
               "lan-allowed-ips": ["127.0.0.0/8"], "lan-disallowed-ips": ["127.0.0.9/32"]}
    assert api.send("PATCH", "/configs", changes) == (204, None)
    configs = api.get("/configs")
    assert {key: configs[key] for key in changes} == changes
    assert download.goes_on()


def test_k33_bad_patches_change_nothing(download):
    api = download.api
    before = api.get("/configs")
    for change in ({"log-level": "loud"}, {"mode": "upside-down"}, {"mode": 1}, {"ipv6": "yes"},
                   {"mixed-port": 65536}, {"mixed-port": -1}, {"port": "80"},
                   {"skip-auth-prefixes": ["nobody"]}, {"lan-allowed-ips": "127.0.0.1/8"},
                   {"bind-address": "everywhere"}, {"interface-name": "much-too-long-a-name"},
                   {"tun": {"enable": True}}, {"tun": {"mtu": 1400}}, {"redir-port": 1},
                   {"tproxy-port": 1}, {"ss-config": "ss://"}, {"vmess-config": "x"},
                   {"tuic-server": {"enable": True}}, {"sniffing": True},
                   {"find-process-mode": "always"}, {"socks-port": download.mixed}, []):
        mixed = {**change, "mode": "direct"} if change and "mode" not in change else change
        status, answer = api.send("PATCH", "/configs", mixed)
        assert status == 400 and answer["message"], (change, answer)
        assert api.get("/configs") == before, change
    assert api.send("PATCH", "/configs", {"tun": {"enable": True}})[1]["message"].startswith(
        "tun is not supported")
    off = {"tun": {"enable": False, "mtu": 1400}, "redir-port": 0, "tproxy-port": 0,
           "ss-config": "", "tuic-server": {"enable": False}, "sniffing": False,
           "find-process-mode": "off", "mode": None}
    assert api.send("PATCH", "/configs", off) == (204, None)
    assert api.get("/configs") == before and download.goes_on()


def test_k33_many_at_once(download):
    api = download.api
    texts = [payload(download, rules=[f"DOMAIN,{i}.example,REJECT"] * (i + 1) + ["MATCH,DIRECT"])
             for i in range(6)]
    jobs = [lambda text=text: api.send("PUT", "/configs", {"payload": text}) for text in texts]
    assert all_at_once(jobs) == [(204, None)] * len(jobs)
    rules = api.get("/rules")["rules"]
    assert len({rule["payload"] for rule in rules}) == 2, "one of them, as a whole"
    assert len(rules) == int(rules[0]["payload"].split(".")[0]) + 2
    assert download.goes_on()


def test_rules(culvert, serve):
    process = culvert(rules=["DOMAIN,never.example,REJECT", "IP-CIDR,127.0.0.0/8,DIRECT,no-resolve",
                             "MATCH,REJECT"])
    rules = process.api.get("/rules")["rules"]
    never = "0001-01-01T00:00:00Z"
    nothing = {"disabled": False, "hitCount": 0, "hitAt": never, "missCount": 0, "missAt": never}
    assert rules == [
        {"index": 0, "type": "Domain", "payload": "never.example", "proxy": "REJECT", "size": -1,
         "extra": nothing},
        {"index": 1, "type": "IPCIDR", "payload": "127.0.0.0/8", "proxy": "DIRECT", "size": -1,
         "extra": nothing},
        {"index": 2, "type": "Match", "payload": "", "proxy": "REJECT", "size": -1,
         "extra": nothing}]
    with socks5(process.mixed, "127.0.0.1", serve(echo).port):
        wait_until(lambda: process.api.get("/rules")["rules"][1]["extra"]["hitCount"] == 1, 5,
                   "the hit")
    extra = [rule["extra"] for rule in process.api.get("/rules")["rules"]]
    assert extra[0]["missCount"] == 1 and extra[0]["missAt"] > "2020"
    assert extra[1]["hitAt"] > "2020" and extra[2] == nothing


def test_rules_are_disabled(download):
    api = download.api
    text = payload(download, rules=["DOMAIN,origin.example,REJECT", "MATCH,DIRECT"])
    assert api.send("PUT", "/configs", {"payload": text})[0] == 204
    assert api.send("PATCH", "/rules/disable", {"0": True, "77": True}) == (204, None)
    assert [r["extra"]["disabled"] for r in api.get("/rules")["rules"]] == [True, False]
    explained = api.get("/culvert/explain?url=http://origin.example/")
    assert explained["rule"]["index"] == 1 and explained["chain"] == ["DIRECT"]
    assert api.send("PATCH", "/rules/disable", {"0": False}) == (204, None)
    assert api.get("/culvert/explain?url=http://origin.example/")["rule"]["index"] == 0
    for body in ({"x": True}, {"0": 1}, {"-1": True}, [], None):
        assert api.send("PATCH", "/rules/disable", body) == (400, {"message": "Body invalid"})
    assert download.goes_on()


def test_many_rules(culvert):
    rules = [f"DOMAIN,{i}.example,REJECT" for i in range(20_000)] + ["MATCH,DIRECT"]
    process = culvert(rules=rules)
    status, fields, body = process.api.ask("/rules")
    assert status == 200 and fields["transfer-encoding"] == "chunked"
    listed = json.loads(body)["rules"]
    assert [r["index"] for r in listed] == list(range(len(rules)))
    assert listed[19_999]["payload"] == "19999.example"


def test_a_patch_reaches_nodes_that_are_there(culvert, serve):
    upstream = culvert(external_controller=None, secret=None)
    process = culvert(proxies=[{"name": "A", "type": "socks5", "server": "127.0.0.1",
                                "port": upstream.mixed}], rules=["MATCH,A"])
    server = serve(echo)

    def works():
        with socks5(process.mixed, "127.0.0.1", server.port) as connection:
            connection.sendall(b"ping")
            return read_exactly(connection, 4) == b"ping"

    assert works()
    assert process.api.send("PATCH", "/configs", {"interface-name": "nowhere0"}) == (204, None)
    with pytest.raises(Refused):
        works()
    assert process.api.send("PATCH", "/configs", {"interface-name": ""}) == (204, None)
    assert works()
