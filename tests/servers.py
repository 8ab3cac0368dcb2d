"""Small servers for what the sandbox is too well-behaved for: raw bytes, proxies, silence."""

from __future__ import annotations

import select
import socket
import ssl
import struct
import threading
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from types import TracebackType
from typing import Self
from urllib.parse import urlsplit

Script = Callable[[socket.socket], None]


class RawServer:
    """Hands every connection to a script, each in a thread of its own.

    Attributes:
        port: The port on the loopback address.
        connections: How many were accepted.
        requests: The requests that `read_request` of the scripts below took in.
    """

    def __init__(self, script: Script, *, backlog: int = 128) -> None:
        self._script = script
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=backlog)
        self.port: int = self._listener.getsockname()[1]
        self._open: list[socket.socket] = []
        self._threads: list[threading.Thread] = []
        self._lock = threading.Lock()
        self._closing = False
        self.connections = 0
        self.requests: list[bytes] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def __enter__(self) -> Self:
        self._start(self._accept)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._closing = True
        with suppress(OSError):  # a close alone does not wake up `accept`
            self._listener.shutdown(socket.SHUT_RDWR)
        with self._lock:
            for connection in self._open:
                _shut(connection)
        for thread in list(self._threads):
            thread.join(5)
        self._listener.close()

    def wait_for_connections(self, number: int, seconds: float = 60.0) -> None:
        """Wait until so many connections were made."""
        end = time.monotonic() + seconds
        while self.connections < number:
            assert time.monotonic() < end, f"{self.connections} connections after {seconds} s"
            time.sleep(0.002)

    def _start(self, target: Callable[..., None], *args: object) -> None:
        thread = threading.Thread(target=target, args=args, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        while not self._closing:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            with self._lock:
                self.connections += 1
                self._open.append(connection)
            self._start(self._serve, connection)

    def _serve(self, connection: socket.socket) -> None:
        try:
            self._script(connection)
        except OSError:
            pass  # the client went away, or the server is closing
        finally:
            with self._lock:
                self._open.remove(connection)
            connection.close()


def _shut(connection: socket.socket) -> None:
    with suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)


def read_request(connection: socket.socket) -> bytes:
    """Take in one request with its body; no bytes at the end of the connection."""
    request = b""
    while b"\r\n\r\n" not in request:
        if not (more := connection.recv(65536)):
            return b""
        request += more
    head, _, body = request.partition(b"\r\n\r\n")
    length = 0
    for line in head.split(b"\r\n"):
        if line.lower().startswith(b"content-length:"):
            length = int(line.partition(b":")[2])
    while len(body) < length:
        if not (more := connection.recv(65536)):
            return b""
        body += more
    return head + b"\r\n\r\n" + body


def response(
    body: bytes = b"{}", status: str = "200 OK", headers: Iterable[tuple[str, str]] = ()
) -> bytes:
    """Write an HTTP answer as bytes."""
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}"]
    lines += [f"{name}: {value}" for name, value in headers]
    return "\r\n".join([*lines, "", ""]).encode() + body


def answering(*answers: bytes, keep_open: bool = True) -> Script:
    """Give the answers in turn on each connection, the last one for ever."""

    def script(connection: socket.socket) -> None:
        number = 0
        while read_request(connection):
            connection.sendall(answers[min(number, len(answers) - 1)])
            number += 1
            if not keep_open:
                return

    return script


def silent(connection: socket.socket) -> None:
    """Take everything in and never answer."""
    while connection.recv(65536):
        pass


def dripping(data: bytes, pause: float, after: bytes = b"", *, wait: bool = True) -> Script:
    """Send `after` at once and then a byte at a time, until the other side has enough."""

    def script(connection: socket.socket) -> None:
        if wait:
            read_request(connection)
        connection.sendall(after)
        for byte in data:
            connection.sendall(bytes((byte,)))
            if _ended(connection, pause):
                return

    return script


def _ended(connection: socket.socket, seconds: float) -> bool:
    """Wait, and tell whether the connection ended meanwhile."""
    readable, _, _ = select.select([connection], [], [], seconds)
    return bool(readable) and not connection.recv(65536)


def reset(connection: socket.socket) -> None:
    """End a connection with RST."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


class Proxy(RawServer):
    """A forwarding and tunnelling HTTP proxy that keeps what it was sent."""

    def __init__(self, refuse: bytes = b"") -> None:
        self._refuse = refuse
        super().__init__(self._forward)

    def _forward(self, connection: socket.socket) -> None:
        while request := read_request(connection):
            self.requests.append(request)
            if self._refuse:
                connection.sendall(self._refuse)
                return
            method, target, _ = request.split(b" ", 2)
            if method == b"CONNECT":
                self._tunnel(connection, target.decode())
                return
            url = urlsplit(target.decode())
            path = url.path + (f"?{url.query}" if url.query else "")
            onward = request.replace(target, path.encode(), 1)
            onward = onward.replace(b"\r\n", b"\r\nConnection: close\r\n", 1)
            with socket.create_connection((url.hostname or "", url.port or 80)) as upstream:
                upstream.sendall(onward)
                while data := upstream.recv(65536):
                    connection.sendall(data)
            return

    def _tunnel(self, connection: socket.socket, target: str) -> None:
        host, _, port = target.partition(":")
        with socket.create_connection((host, int(port))) as upstream:
            connection.sendall(b"HTTP/1.1 200 Connected\r\n\r\n")
            self._start(_pump, upstream, connection)
            _pump(connection, upstream)


def _pump(source: socket.socket, sink: socket.socket) -> None:
    with suppress(OSError):
        while data := source.recv(65536):
            sink.sendall(data)
    _shut(sink)


def secured(script: Script, context: ssl.SSLContext) -> Script:
    """Speak TLS on each connection."""

    def wrapped(connection: socket.socket) -> None:
        with context.wrap_socket(connection, server_side=True) as secure:
            script(secure)

    return wrapped
