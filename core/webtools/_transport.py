"""The only module that does network I/O: connections, deadlines, body bounds.

Requests are handed straight to httpx's transports. Its client layer would cost a third of a call
and bounds each single read, so that a server sending a byte at a time could hold a call for hours.
Here a *lane* is one transport with one connection at most, whose every read and write is bounded by
the deadline of the call in progress. Idle lanes are kept in a stack: calls in turn reuse one
connection, and none of httpcore's pool search, which grows with the square of the connections
in one pool, is ever paid.
"""

from __future__ import annotations

import asyncio
import os
import socket
import ssl
import threading
import time
import weakref
import zlib
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterable, Callable, Iterable
from contextlib import suppress
from functools import lru_cache
from importlib import import_module
from json import dumps
from queue import Empty, SimpleQueue
from typing import Any, NamedTuple, TypeAlias, cast

import httpcore
import httpx

from webtools._cleaning import one_line
from webtools._http import CONNECT_TIMEOUT, Request, Response
from webtools._resolving import aresolve, resolve
from webtools._version import __version__
from webtools.errors import ConfigError, RequestError, RequestTimeoutError, WebToolsError

with suppress(ImportError):
    # anyio loads its backend at the first connection, which would hold up that loop for 20 ms.
    import_module("anyio._backends._asyncio")

MAX_PAGE_ORIGINS = 64  # sites of fetched pages that connections are kept for
MAX_LANES = 64  # connections to one origin, per loop or for all threads together
_WRITE_BYTES = 65_536
IDLE_SECONDS = 30.0  # an idle connection older than this is not used again
_Key: TypeAlias = "tuple[str, str | None, tuple[str, ...]]"  # origin, proxy, addresses
_ProcessKey: TypeAlias = "tuple[int, str, str | None, tuple[str, ...]]"  # with the process first
_NETWORK_ERRORS = (httpx.HTTPError, httpx.InvalidURL, UnicodeError, OSError)
_DEFAULT_HEADERS = [
    (b"accept", b"application/json"),
    (b"accept-encoding", b"gzip"),
    (b"user-agent", f"agent-webtools/{__version__}".encode()),
]


@lru_cache(maxsize=1)
def tls_context() -> ssl.SSLContext:
    """Load the trusted roots once per process: that takes 20 to 30 ms.

    The roots are certifi's, or those that `SSL_CERT_FILE` or `SSL_CERT_DIR` name.

    Raises:
        ConfigError: What the variable names cannot be read.
    """
    try:
        return httpx.create_ssl_context()
    except OSError as error:  # among them ssl.SSLError
        fault = error.strerror or type(error).__name__
    raise ConfigError(
        f"the trusted roots cannot be loaded ({fault}): SSL_CERT_FILE or SSL_CERT_DIR must name "
        "certificates in PEM form, or be unset."
    )


# --- deadlines ---------------------------------------------------------------------------------


class _Deadline:
    """The end of the call that a lane is serving; its streams look here at every read."""

    __slots__ = ("at",)

    def __init__(self) -> None:
        self.at = 0.0

    def left(self) -> float:
        left = self.at - time.monotonic()
        if left <= 0:
            raise httpcore.ReadTimeout
        return left


class _BlockingStream(httpcore.NetworkStream):
    """A stream bounded by the deadline; what is written goes out when an answer is read.

    httpcore writes head and body of a request one by one; together they are one system call
    and wake the server once.
    """

    def __init__(self, stream: httpcore.NetworkStream, deadline: _Deadline) -> None:
        self._stream = stream
        self._deadline = deadline
        self._unsent: list[bytes] = []

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        if self._unsent:
            unsent, self._unsent = memoryview(b"".join(self._unsent)), []
            # In slices: a slow reader would have the time that is left for each part it takes.
            for start in range(0, len(unsent), _WRITE_BYTES):
                part = bytes(unsent[start : start + _WRITE_BYTES])
                self._stream.write(part, self._deadline.left())
        return self._stream.read(max_bytes, self._deadline.left())

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._unsent.append(buffer)

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore.NetworkStream:
        left = min(CONNECT_TIMEOUT, self._deadline.left())
        stream = self._stream.start_tls(ssl_context, server_hostname, left)
        return _BlockingStream(stream, self._deadline)

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


class _BlockingBackend(httpcore.NetworkBackend):
    def __init__(self, deadline: _Deadline, addresses: tuple[str, ...] = ()) -> None:
        self._deadline = deadline
        self._addresses = addresses
        self._backend = httpcore.SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.NetworkStream:
        # One after the other, as the backend would, but the time left is for all of them together.
        end = time.monotonic() + min(CONNECT_TIMEOUT, self._deadline.left())
        addresses = self._addresses or _look_up(host, port, end)
        for index, address in enumerate(addresses, 1 - len(addresses)):
            share = max(0.001, end - time.monotonic()) / (1 - index)
            try:
                stream = self._backend.connect_tcp(
                    address, port, share, local_address, socket_options
                )
            except (httpcore.ConnectError, httpcore.ConnectTimeout):
                if index == 0:
                    raise
            else:
                return _BlockingStream(stream, self._deadline)
        raise httpcore.ConnectError(f"{host} has no address")


class _AsyncStream(httpcore.AsyncNetworkStream):
    """The same for an event loop."""

    def __init__(self, stream: httpcore.AsyncNetworkStream, deadline: _Deadline) -> None:
        self._stream = stream
        self._deadline = deadline
        self._unsent: list[bytes] = []

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        if self._unsent:
            unsent, self._unsent = b"".join(self._unsent), []
            await self._stream.write(unsent, self._deadline.left())
        return await self._stream.read(max_bytes, self._deadline.left())

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._unsent.append(buffer)

    async def aclose(self) -> None:
        await self._stream.aclose()

    async def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore.AsyncNetworkStream:
        left = min(CONNECT_TIMEOUT, self._deadline.left())
        stream = await self._stream.start_tls(ssl_context, server_hostname, left)
        return _AsyncStream(stream, self._deadline)

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


class _AsyncBackend(httpcore.AsyncNetworkBackend):
    def __init__(self, deadline: _Deadline, addresses: tuple[str, ...] = ()) -> None:
        self._deadline = deadline
        self._addresses = addresses
        self._backend = cast("httpcore.AsyncNetworkBackend", httpcore.AnyIOBackend())

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        end = time.monotonic() + min(CONNECT_TIMEOUT, self._deadline.left())
        *others, last = self._addresses or (host,)
        for count, address in enumerate(others):
            share = max(0.001, end - time.monotonic()) / (len(others) + 1 - count)
            with suppress(httpcore.ConnectError, httpcore.ConnectTimeout):
                stream = await self._backend.connect_tcp(
                    address, port, share, local_address, socket_options
                )
                return _AsyncStream(stream, self._deadline)
        left = max(0.001, end - time.monotonic())
        stream = await self._backend.connect_tcp(last, port, left, local_address, socket_options)
        return _AsyncStream(stream, self._deadline)


# --- lanes -------------------------------------------------------------------------------------


class _BlockingLane(httpx.HTTPTransport):
    """One connection, and the deadline that bounds it.

    httpx has no argument for httpcore's network backend, hence the pool made here. The class
    stays an `HTTPTransport`: recorders and tracers that hook into httpx see its requests.
    """

    def __init__(
        self,
        context: ssl.SSLContext | None,
        proxy: str | None,
        addresses: tuple[str, ...] = (),
    ) -> None:
        self.deadline = _Deadline()
        self.idle_since = 0.0
        self._pool = httpcore.ConnectionPool(
            ssl_context=context,
            proxy=_proxy(proxy),
            max_connections=1,
            keepalive_expiry=IDLE_SECONDS,
            network_backend=_BlockingBackend(self.deadline, addresses),
        )


class _AsyncLane(httpx.AsyncHTTPTransport):
    """The same for an event loop."""

    def __init__(
        self,
        context: ssl.SSLContext | None,
        proxy: str | None,
        addresses: tuple[str, ...] = (),
    ) -> None:
        self.deadline = _Deadline()
        self.idle_since = 0.0
        self._pool = httpcore.AsyncConnectionPool(
            ssl_context=context,
            proxy=_proxy(proxy),
            max_connections=1,
            keepalive_expiry=IDLE_SECONDS,
            network_backend=_AsyncBackend(self.deadline, addresses),
        )


def _look_up(host: str, port: int, end: float) -> list[str]:
    """Find a host's addresses, as the event loop does in a thread: look-ups know no deadline."""
    found: SimpleQueue[list[str] | OSError | UnicodeError] = SimpleQueue()

    def ask() -> None:
        try:
            infos = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
            found.put([str(info[4][0]) for info in infos])
        except (OSError, UnicodeError) as error:
            found.put(error)

    threading.Thread(target=ask, name="webtools-look-up", daemon=True).start()
    try:
        answer = found.get(timeout=max(0.0, end - time.monotonic()))
        if isinstance(answer, Exception):
            raise answer
    except Empty:
        raise httpcore.ConnectTimeout from None
    except OSError as error:
        raise httpcore.ConnectError(str(error)) from error
    return answer


def _proxy(url: str | None) -> httpcore.Proxy | None:
    if url is None:
        return None
    proxy = httpx.Proxy(url)
    return httpcore.Proxy(str(proxy.url), auth=proxy.raw_auth, headers=proxy.headers.raw)


def _stale(lanes: list[Any]) -> list[Any]:
    """Take the lanes out that no call has used for long; the oldest stand first."""
    limit = time.monotonic() - IDLE_SECONDS
    count = next((i for i, lane in enumerate(lanes) if lane.idle_since > limit), len(lanes))
    stale = lanes[:count]
    del lanes[:count]
    return stale


class _BlockingLanes:
    """The lanes to one origin; any thread may take one."""

    def __init__(self, make: Callable[[], _BlockingLane]) -> None:
        self._make = make
        self.retired = False
        self._idle: list[_BlockingLane] = []
        self._gate = threading.BoundedSemaphore(MAX_LANES)
        self._lock = threading.Lock()

    def take(self, deadline: float) -> _BlockingLane:
        if not self._gate.acquire(timeout=max(0.0, deadline - time.monotonic())):
            raise _all_busy()
        with self._lock:
            lane = self._idle.pop() if self._idle else None
        lane = lane or self._make()
        lane.deadline.at = deadline
        return lane

    def give_back(self, lane: _BlockingLane, *, sound: bool) -> None:
        """Take a lane back; one whose call failed is closed.

        httpcore never forgets some failed connections, such as through a proxy, and would wait for
        them for ever: its pool has room for one.
        """
        lane.idle_since = time.monotonic()
        with self._lock:
            stale = _stale(self._idle)
            (self._idle if sound and not self.retired else stale).append(lane)
        self._gate.release()
        for old in stale:
            old.close()

    def close(self) -> None:
        while self._idle:  # without the lock: in a forked child it may be held for ever
            with suppress(IndexError):
                self._idle.pop().close()


class _AsyncLanes:
    """The lanes to one origin from one event loop."""

    def __init__(self, make: Callable[[], _AsyncLane]) -> None:
        self._make = make
        self.retired = False
        self._idle: list[_AsyncLane] = []
        self._free = MAX_LANES
        self._waiting: deque[asyncio.Future[bool]] = deque()

    async def take(self, deadline: float) -> _AsyncLane:
        if self._free:
            self._free -= 1
        else:
            await self._wait_turn(deadline)
        lane = self._idle.pop() if self._idle else self._make()
        lane.deadline.at = deadline
        return lane

    async def _wait_turn(self, deadline: float) -> None:
        # Not `wait_for` a semaphore: before Python 3.12 it swallows a cancellation that comes
        # together with the turn.
        loop = asyncio.get_running_loop()
        turn: asyncio.Future[bool] = loop.create_future()
        timer = loop.call_later(max(0.0, deadline - time.monotonic()), _settle, turn, False)
        self._waiting.append(turn)
        try:
            if not await turn:
                raise _all_busy()
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled() and turn.result():
                self._pass_on()
            raise
        finally:
            timer.cancel()

    def _pass_on(self) -> None:
        """Let the next in the queue have the turn that became free."""
        while self._waiting:
            if _settle(self._waiting.popleft(), True):
                return
        self._free += 1

    async def give_back(self, lane: _AsyncLane, *, sound: bool) -> None:
        lane.idle_since = time.monotonic()
        stale = _stale(self._idle)
        (self._idle if sound and not self.retired else stale).append(lane)
        self._pass_on()
        for old in stale:
            await old.aclose()

    async def aclose(self) -> None:
        while self._idle:
            await self._idle.pop().aclose()


def _settle(turn: asyncio.Future[bool], granted: bool) -> bool:
    """Answer one who waits for a turn; False when that came too late."""
    if turn.done():
        return False
    turn.set_result(granted)
    return True


def _all_busy() -> RequestTimeoutError:
    message = f"all {MAX_LANES} connections to the host were busy until the time ran out"
    return RequestTimeoutError(message)


def _surplus(lanes: dict[Any, Any]) -> list[Any]:
    """Take the oldest origins of pages out: of those, unlike of APIs, there is no end."""
    pages = [key for key in list(lanes) if key[-1]]
    old = [lanes.pop(key, None) for key in pages[: max(0, len(pages) - MAX_PAGE_ORIGINS)]]
    retired = [each for each in old if each is not None]
    for each in retired:
        each.retired = True  # a lane still in use is closed when it comes back
    return retired


# --- transports --------------------------------------------------------------------------------


class BlockingTransport:
    """Sends requests from any thread; connections are pooled per origin and proxy."""

    def __init__(self) -> None:
        self._lanes: dict[_ProcessKey, _BlockingLanes] = {}
        # What nobody closes is closed with the transport, or when the interpreter ends.
        weakref.finalize(self, _close_all, self._lanes)

    def send(self, request: Request, deadline: float) -> Response:
        """Exchange one request for its response.

        Raises:
            RequestError: No answer came, or it broke off.
            RequestTimeoutError: `deadline`, on the monotonic clock, passed.
        """
        target = _target(request.url)
        lanes = self._lanes_for(target, request.proxy, request.addresses)
        lane, sound = lanes.take(deadline), False
        try:
            outgoing = _to_httpx(request, target, deadline)
            answer = lane.handle_request(outgoing)
            try:
                body = _Body(answer, request.max_bytes)
                for chunk in cast("Iterable[bytes]", answer.stream):
                    body.add(chunk)
            finally:
                answer.close()
            sound = True
            return body.to_response()
        except _NETWORK_ERRORS as error:
            raise _as_request_error(error, target.origin) from _bare(error)
        finally:
            lanes.give_back(lane, sound=sound)

    def resolve(self, host: str, port: int, deadline: float) -> tuple[str, ...]:
        """Look a host up; raises as `send` does."""
        return resolve(host, port, deadline)

    def close(self) -> None:
        """Close the idle connections; the next call opens new ones."""
        _close_all(self._lanes)

    def _lanes_for(
        self, target: _Target, proxy: str | None, addresses: tuple[str, ...]
    ) -> _BlockingLanes:
        # With the process: a forked child must not use its parent's sockets.
        key = (os.getpid(), target.origin, proxy, addresses)
        lanes = self._lanes.get(key)
        if lanes is None:
            context = tls_context() if target.needs_tls(proxy) else None
            made = _BlockingLanes(lambda: _BlockingLane(context, proxy, addresses))
            lanes = self._lanes.setdefault(key, made)
            for old in _surplus(self._lanes):
                old.close()
        return lanes


def _close_all(lanes: dict[Any, _BlockingLanes]) -> None:
    for each in list(lanes.values()):
        each.close()


class AsyncTransport:
    """Sends requests on one event loop; made anew for every loop."""

    def __init__(self) -> None:
        self._lanes: dict[_Key, _AsyncLanes] = {}

    async def send(self, request: Request, deadline: float) -> Response:
        """Exchange one request for its response; raises as `BlockingTransport.send` does."""
        target = _target(request.url)
        lanes = await self._lanes_for(target, request.proxy, request.addresses)
        lane, sound = await lanes.take(deadline), False
        try:
            outgoing = _to_httpx(request, target, deadline)
            answer = await lane.handle_async_request(outgoing)
            try:
                body = _Body(answer, request.max_bytes)
                async for chunk in cast("AsyncIterable[bytes]", answer.stream):
                    body.add(chunk)
            finally:
                await answer.aclose()
            sound = True
            return body.to_response()
        except _NETWORK_ERRORS as error:
            raise _as_request_error(error, target.origin) from _bare(error)
        finally:
            await lanes.give_back(lane, sound=sound)

    async def resolve(self, host: str, port: int, deadline: float) -> tuple[str, ...]:
        """Look a host up; raises as `send` does."""
        return await aresolve(host, port, deadline)

    async def aclose(self) -> None:
        """Close the idle connections; the next call opens new ones."""
        for lanes in list(self._lanes.values()):
            await lanes.aclose()

    async def _lanes_for(
        self, target: _Target, proxy: str | None, addresses: tuple[str, ...]
    ) -> _AsyncLanes:
        key = (target.origin, proxy, addresses)
        lanes = self._lanes.get(key)
        if lanes is None:
            # In a thread: loading the roots would hold up the loop.
            context = await asyncio.to_thread(tls_context) if target.needs_tls(proxy) else None
            made = _AsyncLanes(lambda: _AsyncLane(context, proxy, addresses))
            lanes = self._lanes.setdefault(key, made)
            for old in _surplus(self._lanes):
                await old.aclose()
        return lanes


class LoopTransports:
    """One `AsyncTransport` per event loop, closed together with its loop."""

    def __init__(self) -> None:
        self._keepers: dict[asyncio.AbstractEventLoop, _Keeper] = {}

    async def current(self) -> AsyncTransport:
        """Give the running loop's transport."""
        loop = asyncio.get_running_loop()
        keeper = self._keepers.get(loop)
        if keeper is None:
            for other in list(self._keepers):
                if other.is_closed():  # without the ceremony below
                    self._keepers.pop(other, None)
            keeper = self._keepers[loop] = _Keeper(weakref.ref(self))
            await keeper.until_loop_ends.__anext__()
        return keeper.transport

    async def aclose(self) -> None:
        """Close the running loop's connections."""
        keeper = self._keepers.get(asyncio.get_running_loop())
        if keeper is not None:
            await keeper.transport.aclose()

    def forget_running(self) -> None:
        """Drop the running loop's transport."""
        self._keepers.pop(asyncio.get_running_loop(), None)


class _Keeper:
    """Holds a loop's transport, and the generator whose end closes it."""

    def __init__(self, owner: weakref.ref[LoopTransports]) -> None:
        self.transport = AsyncTransport()
        self.until_loop_ends = _close_at_end(self.transport, owner)


async def _close_at_end(
    transport: AsyncTransport, owner: weakref.ref[LoopTransports]
) -> AsyncGenerator[None, None]:
    # `asyncio.run` and its like end the async generators that are still open before they close
    # the loop: the one moment at which connections nobody closed can still be closed cleanly.
    try:
        yield
    finally:
        if (loops := owner()) is not None:
            loops.forget_running()  # else the loop would live as long as we do
        await transport.aclose()


# --- translation -------------------------------------------------------------------------------


class _Target(NamedTuple):
    """A parsed URL, and what of it is needed at every call."""

    url: httpx.URL
    origin: str
    host: bytes

    def needs_tls(self, proxy: str | None) -> bool:
        return self.url.scheme == "https" or bool(proxy and proxy.startswith("https"))


@lru_cache(maxsize=256)
def _parsed(url: str) -> _Target:
    parsed = httpx.URL(url)
    host = parsed.netloc
    return _Target(parsed, f"{parsed.scheme}://{host.decode()}", host)


def _target(url: str) -> _Target:
    try:
        return _parsed(url)
    except (httpx.InvalidURL, UnicodeError) as error:
        raise _as_request_error(error) from _bare(error)


def _to_httpx(request: Request, target: _Target, deadline: float) -> httpx.Request:
    # Headers in their final form and a ready stream: httpx then has nothing left to work out.
    headers = [(b"host", target.host)]
    headers += [pair for pair in _DEFAULT_HEADERS if pair[0].decode() not in request.headers]
    headers += [(name.encode(), value.encode()) for name, value in request.headers.items()]
    content = b""
    if request.json is not None:
        content = dumps(request.json, separators=(",", ":")).encode()
        headers.append((b"content-type", b"application/json"))
        headers.append((b"content-length", b"%d" % len(content)))
    # Reads and writes are bounded by the lane; this bounds httpcore's own waiting, for its pool.
    bound = {"timeout": {"pool": max(0.0, deadline - time.monotonic())}}
    stream = httpx.ByteStream(content)
    return httpx.Request(
        request.method, target.url, headers=headers, stream=stream, extensions=bound
    )


class _Body:
    """Collects an answer's body, decompressed and bounded while it arrives."""

    def __init__(self, answer: httpx.Response, max_bytes: int) -> None:
        self._answer = answer
        self._max_bytes = max_bytes
        self._parts: list[bytes] = []
        self._size = 0
        self._headers = {
            name.decode("latin-1").lower(): value.decode("latin-1")
            for name, value in answer.headers.raw
        }
        self._inflate = _decompressor(self._headers.get("content-encoding", ""))

    def add(self, chunk: bytes) -> None:
        if self._inflate is not None:
            chunk = self._decompress(chunk)
        self._size += len(chunk)
        if self._size > self._max_bytes:
            size = self._max_bytes // (1024 * 1024)
            message = f"the answer is larger than {size} MiB"
            raise RequestError(message, status=self._answer.status_code, retryable=False)
        self._parts.append(chunk)

    def _decompress(self, chunk: bytes) -> bytes:
        # Bounded, since a few KB can unfold to gigabytes; one byte more shows that it is too much.
        room = self._max_bytes - self._size + 1
        found = b""
        try:
            while chunk and len(found) < room:
                if self._inflate.eof:  # a compressed body may have several members (RFC 1952)
                    self._inflate = _decompressor("gzip")
                found += self._inflate.decompress(chunk, room - len(found))
                chunk = self._inflate.unused_data
        except zlib.error as error:
            message = f"the answer cannot be decompressed ({error})"
            status = self._answer.status_code
            raise RequestError(message, status=status, retryable=False) from error
        return found

    def to_response(self) -> Response:
        if self._parts and self._inflate is not None and not self._inflate.eof:
            raise RequestError("the answer broke off", status=self._answer.status_code)
        return Response(self._answer.status_code, self._headers, b"".join(self._parts))


def _decompressor(encoding: str) -> Any:
    match encoding.strip().lower():
        case "" | "identity":
            return None
        case "gzip" | "x-gzip" | "deflate":
            return zlib.decompressobj(zlib.MAX_WBITS | 32)  # either header is recognised
        case other:
            message = f'the answer has an unknown content encoding "{one_line(other)[:40]}"'
            raise RequestError(message, retryable=False)


_WORDS: list[tuple[type[Exception], str]] = [
    (httpx.ConnectError, "no connection to {origin} could be made"),
    (httpx.ProxyError, "the proxy refused the connection to {origin}"),
    (httpx.ProtocolError, "the answer broke off or is no valid HTTP"),
    (Exception, "the connection broke off"),
]


def _as_request_error(error: Exception, origin: str = "") -> WebToolsError:
    if isinstance(error, httpx.TimeoutException):
        return RequestTimeoutError("no answer came in time")
    if isinstance(error, (httpx.InvalidURL, UnicodeError, httpx.UnsupportedProtocol)):
        return RequestError(f"the address cannot be used ({error})", retryable=False)
    words = next((words for kind, words in _WORDS if isinstance(error, kind)), _WORDS[-1][1])
    return RequestError(words.format(origin=origin) + _detail(error))


def _detail(error: BaseException | None) -> str:
    """Find what the system said of a failed look-up or handshake; other texts differ by driver."""
    while error is not None:
        if isinstance(error, ssl.SSLCertVerificationError):
            return f": the certificate is not trusted ({error.verify_message})"
        if isinstance(error, socket.gaierror):
            return f": {error.strerror}"
        error = error.__cause__ or error.__context__
    return ""


def _bare(error: Exception) -> Exception:
    """Cut an error loose from its frames and causes: they hold the request's headers."""
    error.__cause__ = error.__context__ = None
    with suppress(AttributeError):
        del error._request  # type: ignore[attr-defined]  # noqa: SLF001
    return error.with_traceback(None)
