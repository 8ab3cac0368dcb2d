"""An HTTP proxy on loopback that a browser sends all its traffic through.

It looks hosts up itself, checks them with the guard of `ssrf`, and connects to an address that was
checked. What the guard refuses gets no connection.
"""

from __future__ import annotations

import asyncio
import time
from base64 import b64encode
from collections.abc import Callable
from contextlib import suppress
from hmac import compare_digest
from secrets import token_urlsafe
from types import TracebackType
from typing import Self

from webtools._internal.http.event_loops import aresolve
from webtools._internal.http.proxies import Proxy
from webtools._internal.pages import ssrf
from webtools._internal.pages.ssrf import Policy
from webtools._internal.text.urls import Target, parse, refusal
from webtools.errors import ConfigError, ProviderError, RequestError, WebToolsError

_CHUNK = 64 * 1024
_MAX_HEAD = 256 * 1024  # bytes of the head of a message
_MAX_ADDRESSES = 4  # of a host, to connect to
_FIRST_FINAL_STATUS = 200  # those below announce another response
# What the browser asks for itself, whatever its flags say: pages are not made of that.
_BROWSERS_OWN = (
    *("accounts.google.com", "update.googleapis.com", "clients1.google.com", "clients2.google.com"),
    *("optimizationguide-pa.googleapis.com", "content-autofill.googleapis.com"),
    *("safebrowsing.googleapis.com", "safebrowsing.google.com", "redirector.gvt1.com"),
    *("edgedl.me.gvt1.com", "android.clients.google.com", "mtalk.google.com"),
)
USER = "webtools"
_LOG_IN = (
    b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n"
    b'Proxy-Authenticate: Basic realm="webtools"\r\nConnection: close\r\n\r\n'
)
_HOP_BY_HOP = ("connection", "keep-alive", "upgrade")


class GuardProxy:
    """The proxy of one page, on the running event loop.

    Attributes:
        url: Its own URL.
        password: What the browser must log in with. Without it, other local processes could use the
            proxy.
        is_open: Whether the page is asked for. What the browser asks for earlier is its own.
        fault: Why it accepts nothing any more, or None.
        refused: Errors of the sites that it did not connect to, by host and port.

    Args:
        start: The page.
        policy: Which private sites are allowed. As after a redirect, none is after a connection to
            a site that is not allowed to be private.
        check_site: Raises for a URL that the operator does not allow.
        choose_proxy: Returns the proxy that the settings name for a URL, or None.
        seconds: Time for everything.
        max_bytes: Maximum number of bytes that all sites together may send.
    """

    def __init__(
        self,
        start: Target,
        policy: Policy,
        check_site: Callable[[str], None],
        choose_proxy: Callable[[str], Proxy | None],
        seconds: float,
        max_bytes: int,
    ) -> None:
        self._host = start.host
        self._is_secure = start.scheme == "https"
        self._policy = policy
        self._check_site = check_site
        self._choose_proxy = choose_proxy
        self._deadline = time.monotonic() + seconds
        self._max_bytes = max_bytes
        self._bytes = 0
        self._server: asyncio.Server | None = None
        self._writers: list[asyncio.StreamWriter] = []
        self._tasks: set[asyncio.Task[None]] = set()
        self.url = ""
        self.password = token_urlsafe()
        self.is_open = False
        self.fault: WebToolsError | None = None
        self.refused: dict[str, WebToolsError] = {}

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0, limit=_MAX_HEAD)
        self.url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        assert self._server is not None  # noqa: S101  # `__aenter__` was called
        self._server.close()
        self._end_connections()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for writer in self._writers:
            writer.transport.abort()
        await asyncio.sleep(0)  # the transports close their sockets

    def shut(self, fault: WebToolsError) -> None:
        """End all connections and accept no other, for the first fault that is given."""
        self.fault = self.fault or fault
        self._end_connections()

    def _end_connections(self) -> None:
        for task in self._tasks:
            task.cancel()

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.append(writer)
        task = asyncio.ensure_future(self._serve(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            if self.fault is None:
                await self._forward(head, reader, writer)
        except (OSError, EOFError, ValueError, asyncio.LimitOverrunError, WebToolsError):
            pass  # the browser sees that the connection ends; `refused` has the errors
        except asyncio.CancelledError:
            pass  # this task ends here, and nothing awaits it but `__aexit__`
        finally:
            writer.transport.abort() if self.fault else writer.close()

    async def _forward(
        self, head: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        line, *fields = head.rstrip("\r\n").split("\r\n")
        if not self._is_login(fields):
            writer.write(_LOG_IN)
            return
        method, address, _version = line.split(" ")
        is_tunnel = method == "CONNECT"
        target = parse(f"https://{address}/" if is_tunnel else address)
        if not self.is_open or (target.host in _BROWSERS_OWN and target.host != self._host):
            return
        try:
            if not is_tunnel and self._is_secure:
                raise refusal("the page is https, and asks for plain http")
            from_site, to_site = await self._connect(target)
        except WebToolsError as error:
            self.refused.setdefault(target.site, error)
            raise
        try:
            if is_tunnel:
                writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
                async with asyncio.TaskGroup() as group:
                    group.create_task(_copy(reader, to_site))
                    group.create_task(self._copy_counted(from_site, writer))
            else:
                body = _body_length(fields)
                host = target.url.removeprefix("http://").partition("/")[0]
                to_site.write(_head(f"{method} {target.path} HTTP/1.1", fields, host))
                to_site.write(await reader.readexactly(body))
                await self._copy_response(from_site, writer)
        finally:
            to_site.transport.abort()

    def _is_login(self, fields: list[str]) -> bool:
        expected = b64encode(f"{USER}:{self.password}".encode()).decode()
        return any(
            name.strip().lower() == "proxy-authorization"
            and compare_digest(value.strip(), f"Basic {expected}")
            for name, _, value in _parts(fields)
        )

    async def _connect(self, target: Target) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """Connect to an address of a site that the guard has checked.

        Raises:
            WebToolsError: The site is refused, or cannot be connected to.
        """
        self._check_site(target.url)
        ssrf.check(target, self._policy)
        if self._choose_proxy(target.url) is not None:
            raise ConfigError(
                f'The settings or the environment name a proxy for "{target.site}", which a '
                'provider of type "browser" cannot use. Exempt the host with NO_PROXY, or use '
                '"direct".'
            )
        addresses: tuple[str, ...] = (target.host,)
        if target.address is None:
            addresses = await aresolve(target.host, target.port, self._deadline)
        checked = ssrf.check_addresses(target, addresses, self._policy)
        self._policy = self._policy.after(target)
        for address in checked[:_MAX_ADDRESSES]:
            with suppress(OSError):
                return await asyncio.open_connection(address, target.port, limit=_MAX_HEAD)
        raise RequestError(f'no connection to "{target.site}"; try again later')

    async def _copy_response(
        self, from_site: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        """Copy one response. The browser must not send a request for another site after it."""
        status = 0
        while status < _FIRST_FINAL_STATUS:
            head = await from_site.readuntil(b"\r\n\r\n")
            self._count(head)
            line, *fields = head.decode("latin-1").rstrip("\r\n").split("\r\n")
            status = int(line.split(" ")[1])
            writer.write(_head(line, fields))
        await self._copy_counted(from_site, writer)

    async def _copy_counted(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        while data := await source.read(_CHUNK):
            self._count(data)
            sink.write(data)
            await sink.drain()
        sink.close()

    def _count(self, data: bytes) -> None:
        self._bytes += len(data)
        if self._bytes > self._max_bytes:
            limit = f"{self._max_bytes / 1024 / 1024:g} MiB"
            message = f"the page and what it loads have more than {limit}; use another source"
            self.shut(ProviderError(message))


async def _copy(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
    while data := await source.read(_CHUNK):
        sink.write(data)
        await sink.drain()


def _body_length(fields: list[str]) -> int:
    """Return the length of a request's body.

    Raises:
        ValueError: It is not stated once and plainly.
    """
    named = [(name.strip().lower(), value.strip()) for name, _, value in _parts(fields)]
    lengths = [value for name, value in named if name == "content-length"]
    if len(lengths) > 1 or any(name == "transfer-encoding" for name, _ in named):
        raise ValueError("a body without a plain length")
    return int(*lengths or ["0"])


def _parts(fields: list[str]) -> list[tuple[str, str, str]]:
    return [field.partition(":") for field in fields]


def _head(line: str, fields: list[str], host: str = "") -> bytes:
    """Write a head for a connection with one message, with the host of the request if given."""
    kept = [
        f"{name}:{value}"
        for name, _, value in _parts(fields)
        if not name.strip().lower().startswith("proxy-")
        and name.strip().lower() not in (*_HOP_BY_HOP, "host" if host else "")
    ]
    lines = [line, *([f"Host: {host}"] if host else []), *kept, "Connection: close", "", ""]
    return "\r\n".join(lines).encode("latin-1")
