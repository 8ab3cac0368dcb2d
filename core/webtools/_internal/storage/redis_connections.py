"""Connections to a Redis server whose replies are bounded in time and size.

The library limits the time of each read, so a byte now and then would hold up a call for ever.
"""

from __future__ import annotations

import math
import socket
import time
from collections.abc import Callable
from typing import Any, cast

from webtools._internal.http.threads import in_own_thread

MAX_REPLY_BYTES = 16 * 1024 * 1024  # to one command or pipeline; a cache entry has at most 2 MiB


def bounded(connection_class: type[Any], seconds: float) -> type[Any]:
    """Return a subclass of a connection class of the library, with bounded replies.

    Args:
        connection_class: A class of the library.
        seconds: Time to connect, and time from the end of a command to the end of its reply.
    """

    class Bounded(connection_class):  # type: ignore[misc]
        def _connect(self) -> Any:
            # In a thread, since looking up a name can take any time.
            connect = cast("Callable[[], socket.socket]", super()._connect)  # pyright: ignore[reportUnknownMemberType]
            return _Socket(in_own_thread(connect, "webtools-store").result(seconds), seconds)

    return Bounded


class _Socket:
    """A connected socket with the methods that the library uses."""

    def __init__(self, inner: socket.socket, seconds: float) -> None:
        self._inner = inner
        self._seconds = seconds
        self._deadline = math.inf  # of the reply, on the monotonic clock
        self._received = 0  # bytes of the reply

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def sendall(self, data: bytes) -> None:
        self._inner.settimeout(self._seconds)
        self._inner.sendall(data)
        self._deadline = time.monotonic() + self._seconds
        self._received = 0

    def recv(self, size: int) -> bytes:
        self._limit_time()
        data = self._inner.recv(size)
        self._limit_size(len(data))
        return data

    def recv_into(self, buffer: Any) -> int:
        self._limit_time()
        size = self._inner.recv_into(buffer)
        self._limit_size(size)
        return size

    def _limit_time(self) -> None:
        if self._inner.gettimeout() == 0:  # the library only checks whether there is something
            return
        seconds = self._deadline - time.monotonic()
        if seconds <= 0:
            raise TimeoutError("timed out")
        self._inner.settimeout(min(seconds, self._seconds))

    def _limit_size(self, size: int) -> None:
        self._received += size
        if self._received > MAX_REPLY_BYTES:
            raise OSError(f"the reply is larger than {MAX_REPLY_BYTES // 2**20} MiB")
