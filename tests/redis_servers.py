"""Real Redis servers on loopback that tests stop, kill and restart."""

from __future__ import annotations

import shutil
import signal
import socket
import subprocess
import threading
import time
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import pytest
import redis
from servers import RawServer

BINARIES = {name: shutil.which(f"{name}-server") for name in ("redis", "valkey")}
SERVER_KINDS = ["redis", *(["valkey"] if BINARIES["valkey"] else [])]
DURABLE = ("--appendonly", "yes", "--appendfsync", "always", "--repl-diskless-sync-delay", "0")


class RedisServer:
    """A server, which keeps its data in a folder only with the options for that.

    Attributes:
        url: Its first database.
    """

    def __init__(self, folder: Path, *options: str, binary: str = "redis") -> None:
        if BINARIES[binary] is None:
            pytest.skip(f"needs {binary}-server")
        self._command = str(BINARIES[binary])
        self._folder = folder
        self._options = options
        self.port = free_port()
        self.url = f"redis://127.0.0.1:{self.port}/0"
        self.client: Any = redis.Redis(port=self.port, protocol=2)
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.kill()
        self.client.close()

    def database(self, number: int) -> str:
        """Return the URL of a database."""
        return f"{self.url[:-1]}{number}"

    def start(self) -> None:
        """Start it with the data in its folder."""
        self._folder.mkdir(exist_ok=True)
        place = ("--port", str(self.port), "--bind", "127.0.0.1", "--dir", str(self._folder))
        command = [self._command, *place, "--save", "", *self._options]
        self._process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        end = time.monotonic() + 30
        while not self._responds():
            assert time.monotonic() < end, "the server does not start"
            time.sleep(0.01)

    def kill(self) -> None:
        """Kill it without a warning."""
        if self._process is not None:
            self.go_on()
            self._process.kill()
            self._process.wait(30)
            self._process = None

    def empty(self) -> None:
        """Replace it by an empty server, as a failover may do."""
        self.kill()
        shutil.rmtree(self._folder)
        self.start()

    def freeze(self) -> None:
        """Accept connections without responding."""
        assert self._process is not None
        self._process.send_signal(signal.SIGSTOP)

    def go_on(self) -> None:
        """Respond again."""
        assert self._process is not None
        self._process.send_signal(signal.SIGCONT)

    def _responds(self) -> bool:
        with suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 1) as connection:
            connection.sendall(b"PING\r\n")
            reply = connection.recv(64)
            return reply.startswith((b"+PONG", b"-NOAUTH"))
        return False


class Line(RawServer):
    """The network between here and a server, which may be cut or slow.

    Attributes:
        url: Where the server is reached through it.
        pause: Seconds that each piece takes on its way back.
        is_cut: Whether data is dropped without closing a connection.
    """

    def __init__(self, server: RedisServer) -> None:
        self._server = server
        self.pause = 0.0
        self.is_cut = False
        super().__init__(self._forward)

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0"

    def _forward(self, connection: socket.socket) -> None:
        with socket.create_connection(("127.0.0.1", self._server.port)) as upstream:
            back = threading.Thread(target=self._pump, args=(upstream, connection), daemon=True)
            back.start()
            self._pump(connection, upstream)
            with suppress(OSError):
                upstream.shutdown(socket.SHUT_RDWR)
            back.join(5)

    def _pump(self, source: socket.socket, sink: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(65536):
                if sink.getpeername()[1] != self._server.port:
                    time.sleep(self.pause)
                if not self.is_cut:
                    sink.sendall(data)


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port
