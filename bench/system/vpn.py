"""Tunnels between two network namespaces that a veth pair joins: a daemon in each, iperf3 through
them, as qeli's own benchmarks are made. Needs root, iproute2 and iperf3."""
import contextlib
import json
import os
import re
import subprocess
import time

from system import loads, peers, processes

UNDER = {"a": "10.77.0.1", "b": "10.77.0.2"}
INNER = {"a": "10.78.0.1", "b": "10.78.0.2"}
OTHER = {"a": "b", "b": "a"}
MTU = 1400
UDP_OFFERED_MBIT = 500
UDP_PAYLOAD = 1350


def missing():
    """Why no tunnel can be measured here; empty when one can."""
    if os.geteuid() != 0:
        return "not root"
    lacking = [p for p in ("ip", "iperf3", "ping") if not processes.find(p)]
    return f"missing {', '.join(lacking)}" if lacking else ""


def command(*words, check=True, timeout=60):
    return subprocess.run(words, check=check, capture_output=True, text=True, timeout=timeout,
                          env=processes.ENVIRONMENT)


class Link:
    """The two namespaces, "a" and "b"."""

    def __init__(self):
        self.names = {end: f"culvert-bench-{os.getpid()}{end}" for end in "ab"}

    def __enter__(self):
        try:
            for end in "ab":
                command("ip", "netns", "add", self.names[end])
                self.within(end, "ip", "link", "set", "lo", "up")
            command("ip", "link", "add", "under", "netns", self.names["a"], "type", "veth", "peer",
                    "name", "under", "netns", self.names["b"])
            for end in "ab":
                self.within(end, "ip", "addr", "add", f"{UNDER[end]}/24", "dev", "under")
                self.within(end, "ip", "link", "set", "under", "up")
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for name in self.names.values():
            command("ip", "netns", "del", name, check=False)

    def prefix(self, end):
        return ["ip", "netns", "exec", self.names[end]]

    def within(self, end, *words, check=True, timeout=60):
        return command(*self.prefix(end), *words, check=check, timeout=timeout)

    def round_trip_ms(self, address):
        said = self.within("a", "ping", "-q", "-c", "50", "-i", "0.01", address, check=False).stdout
        found = re.search(r"= [\d.]+/([\d.]+)/", said)
        return float(found[1]) if found else None

    def iperf(self, address, *options):
        done = self.within("a", "iperf3", "-c", address, "-J", *options, check=False)
        with contextlib.suppress(ValueError):
            result = json.loads(done.stdout)
            if "error" not in result:
                return result["end"]
            raise loads.LoadFailed(f"iperf3: {result['error']}")
        raise loads.LoadFailed(f"iperf3: {done.stderr.strip() or 'no result'}")


def wireguard(setup, link):
    program = peers.PROGRAMS["wireguard-go"]
    wg = program.path("wg")
    secret, public, device = {}, {}, {}
    for end in "ab":
        secret[end] = command(wg, "genkey").stdout.strip()
        public[end] = subprocess.run([wg, "pubkey"], input=secret[end], capture_output=True,
                                     text=True, check=True).stdout.strip()
        device[end] = f"wgb{os.getpid() % 100000}{end}"
    for end in "ab":
        setup.spawn(f"daemon-{end}", [*link.prefix(end), program.path("wireguard-go"), "-f",
                                      device[end]])
        control = f"/var/run/wireguard/{device[end]}.sock"
        until = time.monotonic() + 5
        while not os.path.exists(control) and time.monotonic() < until:
            time.sleep(0.02)
        there = OTHER[end]
        settings = setup.write(device[end], f"""[Interface]
PrivateKey = {secret[end]}
ListenPort = 51820
[Peer]
PublicKey = {public[there]}
AllowedIPs = {INNER[there]}/32
Endpoint = {UNDER[there]}:51820
""")
        link.within(end, wg, "setconf", device[end], settings)
        link.within(end, "ip", "addr", "add", f"{INNER[end]}/24", "dev", device[end])
        link.within(end, "ip", "link", "set", device[end], "mtu", str(MTU), "up")


def openvpn(setup, link):
    program = peers.PROGRAMS["openvpn"]
    pair, print_of = {}, {}
    for end in "ab":
        pair[end] = (setup.path(f"{end}.pem"), setup.path(f"{end}.key"))
        processes.make_certificate(*pair[end], f"{end}.test")
        said = command("openssl", "x509", "-noout", "-fingerprint", "-sha256", "-in", pair[end][0])
        print_of[end] = said.stdout.split("=")[1].strip()
    for end in "ba":
        role = ["--tls-server", "--dh", "none"] if end == "b" else [
            "--tls-client", "--remote", UNDER["b"]]
        setup.spawn(f"daemon-{end}", [
            *link.prefix(end), program.path(), "--dev", "tun0", "--dev-type", "tun", "--proto",
            "udp", "--port", "1194", "--ifconfig", INNER[end], INNER[OTHER[end]], *role, "--cert",
            pair[end][0], "--key", pair[end][1], "--peer-fingerprint", print_of[OTHER[end]],
            "--data-ciphers", "AES-256-GCM", "--tun-mtu", str(MTU), "--sndbuf", "2097152",
            "--rcvbuf", "2097152", "--allow-compression", "no"])


QELI_PORT = 4443


def qeli(setup, link, mode):
    """Every extra that a mode does not need is off: no padding, no heartbeat, no web panel."""
    program = peers.PROGRAMS["qeli"].path()
    tunnel = "\n".join(
        ["[profile:bench]", "enabled = true", "bind.address = 0.0.0.0", f"bind.port = {QELI_PORT}",
         "bind.transport = tcp", "tun.name = qeli0", f"tun.address = {INNER['b']}",
         f"tun.mtu = {MTU}", "pool.cidr = 10.78.0.0/24", "routing.nat.enabled = false",
         "dns.enabled = false", f"obf.mode = {mode}", "obf.padding.enabled = false",
         "obf.heartbeat.enabled = false", f"identity_key = {setup.path('identity.key')}"])
    server = setup.write("server.conf", f"""[auth]
users_file = {setup.path('users.conf')}
require_client_key_proof = false
bind_static_to_session = true
[web]
enabled = false
[logging]
level = warn
{tunnel}
""")
    setup.write("users.conf", "")
    subprocess.run([program, "add-client", "bench", "--password-stdin", "--static-ip", INNER["a"],
                    "-c", server], input=peers.PASSWORD, text=True, check=True,
                   capture_output=True)
    said = command(program, "show-identity", "-c", server).stdout
    key = re.search(r"\b[0-9a-f]{64}\b", said)
    if key is None:
        raise loads.LoadFailed(f"qeli shows no identity: {said.strip()}")
    setup.spawn("daemon-b", [*link.prefix("b"), program, "server", "-c", server])
    client = setup.write("client.conf", f"""[qeli]
server = {UNDER['b']}:{QELI_PORT}
proto = tcp
user = bench
pass = {peers.PASSWORD}
key = {key[0]}
bind_static = true
mode = {mode}
dev = qeli0
mtu = 0
gateway = false
[logging]
level = warn
""")
    until = time.monotonic() + 10
    while not link.within("b", "ss", "-Hltn", "sport", "=", f":{QELI_PORT}", check=False).stdout:
        if time.monotonic() > until:
            raise loads.LoadFailed(f"qeli does not listen: {setup.last_words()}")
        time.sleep(0.05)
    setup.spawn("daemon-a", [*link.prefix("a"), program, "client", "-c", client])


TUNNELS = {
    "wireguard-go/vpn": wireguard,
    "openvpn/vpn": openvpn,
    "qeli/plain": lambda setup, link: qeli(setup, link, "plain"),
    "qeli/fake-tls": lambda setup, link: qeli(setup, link, "fake-tls"),
}


def measure(name, seconds):
    """One tunnel, or "veth" for the bare link. Mbit/s both ways, CPU of both daemons, the loss of
    UDP, memory and the round trip added."""
    with Link() as link, processes.Setup() as setup:
        if name == "veth":
            far = UNDER["b"]
        else:
            far = INNER["b"]
            TUNNELS[name](setup, link)
        until = time.monotonic() + 15
        while link.within("a", "ping", "-c", "1", "-W", "1", far, check=False).returncode != 0:
            if time.monotonic() > until:
                raise loads.LoadFailed(f"no way through: {setup.last_words()}")
        record = {}
        if setup.roles:
            time.sleep(2)
            record["idle_mib"] = max(
                processes.memory_kib(pid)["rss"] for pid in setup.roles.values()) / 1024
        server = subprocess.Popen([*link.prefix("b"), "iperf3", "-s"], stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL, start_new_session=True)
        try:
            until = time.monotonic() + 5
            while not link.within("b", "ss", "-Hltn", "sport", "=", ":5201", check=False).stdout:
                if time.monotonic() > until:
                    raise loads.LoadFailed("iperf3 does not listen")
                time.sleep(0.02)
            bare = link.round_trip_ms(UNDER["b"])
            through = link.round_trip_ms(far)
            if bare is not None and through is not None:
                record["rtt_added_ms"] = max(0.0, through - bare)
            raw = link.iperf(UNDER["b"], "-t", "1", "-M", "1300")["sum_received"]
            record["raw"] = record["veth_mbit_s"] = raw["bits_per_second"] / 1e6
            for direction, option in (("up", []), ("down", ["-R"])):
                cpu = setup.cpu()
                end = link.iperf(far, "-t", str(seconds), *option)["sum_received"]
                record[f"{direction}_mbit_s"] = end["bits_per_second"] / 1e6
                if setup.roles:
                    record[f"{direction}_cpu_s_per_gib"] = (
                        (setup.cpu() - cpu) / (end["bytes"] / loads.GIB))
            datagrams = link.iperf(far, "-u", "-b", f"{UDP_OFFERED_MBIT}M", "-l", str(UDP_PAYLOAD),
                                   "-t", str(seconds))["sum"]
            record["udp_lost_percent"] = datagrams["lost_percent"]
            if setup.roles:
                record["loaded_mib"] = max(
                    processes.memory_kib(pid)["rss"] for pid in setup.roles.values()) / 1024
        finally:
            processes.stop(server)
        return record
