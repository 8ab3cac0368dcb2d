"""A network backend for httpcore, with one deadline for a whole call and fixed addresses.

That of event loops is in `async_connections`.
"""

from __future__ import annotations

import math
import ssl
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

import httpcore

from webtools._internal.http.dns import resolve
from webtools._internal.http.framing import ResponseEnd
from webtools.messages import CONNECT_TIMEOUT

_WRITE_BYTES = 65_536
_MIN_SECONDS = 0.001
_CONNECT_ERRORS = (httpcore.ConnectError, httpcore.ConnectTimeout)


class CurrentCall:
    """The call that uses a connection.

    Attributes:
        deadline: When the call ends, on the monotonic clock.
        stream: The connection to the server, perhaps through a proxy, once it was opened.
        response_end: Follows what was received since the last request.
    """

    def __init__(self) -> None:
        self.deadline = 0.0
        self.stream: Any = None
        self.response_end = ResponseEnd()

    def seconds_left(self) -> float:
        """Return the time until the deadline.

        Raises:
            httpcore.ReadTimeout: It has passed.
        """
        seconds = self.deadline - time.monotonic()
        if seconds <= 0:
            raise httpcore.ReadTimeout
        return seconds

    def handshake_seconds(self) -> float:
        """Return the time for a TLS handshake.

        It is never zero. httpcore closes the socket after a handshake that timed out, but not
        after one that could not start.
        """
        return min(CONNECT_TIMEOUT, max(_MIN_SECONDS, self.deadline - time.monotonic()))


class TLSSocket(ssl.SSLSocket):
    """A socket whose time-out covers all reads together.

    TLS inside TLS, as through an HTTPS proxy, reads until a record is complete. Otherwise each of
    these reads would have the whole time-out.
    """

    _deadline = math.inf

    def settimeout(self, value: float | None) -> None:
        """Set the time-out of all reads that follow together."""
        super().settimeout(value)
        self._deadline = math.inf if value is None else time.monotonic() + value

    def recv(self, buflen: int = 1024, flags: int = 0) -> bytes:
        """Read within the time that is left."""
        seconds = self._deadline - time.monotonic()
        if seconds <= 0:
            raise TimeoutError
        if seconds < math.inf:
            super().settimeout(seconds)
        return super().recv(buflen, flags)


class BlockingStream(httpcore.NetworkStream):
    """A stream whose reads and writes end at the deadline of the call. Other time-outs are ignored.

    httpcore writes the head and the body of a request separately. They are sent together, when the
    response is read.
    """

    def __init__(self, stream: httpcore.NetworkStream, call: CurrentCall) -> None:
        self._stream = stream
        self._call = call
        self._unsent = b""

    def close(self) -> None:
        self._stream.close()

    def get_extra_info(self, info: str) -> Any:
        value = self._stream.get_extra_info(info)
        return value or _holds_record(self._stream) if info == "is_readable" else value

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        self._send()
        data = self._stream.read(max_bytes, self._call.seconds_left())
        self._call.response_end.add(data)
        return data

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._unsent += buffer

    def _send(self) -> None:
        data, self._unsent = self._unsent, b""
        if data:
            self._call.response_end = ResponseEnd()
        # In slices: the time-out of one write begins again whenever the server reads a part.
        with suppress(httpcore.WriteError):  # the server may have responded and closed already
            for start in range(0, len(data), _WRITE_BYTES):
                self._stream.write(data[start : start + _WRITE_BYTES], self._call.seconds_left())

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> BlockingStream:
        seconds = self._call.handshake_seconds()
        tls = self._stream.start_tls(ssl_context, server_hostname, seconds)
        self._call.stream = stream = BlockingStream(tls, self._call)
        return stream


def _holds_record(stream: httpcore.NetworkStream) -> bool:
    """Return whether TLS inside TLS has received more than was read."""
    tls = stream.get_extra_info("ssl_object")
    if not isinstance(tls, ssl.SSLObject):  # a socket leaves what was not read to the system
        return False
    try:
        tls.read(1)
    except ssl.SSLWantReadError:
        return False
    except ssl.SSLError:
        pass
    return True


class BlockingBackend(httpcore.NetworkBackend):
    """Connects to `addresses`. Without any, it looks the host up."""

    def __init__(self, call: CurrentCall, addresses: tuple[str, ...]) -> None:
        self._network = httpcore.SyncBackend()
        self._call = call
        self._addresses = addresses

    def connect_tcp(self, host: str, port: int, *_: Any, **__: Any) -> BlockingStream:
        end = time.monotonic() + min(CONNECT_TIMEOUT, self._call.seconds_left())
        addresses = self._addresses or resolve(host, port, end)
        for address, seconds, is_last in attempts(addresses, end):
            try:
                tcp = self._network.connect_tcp(address, port, seconds)
            except _CONNECT_ERRORS:
                if is_last:
                    raise
            else:
                self._call.stream = stream = BlockingStream(tcp, self._call)
                return stream
        raise httpcore.ConnectError


def attempts(addresses: Sequence[str], end: float) -> Iterator[tuple[str, float, bool]]:
    """Yield each address, its share of the time until `end`, and whether it is the last one."""
    for remaining, address in zip(range(len(addresses), 0, -1), addresses, strict=True):
        seconds = max(_MIN_SECONDS, end - time.monotonic()) / remaining
        yield address, seconds, remaining == 1
