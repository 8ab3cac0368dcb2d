"""Connections to a Redis server on which an answer has one time limit, however it trickles in.

The library limits each read, so that a byte now and then would hold a call up for ever.
"""

from __future__ import annotations

import math
import socket
import time
from collections.abc import Callable
from typing import Any, cast

from webtools.http.threads import in_own_thread


def bounded(kind: type[Any], seconds: float) -> type[Any]:
    """Return a kind of the library's connections whose answers take no longer than that.

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

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def sendall(self, data: bytes) -> None:
        self._inner.settimeout(self._seconds)
        self._inner.sendall(data)
        self._end = time.monotonic() + self._seconds

    def recv(self, size: int) -> bytes:
        self._hurry()
        return self._inner.recv(size)

    def recv_into(self, buffer: Any) -> int:
        self._hurry()
        return self._inner.recv_into(buffer)

    def _hurry(self) -> None:
        if self._inner.gettimeout() == 0:  # the library only looks whether there is something
            return
        left = self._end - time.monotonic()
        if left <= 0:
            raise TimeoutError("timed out")
        self._inner.settimeout(min(left, self._seconds))
