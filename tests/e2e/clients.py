"""Proxy and WebSocket clients of a few lines, for what curl cannot do."""
import base64
import json
import os
import socket
import struct
import threading


class Refused(Exception):
    """The proxy answered, and said no; `code` is its reply code or status."""

    def __init__(self, code):
        super().__init__(f"refused with {code}")
        self.code = code


def connect(port, host="127.0.0.1", seconds=10):
    connection = socket.create_connection((host, port), timeout=seconds)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return connection


def read_exactly(connection, size):
    data = b""
    while len(data) < size:
        part = connection.recv(size - len(data))
        if not part:
            raise EOFError(f"ended after {len(data)} of {size} bytes")
        data += part
    return data


def read_to_end(connection):
    parts = []
    while part := connection.recv(65536):
        parts.append(part)
    return b"".join(parts)


def socks5_greeting(user=None):
    return b"\x05\x01\x02" if user is not None else b"\x05\x01\x00"


def socks5_request(host, port, command=1):
    try:
        address = b"\x01" + socket.inet_aton(host) if host.count(".") == 3 else None
    except OSError:
        address = None
    if address is None and ":" in host:
        address = b"\x04" + socket.inet_pton(socket.AF_INET6, host)
    if address is None:
        name = host.encode()
        address = bytes((3, len(name))) + name
    return bytes((5, command, 0)) + address + struct.pack(">H", port)


def socks5_reply(connection):
    """The reply's code; its address is read and dropped."""
    version, code, _, kind = read_exactly(connection, 4)
    assert version == 5
    size = {1: 4, 4: 16}.get(kind) or read_exactly(connection, 1)[0]
    read_exactly(connection, size + 2)
    return code


def socks5(proxy_port, host, port, user=None, password="", seconds=10):
    connection = connect(proxy_port, seconds=seconds)
    try:
        connection.sendall(socks5_greeting(user))
        version, method = read_exactly(connection, 2)
        assert version == 5
        if method == 0xFF:
            raise Refused(0xFF)
        if method == 2:
            name, secret = user.encode(), password.encode()
            connection.sendall(bytes((1, len(name))) + name + bytes((len(secret),)) + secret)
            if read_exactly(connection, 2)[1] != 0:
                raise Refused("credentials")
        connection.sendall(socks5_request(host, port))
        code = socks5_reply(connection)
        if code != 0:
            raise Refused(code)
    except BaseException:
        connection.close()
        raise
    return connection


def socks4a(proxy_port, host, port):
    connection = connect(proxy_port)
    connection.sendall(b"\x04\x01" + struct.pack(">H", port) + b"\0\0\0\1me\0" + host.encode() + b"\0")
    code = read_exactly(connection, 8)[1]
    if code != 90:
        connection.close()
        raise Refused(code)
    return connection


def read_head(connection):
    """A response's head: (status, {lower-case name: value}). Reads not a byte beyond it."""
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        head += read_exactly(connection, 1)
    lines = head.decode("latin-1").split("\r\n")
    fields = {}
    for line in lines[1:-2]:
        name, _, value = line.partition(":")
        fields[name.lower()] = value.strip()
    assert lines[0].startswith("HTTP/1."), lines[0]
    return int(lines[0].split()[1]), fields


def read_response(connection):
    """(status, fields, body) of a response whose body has a length or comes in chunks."""
    status, fields = read_head(connection)
    if fields.get("transfer-encoding") == "chunked":
        return status, fields, b"".join(read_chunks(connection))
    return status, fields, read_exactly(connection, int(fields.get("content-length", 0)))


def read_chunks(connection):
    """The chunks of a body that comes to an end."""
    while True:
        line = b""
        while not line.endswith(b"\r\n"):
            line += read_exactly(connection, 1)
        chunk = read_exactly(connection, int(line, 16))
        assert read_exactly(connection, 2) == b"\r\n"
        if not chunk:
            return
        yield chunk


def basic(user, password):
    return "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()


def http_connect(proxy_port, host, port, user=None, password=""):
    connection = connect(proxy_port)
    authority = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    request = f"CONNECT {authority} HTTP/1.1\r\nHost: {authority}\r\n"
    if user is not None:
        request += f"Proxy-Authorization: {basic(user, password)}\r\n"
    connection.sendall(request.encode() + b"\r\n")
    status, _ = read_head(connection)
    if status != 200:
        connection.close()
        raise Refused(status)
    return connection


TUNNELS = {"socks5": socks5, "socks4a": socks4a, "connect": http_connect}


class Api:
    """Asks the controller, a connection per request."""

    def __init__(self, port, secret="", host="127.0.0.1"):
        self.port = port
        self.secret = secret
        self.host = host

    def open(self, target, method="GET", headers=None, token=True, body=b""):
        """Sends a request and returns the connection."""
        fields = {"Host": f"{self.host}:{self.port}"}
        if self.secret and token:
            fields["Authorization"] = f"Bearer {self.secret}"
        fields.update(headers or {})
        text = f"{method} {target} HTTP/1.1\r\n"
        text += "".join(f"{name}: {value}\r\n" for name, value in fields.items()
                        if value is not None)
        connection = connect(self.port, self.host)
        connection.sendall(text.encode() + b"\r\n" + body)
        return connection

    def ask(self, target, method="GET", **options):
        """(status, fields, body)"""
        with self.open(target, method, **options) as connection:
            return read_response(connection)

    def send(self, method, target, value=None):
        """(status, value) of a request whose body is `value` as JSON."""
        body = b"" if value is None else json.dumps(value, ensure_ascii=False).encode()
        status, _, answer = self.ask(target, method, body=body,
                                     headers={"Content-Length": str(len(body))})
        return status, json.loads(answer) if answer else None

    def get(self, target):
        status, _, body = self.ask(target)
        assert status == 200, (status, body)
        return json.loads(body)

    def lines(self, target):
        """The lines of a chunked stream, without end."""
        with self.open(target) as connection:
            status, fields = read_head(connection)
            assert status == 200 and fields["transfer-encoding"] == "chunked", fields
            stream = connection.makefile("rb")
            rest = b""
            while size := int(stream.readline(), 16):
                rest += stream.read(size)
                stream.readline()
                *whole, rest = rest.split(b"\n")
                for line in whole:
                    yield json.loads(line)

    def flows(self):
        return self.get("/connections")["connections"]


class WebSocket:
    """RFC 6455, client side; what comes is put together."""

    def __init__(self, api, target, headers=None, token=True):
        key = base64.b64encode(os.urandom(16)).decode()
        fields = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Key": key,
                  "Sec-WebSocket-Version": "13", **(headers or {})}
        self.connection = api.open(target, headers=fields, token=token)
        self.status, self.fields = read_head(self.connection)
        if self.status != 101:
            self.connection.close()
            raise Refused(self.status)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.connection.close()

    def send(self, opcode, payload=b""):
        mask = os.urandom(4)
        assert len(payload) < 126
        masked = bytes(b ^ mask[i % 4] for i, b in enumerate(payload))
        self.connection.sendall(bytes((0x80 | opcode, 0x80 | len(payload))) + mask + masked)

    def part(self):
        """(is it the message's last, opcode, payload)"""
        first, second = read_exactly(self.connection, 2)
        assert not first & 0x70 and not second & 0x80, "nothing reserved, nothing masked"
        size = second & 0x7F
        if size == 126:
            size = int.from_bytes(read_exactly(self.connection, 2), "big")
        elif size == 127:
            size = int.from_bytes(read_exactly(self.connection, 8), "big")
        return first & 0x80 != 0, first & 0x0F, read_exactly(self.connection, size)

    def frame(self):
        """(opcode, payload)"""
        last, opcode, payload = self.part()
        while not last:
            last, more, rest = self.part()
            assert more == 0, more
            payload += rest
        return opcode, payload

    def json(self):
        opcode, payload = self.frame()
        assert opcode == 1, opcode
        return json.loads(payload)


def all_at_once(jobs):
    """Runs each callable in a thread of its own and returns their results; raises the first error."""
    results, errors = [None] * len(jobs), []

    def run(i):
        try:
            results[i] = jobs[i]()
        except BaseException as error:  # carried to the caller's thread
            errors.append(error)

    threads = [threading.Thread(target=run, args=(i,), daemon=True) for i in range(len(jobs))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive(), "a job is not done after 60 s"
    if errors:
        raise errors[0]
    return results
