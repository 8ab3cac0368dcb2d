"""Connections to a Redis server whose replies are bounded in time and size.

The library limits the time of each read, so that a byte now and then would hold a call up for ever.
"""

from __future__ import annotations

import math
import socket
import time
from collections.abc import Callable
from typing import Any, cast

from webtools.http.threads import in_own_thread

MAX_REPLY_BYTES = 16 * 1024 * 1024  # to one command or pipeline; a cache entry has 2 MiB at most


def bounded(kind: type[Any], seconds: float) -> type[Any]:
    """Return a kind of the library's connections whose replies are bounded in time and size.

    Args:
        kind: The library's own.
        seconds: For making a connection, and from the end of a command to that of its answer.
    """

    class Bounded(kind):  # type: ignore[misc]
        def _connect(self) -> Any:
            # The system looks names up for as long as it likes.
            connect = cast("Callable[[], socket.socket]", super()._connect)  # pyright: ignore[reportUnknownMemberType]
            return _Socket(in_own_thread(connect, "webtools-store").result(seconds), seconds)

    return Bounded


class _Socket:
    """A connected socket, of which the library asks what is below."""

    def __init__(self, inner: socket.socket, seconds: float) -> None:
        self._inner = inner
        self._seconds = seconds
        self._end = math.inf  # when the answer must be there, on the monotonic clock
        self._received = 0  # bytes of the answer

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def sendall(self, data: bytes) -> None:
        self._inner.settimeout(self._seconds)
        self._inner.sendall(data)
        self._end = time.monotonic() + self._seconds
        self._received = 0

    def recv(self, size: int) -> bytes:
        self._hurry()
        data = self._inner.recv(size)
        self._count(len(data))
        return data

    def recv_into(self, buffer: Any) -> int:
        self._hurry()
        size = self._inner.recv_into(buffer)
        self._count(size)
        return size

    def _count(self, size: int) -> None:
        self._received += size
        if self._received > MAX_REPLY_BYTES:
            raise OSError(f"the reply is larger than {MAX_REPLY_BYTES // 2**20} MiB")

    def _hurry(self) -> None:
        if self._inner.gettimeout() == 0:  # the library only looks whether there is something
            return
        left = self._end - time.monotonic()
        if left <= 0:
            raise TimeoutError("timed out")
        self._inner.settimeout(min(left, self._seconds))
