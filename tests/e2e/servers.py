"""Servers on loopback for the program to talk to. Each connection has a thread of its own."""
import hashlib
import http.server
import socket
import struct
import threading
import time


BLOCK = b"".join(hashlib.sha256(i.to_bytes(4, "big")).digest() for i in range(32768))


def blob(size):
    """Bytes without a period that a relay could hide a mistake behind."""
    return (BLOCK * (size // len(BLOCK) + 1))[:size]


def reset(connection):
    """Closes with RST instead of FIN."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()


class Server:
    """Accepts on a port of its own and calls `serve(connection)` for each connection."""

    def __init__(self, serve, host="127.0.0.1", port=0):
        self.serve = serve
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self.listener = socket.create_server((host, port), family=family, backlog=1024)
        self.host, self.port = self.listener.getsockname()[:2]
        self.connections = []
        self.ended = []  # how each connection's serve() ended: None or an exception
        self.thread = threading.Thread(target=self._accept, daemon=True)
        self.thread.start()

    def _accept(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            connection.settimeout(30)
            self.connections.append(connection)
            threading.Thread(target=self._run, args=(connection,), daemon=True).start()

    def _run(self, connection):
        try:
            with connection:
                self.serve(connection)
            self.ended.append(None)
        except OSError as error:
            self.ended.append(error)

    def stop(self):
        """Idempotent."""
        # Closing alone would leave the port open as long as accept() waits.
        if self.thread.is_alive():
            self.listener.shutdown(socket.SHUT_RDWR)
            self.thread.join()
            self.listener.close()
        for connection in list(self.connections):
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            connection.close()


def read_all(connection):
    parts = []
    while part := connection.recv(65536):
        parts.append(part)
    return b"".join(parts)


def echo(connection):
    """Sends back what comes, and ends its direction when the peer ends its own."""
    while part := connection.recv(65536):
        connection.sendall(part)


def answer_after_eof(size, seconds):
    """Reads until the peer ends its direction, then sends `size` bytes spread over `seconds`."""
    def serve(connection):
        read_all(connection)
        send_slowly(connection, blob(size), seconds)
    return serve


def send_slowly(connection, data, seconds, parts=40):
    step = len(data) // parts + 1
    for at in range(0, len(data), step):
        connection.sendall(data[at:at + step])
        time.sleep(seconds / parts)


def greet_then_read(greeting, received):
    """Ends its own direction first and goes on reading; appends what came to `received`."""
    def serve(connection):
        connection.sendall(greeting)
        connection.shutdown(socket.SHUT_WR)
        received.append(read_all(connection))
    return serve


def reset_after_first_byte(connection):
    connection.recv(1)
    reset(connection)


def read_until_end(connection):
    """Only reads; how it ended is in Server.ended."""
    read_all(connection)


class OriginRequest(http.server.BaseHTTPRequestHandler):
    """An HTTP/1.1 origin: GET /bytes/<n>, GET /headers (the request's head as text), POST or PUT
    /sha256 (the body's digest), GET /without-length (HTTP/1.0, ends with the connection)."""
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = 65536

    def do_GET(self):
        if self.path.startswith("/bytes/"):
            self.reply(blob(int(self.path.rsplit("/", 1)[1])))
        elif self.path == "/headers":
            self.reply(f"{self.requestline}\n{self.headers}".encode())
        elif self.path == "/without-length":
            self.wfile.write(b"HTTP/1.0 200 OK\r\nContent-Type: text/plain\r\n\r\n" + blob(100_000))
            self.close_connection = True
        else:
            self.send_error(404)

    def do_HEAD(self):
        self.send_response(200)
        self.send_header("Content-Length", "12345")
        self.end_headers()

    def do_POST(self):
        if self.headers.get("Transfer-Encoding", "").lower() == "chunked":
            body = self.read_chunks()
        else:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.reply(hashlib.sha256(body).hexdigest().encode())

    do_PUT = do_POST

    def read_chunks(self):
        parts = []
        while size := int(self.rfile.readline().split(b";")[0], 16):
            parts.append(self.rfile.read(size))
            self.rfile.readline()
        while self.rfile.readline().strip():
            pass
        return b"".join(parts)

    def reply(self, body):
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass


class HttpOrigin:
    def __init__(self, host="127.0.0.1"):
        class V6Server(http.server.ThreadingHTTPServer):
            address_family = socket.AF_INET6

        kind = V6Server if ":" in host else http.server.ThreadingHTTPServer
        self.server = kind((host, 0), OriginRequest)
        self.server.daemon_threads = True
        self.host, self.port = self.server.server_address[:2]
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()

    def url(self, path, host=None):
        return f"http://{host or self.host}:{self.port}{path}"

    def stop(self):
        self.server.shutdown()
        self.server.server_close()


class NameServer:
    """A DNS server over UDP and TCP whose answers are given by `answer(query, tcp)`: the bytes to
    send, or None for silence. Needs the right to listen on port 53."""

    def __init__(self, host, answer):
        self.answer = answer
        self.udp_queries = 0
        self.tcp_queries = 0
        self.udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.udp.bind((host, 53))
        self.udp.settimeout(0.1)
        self.stopping = False
        self.thread = threading.Thread(target=self._serve_udp, daemon=True)
        self.thread.start()
        self.tcp = Server(self._serve_tcp, host, 53)

    def _serve_udp(self):
        while not self.stopping:
            try:
                query, peer = self.udp.recvfrom(4096)
            except TimeoutError:
                continue
            self.udp_queries += 1
            answer = self.answer(query, False)
            if answer is not None:
                self.udp.sendto(answer, peer)

    def _serve_tcp(self, connection):
        stream = connection.makefile("rwb")
        while size := stream.read(2):
            query = stream.read(int.from_bytes(size, "big"))
            self.tcp_queries += 1
            answer = self.answer(query, True)
            if answer is None:
                return
            stream.write(len(answer).to_bytes(2, "big") + answer)
            stream.flush()

    def stop(self):
        self.tcp.stop()
        self.stopping = True
        self.thread.join()
        self.udp.close()


def dns_reply(query, rcode=0, addresses=(), truncated=False):
    """An answer with A records to A questions, and without any to others."""
    end = 12
    while query[end]:
        end += query[end] + 1
    question = query[12:end + 5]
    is_a = question[-4:-2] == b"\x00\x01"
    records = [socket.inet_aton(a) for a in addresses] if is_a else []
    flags = 0x8180 | rcode | (0x0200 if truncated else 0)
    head = query[:2] + struct.pack(">HHHHH", flags, 1, len(records), 0, 0)
    return head + question + b"".join(
        b"\xc0\x0c" + struct.pack(">HHIH", 1, 1, 60, 4) + address for address in records)
