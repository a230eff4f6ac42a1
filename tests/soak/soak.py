#!/usr/bin/env python3
"""Reloads a running Culvert again and again under load, and looks for anything lost.

    tests/soak/soak.py [--binary PATH] [--seconds N] [--reloads N] [--flat MIB] [--json FILE]

Two further Culverts are the socks5 and http servers that the nodes of the first lead to, one through
the other in a chain. Through the first go, all at once:

  held     flows that stay open throughout and exchange a line now and then
  short    connections that come and go: a request, its answer, checked byte by byte
  bulk     transfers both ways at once, checked by their sum

over its ports, a select group and a chain of nodes, while its profile is replaced by SIGHUP and by
PUT /configs (the same, other rules, another listener, other nodes, one that is refused), modes and
selections change, and clients list the connections. The kill switch is the point: a flow that
breaks, a byte that is wrong, a change that is refused or goes through when it should not, fails it.

Memory is sampled once a second: with --flat the last fifth of the run may not exceed the second
fifth by more than so many MiB. Descriptors must come back to what they were.
"""
import argparse
import asyncio
import base64
import hashlib
import json
import os
import pathlib
import random
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
HOST = "127.0.0.1"
SECRET = "soak"
HELD = 50
SHORT = 12
BULK = 2
BULK_BYTES = 4 << 20
BLOCK = b"".join(hashlib.sha256(i.to_bytes(4, "big")).digest() for i in range(8192))
PATIENCE = 60  # seconds any one step may take, under a sanitizer too


class Failed(Exception):
    pass


def free_ports(count):
    """Below the range that the kernel gives to outgoing connections."""
    out = []
    while len(out) < count:
        port = random.randrange(15000, 30000)
        with socket.socket() as probe:
            try:
                probe.bind((HOST, port))
            except OSError:
                continue
        if port not in out:
            out.append(port)
    return out


class Program:
    def __init__(self, binary, home, profile):
        self.home = home
        home.mkdir()
        self.config = home / "config.yaml"
        self.write(profile)
        (home / "hosts").write_text("127.0.0.1 origin.example\n")
        (home / "resolv.conf").write_text("")
        env = {k: v for k, v in os.environ.items()
               if not k.lower().endswith("_proxy") and not k.startswith("CLASH_")}
        env.update(HOME=str(home), CULVERT_HOSTS_FILE=str(home / "hosts"),
                   CULVERT_RESOLV_CONF=str(home / "resolv.conf"))
        self.log = open(home / "log", "wb")
        self.process = subprocess.Popen([*binary, "-d", str(home)], env=env, stdout=self.log,
                                        stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)

    def write(self, profile):
        fresh = self.home / "fresh.yaml"
        fresh.write_text(json.dumps(profile))
        fresh.replace(self.config)

    def alive(self):
        return self.process.poll() is None

    def memory(self):
        with open(f"/proc/{self.process.pid}/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))

    def stop(self):
        if self.alive():
            self.process.send_signal(signal.SIGTERM)
        try:
            status = self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            status = self.process.wait()
        self.log.close()
        return status

    def tail(self, lines=40):
        text = (self.home / "log").read_text(errors="replace").splitlines()
        return "\n".join(text[-lines:])


async def within(what, awaitable, seconds=PATIENCE):
    try:
        return await asyncio.wait_for(awaitable, seconds)
    except asyncio.TimeoutError:
        raise Failed(f"{what}: nothing within {seconds} s") from None
    except (OSError, EOFError, asyncio.IncompleteReadError) as error:
        raise Failed(f"{what}: {type(error).__name__}: {error}") from None


class Origin:
    """Answers every line "N\n" and N bytes with a line, the digest of the bytes and N of its own."""

    async def start(self):
        self.server = await asyncio.start_server(self.serve, HOST, 0, limit=1 << 20)
        self.port = self.server.sockets[0].getsockname()[1]

    async def serve(self, reader, writer):
        try:
            while line := await reader.readline():
                size = int(line)
                digest = hashlib.sha256()
                answer = 0
                while size > 0:
                    data = await reader.read(min(size, 1 << 16))
                    if not data:
                        return
                    digest.update(data)
                    size -= len(data)
                    # The answer's bytes go out while the request's come in.
                    writer.write(bytes_from(answer, len(data)))
                    answer += len(data)
                    await writer.drain()
                writer.write(digest.digest())
                await writer.drain()
        except (OSError, ValueError):
            pass
        finally:
            writer.close()


def bytes_from(offset, size):
    start = offset % len(BLOCK)
    return (BLOCK[start:] + BLOCK * (size // len(BLOCK) + 1))[:size]


async def exchange(what, reader, writer, size):
    async def send():
        writer.write(b"%d\n" % size)
        sent = 0
        while sent < size:
            part = bytes_from(sent + 7, min(1 << 16, size - sent))
            writer.write(part)
            await writer.drain()
            sent += len(part)

    async def receive():
        got = 0
        while got < size:
            data = await reader.read(min(1 << 16, size - got))
            if not data:
                raise EOFError(f"ended after {got} of {size} bytes")
            if data != bytes_from(got, len(data)):
                raise Failed(f"{what}: other bytes than were sent, behind {got}")
            got += len(data)
        return await reader.readexactly(32)

    _, digest = await within(what, asyncio.gather(send(), receive()))
    if digest != hashlib.sha256(bytes_from(7, size)).digest():
        raise Failed(f"{what}: other bytes than were sent arrived at the origin")


class Soak:
    def __init__(self, options, folder):
        self.options = options
        self.folder = folder
        self.binary = options.binary
        (self.mixed, self.socks, self.extra, self.controller, self.near, self.far,
         self.own) = free_ports(7)
        self.counts = {"short": 0, "bulk": 0, "held": 0, "reloads": 0, "refused": 0, "patches": 0,
                       "lists": 0}
        self.memory = []
        self.stopping = False

    # ------------------------------------------------------------ profiles

    @staticmethod
    def server_profile(port):
        return {"mixed-port": port, "log-level": "warning", "culvert": {"workers": 1},
                "rules": ["MATCH,DIRECT"]}

    def profile(self, variant=0):
        nodes = [
            {"name": "S", "type": "socks5", "server": HOST, "port": self.far},
            {"name": "H", "type": "http", "server": HOST, "port": self.near},
            {"name": "Chain", "type": "socks5", "server": HOST, "port": self.far,
             "dialer-proxy": "H"}]
        profile = {
            "mixed-port": self.mixed, "socks-port": self.socks, "log-level": "warning",
            "external-controller": f"{HOST}:{self.controller}", "secret": SECRET,
            "culvert": {"workers": 2},
            "listeners": [{"name": "own", "type": "mixed", "listen": HOST, "port": self.own,
                           "users": [{"username": "u", "password": "p"}], "proxy": "G"}],
            "proxies": nodes,
            "proxy-groups": [{"name": "G", "type": "select",
                              "proxies": ["S", "H", "Chain", "DIRECT"]}],
            "rules": ["DOMAIN,refused.example,REJECT", f"IN-PORT,{self.socks},G", "MATCH,DIRECT"]}
        if variant == 1:
            profile["rules"] = [f"DOMAIN,x{i}.example,REJECT" for i in range(2000)] + \
                profile["rules"]
        elif variant == 2:
            profile["port"] = self.extra
        elif variant == 3:
            nodes[0]["tfo"] = True
            nodes.append({"name": "More", "type": "socks5", "server": HOST,
                          "port": self.far, "username": "n", "password": "n"})
            profile["proxy-groups"][0]["proxies"].append("More")
        elif variant == 4:
            profile["rules"] = ["MATCH,NOWHERE"]
        return profile

    # ------------------------------------------------------------ clients

    async def connect(self, way):
        """A connection to the origin by one of the ways."""
        port = {"mixed": self.mixed, "socks": self.socks, "own": self.own}[way]
        what = f"connecting by {way}"
        reader, writer = await within(what, asyncio.open_connection(HOST, port, limit=1 << 20))
        if way == "own":
            credentials = base64.b64encode(b"u:p").decode()
            writer.write(f"CONNECT origin.example:{self.origin.port} HTTP/1.1\r\nHost: x\r\n"
                         f"Proxy-Authorization: Basic {credentials}\r\n\r\n".encode())
            head = await within(what, reader.readuntil(b"\r\n\r\n"))
            if b" 200 " not in head.split(b"\r\n")[0]:
                raise Failed(f"{what}: {head[:60]!r}")
        else:
            writer.write(b"\x05\x01\x00\x05\x01\x00\x03\x0eorigin.example" +
                         struct.pack(">H", self.origin.port))
            reply = await within(what, reader.readexactly(12))
            if reply[3] != 0:
                raise Failed(f"{what}: reply {reply[3]}")
        return reader, writer

    async def hold(self, way):
        reader, writer = await self.connect(way)
        while not self.stopping:
            await exchange(f"held flow by {way}", reader, writer, random.randrange(1, 3000))
            self.counts["held"] += 1
            await asyncio.sleep(random.uniform(0.2, 2))
        writer.close()

    async def come_and_go(self, size):
        while not self.stopping:
            way = random.choice(("mixed", "socks", "own"))
            reader, writer = await self.connect(way)
            await exchange(f"flow by {way}", reader, writer, size or random.randrange(1, 60000))
            writer.close()
            self.counts["bulk" if size else "short"] += 1

    # ------------------------------------------------------------ control

    async def api(self, method, path, body=None):
        text = b"" if body is None else json.dumps(body).encode()
        reader, writer = await within("controller", asyncio.open_connection(HOST, self.controller))
        writer.write(f"{method} {path} HTTP/1.1\r\nHost: {HOST}\r\nConnection: close\r\n"
                     f"Authorization: Bearer {SECRET}\r\nContent-Length: {len(text)}\r\n\r\n"
                     .encode() + text)
        answer = await within(f"{method} {path}", reader.read())
        writer.close()
        head, _, content = answer.partition(b"\r\n\r\n")
        return int(head.split(b" ")[1]), content

    async def reload(self):
        """One change after another: by PUT, which says when it is in force, and by SIGHUP."""
        begun = time.monotonic()
        until = begun + self.options.seconds
        for i in range(self.options.reloads):
            if time.monotonic() > until:
                break
            variant = i % 5
            if i % 2 == 0:
                status, content = await self.api("PUT", "/configs?force=true",
                                                 {"payload": json.dumps(self.profile(variant))})
                wanted = 400 if variant == 4 else 204
                if status != wanted:
                    raise Failed(f"PUT of variant {variant}: {status} {content[:300]!r}")
            else:
                self.program.write(self.profile(variant))
                self.program.process.send_signal(signal.SIGHUP)
            self.counts["refused" if variant == 4 else "reloads"] += 1
            if i % 7 == 0:
                await self.patch(i)
            due = begun + (i + 1) * self.options.seconds / self.options.reloads
            await asyncio.sleep(max(0, due - time.monotonic()))
        self.stopping = True

    async def patch(self, i):
        member = ("S", "H", "Chain", "DIRECT")[i % 4]
        for method, path, body in (("PUT", "/proxies/G", {"name": member}),
                                   ("PATCH", "/configs", {"mode": "rule"})):
            status, content = await self.api(method, path, body)
            if status != 204:
                raise Failed(f"{method} {path}: {status} {content[:200]!r}")
            self.counts["patches"] += 1

    async def watch(self):
        while not self.stopping:
            if not self.program.alive():
                raise Failed(f"it ended with {self.program.process.returncode}")
            self.memory.append(self.program.memory())
            status, content = await self.api("GET", "/connections")
            if status != 200 or len(json.loads(content)["connections"]) < HELD:
                raise Failed(f"GET /connections: {status}, and fewer flows than are held")
            self.counts["lists"] += 1
            await asyncio.sleep(1)

    async def listening(self, port):
        while True:
            try:
                _, writer = await asyncio.open_connection(HOST, port)
                writer.close()
                return
            except OSError:
                if not all(p.alive() for p in (self.program, *self.servers)):
                    raise Failed("it did not start") from None
                await asyncio.sleep(0.05)

    async def quiet(self):
        """Until no flow is left."""
        while True:
            _, content = await self.api("GET", "/connections")
            if not json.loads(content)["connections"]:
                return
            await asyncio.sleep(0.05)

    async def run(self):
        # Once one part has failed, what the others say on their way out is of no interest.
        asyncio.get_running_loop().set_exception_handler(lambda loop, context: None)
        self.origin = Origin()
        await self.origin.start()
        self.servers = [Program(self.binary, self.folder / f"server{port}",
                                self.server_profile(port)) for port in (self.near, self.far)]
        self.program = Program(self.binary, self.folder / "program", self.profile())
        status = None
        try:
            for port in (self.near, self.far, self.mixed, self.controller):
                await within("start", self.listening(port))
            await within("rest", self.quiet())
            before = self.program.descriptors()
            ways = ("mixed", "socks", "own")
            tasks = [asyncio.ensure_future(t) for t in (
                [self.hold(ways[i % 3]) for i in range(HELD)])]
            while self.counts["held"] < HELD and not any(t.done() for t in tasks):
                await asyncio.sleep(0.1)
            tasks += [asyncio.ensure_future(t) for t in (
                [self.come_and_go(0) for _ in range(SHORT)] +
                [self.come_and_go(BULK_BYTES) for _ in range(BULK)] +
                [self.reload(), self.watch()])]
            try:
                await asyncio.gather(*tasks)
            finally:
                for task in tasks:
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)
            # The profile as it was, so that the descriptors can be compared.
            await self.api("PUT", "/configs?force=true",
                           {"payload": json.dumps(self.profile())})
            await within("rest", self.quiet())
            after = self.program.descriptors()
            # Give or take a pipe that the pool keeps for the next bulk transfer.
            if after > before + 16:
                raise Failed(f"{after} descriptors where there were {before}")
            status = self.program.stop()
            if status != 0:
                raise Failed(f"it ended with {status}")
        except Failed:
            print(self.program.tail(), file=sys.stderr)
            raise
        finally:
            if status is None:
                self.program.stop()
            for server in self.servers:
                server.stop()
            self.origin.server.close()
        self.judge_memory()

    def judge_memory(self):
        fifth = len(self.memory) // 5
        if fifth == 0:
            return
        early = max(self.memory[fifth:2 * fifth])
        late = max(self.memory[-fifth:])
        self.counts["early_mib"] = round(early / 2**20, 2)
        self.counts["late_mib"] = round(late / 2**20, 2)
        if self.options.flat is not None and late > early + self.options.flat * 2**20:
            raise Failed(f"resident memory went from {early / 2**20:.1f} to {late / 2**20:.1f} MiB")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binary", default=str(ROOT / "build/release/culvert"))
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--reloads", type=int, default=1000)
    parser.add_argument("--flat", type=float, help="MiB that memory may grow by")
    parser.add_argument("--json", help="where to write the figures")
    options = parser.parse_args()
    options.binary = options.binary.split()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="culvert-soak-"))
    soak = Soak(options, folder)
    begun = time.monotonic()
    try:
        asyncio.run(soak.run())
    except Failed as failure:
        print(f"soak: FAILED after {time.monotonic() - begun:.0f} s: {failure}")
        print(f"soak: {soak.counts}; the logs are in {folder}")
        return 1
    figures = {"seconds": round(time.monotonic() - begun, 1), **soak.counts}
    print(f"soak: {figures}")
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps({**figures, "memory": soak.memory}))
    shutil.rmtree(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
