"""The programs that are measured, and how each is started.

A way of starting is a function of a processes.Setup that starts what is needed, waits until it
listens and returns an endpoint: `proxy` is none, socks5 or http; `via` the proxy's address; `target`
the address to connect to instead of the far end; `dns` a name server's address with `names`, a file
of names it knows. It is registered as "program/way".
"""
import json
import os

from system import processes

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PASSWORD = "bench-password"
USER = "b831381d-6324-4d53-ad4f-8cda48b30811"
NAMES = [f"h{i}.bench.test" for i in range(100)]


class Program:
    """Found through an environment variable or on PATH."""

    def __init__(self, name, title=None, variable=None, files=None, package=None):
        self.name = name
        self.title = title or name
        self.variable = variable or name.upper().replace("-", "_")
        self.files = files or [name]
        self.package = package

    def path(self, file=None):
        named = os.environ.get(self.variable)
        if named and file in (None, self.files[0]):
            return processes.find(named)
        return processes.find(file or self.files[0])

    def missing(self):
        """Why it cannot be started; empty when it can."""
        if all(self.path(file) for file in self.files):
            return ""
        hint = f"Debian's {self.package}" if self.package else f"on PATH or in {self.variable}"
        return f"missing ({hint})"


class Culvert(Program):
    def path(self, file=None):
        return os.environ.get("CULVERT") or os.path.join(ROOT, "build", "release", "culvert")

    def missing(self):
        return "" if os.access(self.path(), os.X_OK) else f"missing ({self.path()})"


PROGRAMS = {p.name: p for p in (
    Culvert("culvert", "Culvert"),
    Program("aster", "Aster"),
    Program("mihomo"),
    Program("sing-box"),
    Program("xray", "Xray"),
    Program("v2ray", package="v2ray"),
    Program("shadowsocks-libev", files=["ss-server", "ss-local"], package="shadowsocks-libev"),
    Program("trojan", package="trojan"),
    Program("dante", files=["danted"], package="dante-server"),
    Program("microsocks", package="microsocks"),
    Program("haproxy", package="haproxy"),
    Program("dnsmasq", package="dnsmasq-base"),
    Program("unbound", package="unbound"),
    Program("wireguard-go", files=["wireguard-go", "wg"], package="wireguard-go wireguard-tools"),
    Program("openvpn", "OpenVPN", package="openvpn"),
    Program("qeli"),
)}
STARTS = {}


def start_of(*names):
    def register(function):
        for name in names:
            STARTS[name] = function
        return function
    return register


def program_of(name):
    return PROGRAMS[name.split("/")[0]]


def title(name):
    """As tables name it; qeli takes part in several ways at once."""
    program = program_of(name)
    return f"{program.title} {name.split('/')[1]}" if program.name == "qeli" else program.title


def start(name, setup, **options):
    """Starts "program/way" in the setup and returns its endpoint."""
    return STARTS[name](setup, program_of(name), name.split("/", 1)[1], **options)


def socks5(port):
    return {"proxy": "socks5", "via": f"127.0.0.1:{port}"}


# Culvert, and what reads the same profile.

def clash_profile(port, rules=(), **keys):
    settings = {"socks-port": port, "bind-address": "127.0.0.1", "allow-lan": False, "mode": "rule",
                "log-level": "warning", "ipv6": False, **keys}
    text = "".join(f"{key}: {json.dumps(value)}\n" for key, value in settings.items())
    return text + "rules:\n" + "".join(f"  - {rule}\n" for rule in (*rules, "MATCH,DIRECT"))


@start_of("culvert/direct", "culvert/names", "culvert/budget")
def culvert(setup, program, way, rules=()):
    port = setup.port()
    own = {"workers": 2, **({"buffer-budget": "64MiB"} if way == "budget" else {})}
    profile = clash_profile(port, rules, culvert=own)
    setup.write("hosts", "127.0.0.1 localhost\n")
    setup.write("resolv.conf", f"nameserver {NAME_SERVER}\n" if way == "names" else "")
    setup.spawn("proxy", [program.path(), "-d", setup.folder, "-f", setup.write("c.yaml", profile)],
                {"CULVERT_HOSTS_FILE": setup.path("hosts"),
                 "CULVERT_RESOLV_CONF": setup.path("resolv.conf")})
    setup.wait_listening(port)
    return socks5(port)


@start_of("aster/direct", "mihomo/direct", "aster/names", "mihomo/names")
def mihomo(setup, program, way, rules=()):
    port = setup.port()
    keys = {"geo-auto-update": False, "profile": {"store-selected": False, "store-fake-ip": False}}
    if way == "names":
        keys["dns"] = {"enable": True, "ipv6": False, "enhanced-mode": "normal",
                       "nameserver": [NAME_SERVER], "default-nameserver": [NAME_SERVER]}
    setup.spawn("proxy", [program.path(), "-d", setup.folder, "-f",
                          setup.write("c.yaml", clash_profile(port, rules, **keys))])
    setup.wait_listening(port)
    return socks5(port)


# Where "names" asks: 53 is the only port that resolv.conf can say, so an address of its own.
NAME_SERVER = "127.0.53.53"


def name_server(setup):
    """dnsmasq on NAME_SERVER, which knows every name below bench.test."""
    setup.spawn("name-server", [
        PROGRAMS["dnsmasq"].path(), "-k", "-C", "/dev/null", "--port=53", "--user=root",
        f"--listen-address={NAME_SERVER}", "--bind-interfaces", "--no-resolv", "--no-hosts",
        f"--pid-file={setup.path('dnsmasq.pid')}", "--cache-size=0", "--local-ttl=3600",
        "--address=/bench.test/127.0.0.1", "--log-facility=-"])


# Other proxies.

@start_of("sing-box/direct")
def sing_box(setup, program, _way):
    port = setup.port()
    settings = {
        "log": {"disabled": True},
        "inbounds": [{"type": "mixed", "listen": "127.0.0.1", "listen_port": port}],
        "outbounds": [{"type": "direct"}],
    }
    setup.spawn("proxy", [program.path(), "run", "-c", setup.write("c.json", json.dumps(settings))])
    setup.wait_listening(port)
    return socks5(port)


@start_of("xray/direct")
def xray(setup, program, _way):
    port = setup.port()
    settings = {
        "log": {"loglevel": "none"},
        "inbounds": [v2ray_socks(port)],
        "outbounds": [{"protocol": "freedom", "settings": {}}],
    }
    setup.spawn("proxy", [program.path(), "run", "-c", setup.write("c.json", json.dumps(settings))])
    setup.wait_listening(port)
    return socks5(port)


@start_of("microsocks/direct")
def microsocks(setup, program, _way):
    port = setup.port()
    setup.spawn("proxy", [program.path(), "-i", "127.0.0.1", "-p", str(port)])
    setup.wait_listening(port)
    return socks5(port)


@start_of("dante/direct")
def dante(setup, program, _way):
    port = setup.port()
    settings = setup.write("danted.conf", f"""logoutput: stderr
errorlog: stderr
internal: 127.0.0.1 port = {port}
external: lo
socksmethod: none
clientmethod: none
user.privileged: root
user.unprivileged: nobody
client pass {{ from: 127.0.0.0/8 to: 0.0.0.0/0 }}
socks pass {{ from: 127.0.0.0/8 to: 127.0.0.0/8 }}
""")
    setup.spawn("proxy", [program.path(), "-f", settings, "-p", setup.path("danted.pid")])
    setup.wait_listening(port)
    return socks5(port)


@start_of("haproxy/direct")
def haproxy(setup, program, _way, far=None):
    """It forwards to one address; there is no proxy protocol to speak."""
    port = setup.port()
    settings = setup.write("haproxy.cfg", f"""global
  maxconn 8000
  nbthread 2
defaults
  mode tcp
  timeout connect 5s
  timeout client 120s
  timeout server 120s
listen far
  bind 127.0.0.1:{port}
  server far {far.address}
""")
    setup.spawn("proxy", [program.path(), "-db", "-f", settings])
    setup.wait_listening(port)
    return {"proxy": "none", "target": f"127.0.0.1:{port}"}


SHADOWSOCKS = {"ss-aes": "aes-256-gcm", "ss-chacha": "chacha20-ietf-poly1305"}


@start_of("shadowsocks-libev/ss-aes", "shadowsocks-libev/ss-chacha")
def shadowsocks(setup, program, way):
    client, server = setup.port(), setup.port()
    settings = {"server": "127.0.0.1", "server_port": server, "password": PASSWORD,
                "method": SHADOWSOCKS[way], "timeout": 120, "no_delay": True, "nofile": 16000,
                "mode": "tcp_and_udp"}
    setup.spawn("server", [program.path("ss-server"), "-c",
                           setup.write("server.json", json.dumps(settings))])
    setup.wait_listening(server)
    settings.update(local_address="127.0.0.1", local_port=client)
    setup.spawn("client", [program.path("ss-local"), "-c",
                           setup.write("client.json", json.dumps(settings))])
    setup.wait_listening(client)
    return socks5(client)


@start_of("trojan/trojan")
def trojan(setup, program, _way):
    client, server = setup.port(), setup.port()
    certificate, key = setup.certificate()
    tcp = {"no_delay": True, "keep_alive": True, "reuse_port": False, "fast_open": False,
           "fast_open_qlen": 20}
    tls = {"cipher": "", "cipher_tls13": "TLS_AES_128_GCM_SHA256", "alpn": ["http/1.1"],
           "reuse_session": True, "session_ticket": False, "curves": ""}
    setup.spawn("server", [program.path(), "-c", setup.write("server.json", json.dumps({
        "run_type": "server", "local_addr": "127.0.0.1", "local_port": server,
        "remote_addr": "127.0.0.1", "remote_port": 9, "password": [PASSWORD], "log_level": 5,
        "ssl": {**tls, "cert": certificate, "key": key, "key_password": "",
                "prefer_server_cipher": True, "session_timeout": 600, "plain_http_response": "",
                "dhparam": ""},
        "tcp": {**tcp, "prefer_ipv4": True}, "mysql": {"enabled": False}}))])
    setup.wait_listening(server)
    setup.spawn("client", [program.path(), "-c", setup.write("client.json", json.dumps({
        "run_type": "client", "local_addr": "127.0.0.1", "local_port": client,
        "remote_addr": "127.0.0.1", "remote_port": server, "password": [PASSWORD], "log_level": 5,
        "ssl": {**tls, "verify": True, "verify_hostname": True, "cert": certificate,
                "sni": "a.test"},
        "tcp": tcp}))])
    setup.wait_listening(client)
    return socks5(client)


def v2ray_socks(port):
    return {"listen": "127.0.0.1", "port": port, "protocol": "socks",
            "settings": {"auth": "noauth", "udp": True, "ip": "127.0.0.1"}}


def v2ray_process(setup, program, role, port, inbound, outbound):
    settings = {"log": {"loglevel": "none"}, "inbounds": [inbound], "outbounds": [outbound]}
    setup.spawn(role, [program.path(), "-config",
                       setup.write(f"{role}.json", json.dumps(settings))])
    setup.wait_listening(port)


@start_of("v2ray/direct")
def v2ray(setup, program, _way):
    port = setup.port()
    v2ray_process(setup, program, "proxy", port, v2ray_socks(port),
                  {"protocol": "freedom", "settings": {}})
    return socks5(port)


def v2ray_accounts(protocol, way, server):
    """The settings of a protocol's inbound and outbound."""
    there = {"address": "127.0.0.1", "port": server}
    if protocol == "vmess":
        return ({"clients": [{"id": USER, "alterId": 0}]},
                {"vnext": [{**there, "users": [{"id": USER, "alterId": 0,
                                                "security": "aes-128-gcm"}]}]})
    if protocol == "vless":
        return ({"clients": [{"id": USER}], "decryption": "none"},
                {"vnext": [{**there, "users": [{"id": USER, "encryption": "none"}]}]})
    if protocol == "trojan":
        return ({"clients": [{"password": PASSWORD}]},
                {"servers": [{**there, "password": PASSWORD}]})
    account = {"method": SHADOWSOCKS[way], "password": PASSWORD}
    return {**account, "network": "tcp,udp"}, {"servers": [{**there, **account}]}


@start_of("v2ray/ss-aes", "v2ray/ss-chacha", "v2ray/trojan", "v2ray/vless", "v2ray/vmess",
          "v2ray/vless-tls", "v2ray/vmess-ws-tls")
def v2ray_pair(setup, program, way):
    client, server = setup.port(), setup.port()
    protocol = "shadowsocks" if way in SHADOWSOCKS else way.split("-")[0]
    inbound, outbound = v2ray_accounts(protocol, way, server)
    stream = {"network": "ws", "wsSettings": {"path": "/w"}} if "-ws" in way else {"network": "tcp"}
    server_stream, client_stream = dict(stream), dict(stream)
    if "tls" in way or protocol == "trojan":
        certificate, key = setup.certificate()
        server_stream.update(security="tls", tlsSettings={
            "serverName": "a.test",
            "certificates": [{"certificateFile": certificate, "keyFile": key}]})
        client_stream.update(security="tls", tlsSettings={
            "serverName": "a.test",
            "certificates": [{"usage": "verify", "certificateFile": certificate}]})
    v2ray_process(setup, program, "server", server,
                  {"listen": "127.0.0.1", "port": server, "protocol": protocol,
                   "settings": inbound, "streamSettings": server_stream},
                  {"protocol": "freedom", "settings": {}})
    v2ray_process(setup, program, "client", client, v2ray_socks(client),
                  {"protocol": protocol, "settings": outbound, "streamSettings": client_stream})
    return socks5(client)


# Name servers.

def name_list(setup):
    return setup.write("names", "".join(f"{name}\n" for name in NAMES))


@start_of("dnsmasq/dns")
def dnsmasq(setup, program, _way):
    port = setup.port()
    settings = setup.write("dnsmasq.conf", "\n".join(
        [f"port={port}", "listen-address=127.0.0.1", "bind-interfaces", "no-resolv", "no-hosts",
         "user=root", "log-facility=-", "dns-forward-max=1000",
         f"pid-file={setup.path('dnsmasq.pid')}"]
        + [f"host-record={name},192.0.2.1" for name in NAMES]) + "\n")
    setup.spawn("proxy", [program.path(), "-k", "-C", settings])
    setup.wait_listening(port)
    return {"dns": f"127.0.0.1:{port}", "names": name_list(setup)}


@start_of("unbound/dns")
def unbound(setup, program, _way):
    port = setup.port()
    settings = setup.write("unbound.conf", f"""server:
  chroot: ""
  username: ""
  directory: "{setup.folder}"
  pidfile: ""
  interface: 127.0.0.1@{port}
  do-daemonize: no
  use-syslog: no
  num-threads: 1
  access-control: 127.0.0.0/8 allow
  local-zone: bench.test. static
{"".join(f'  local-data: "{name}. 3600 IN A 192.0.2.1"' + chr(10) for name in NAMES)}
remote-control:
  control-enable: no
""")
    setup.spawn("proxy", [program.path(), "-d", "-c", settings])
    setup.wait_listening(port)
    return {"dns": f"127.0.0.1:{port}", "names": name_list(setup)}
