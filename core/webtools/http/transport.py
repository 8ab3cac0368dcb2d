"""Transports: what sends requests, blocking or on an event loop, over pooled connections."""

from __future__ import annotations

import os
import ssl
import weakref
from collections.abc import AsyncGenerator
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, TypeAlias

import certifi

from webtools.errors import ConfigError, InputError, RequestError
from webtools.http.backends import TLSSocket
from webtools.http.engine_logs import IN_OURS
from webtools.http.messages import Request, Response
from webtools.http.modes import Awaited, Blocking, Mode
from webtools.http.pool import AsyncPool, BlockingPool, Connection
from webtools.http.targets import Target
from webtools.http.translation import (
    as_request_error,
    bare,
    naming_proxy,
    network_errors,
    refuse_login,
    target_of,
    to_httpcore,
)
from webtools.http.watching import Tracing, watched

if TYPE_CHECKING:
    import asyncio

    from pydantic import SecretStr

MAX_PAGE_ORIGINS = 64  # sites of fetched pages that connections are kept for
_Key: TypeAlias = (
    "tuple[int, str, SecretStr | None, tuple[str, ...]]"  # process, origin, proxy, addresses
)
_Pools: TypeAlias = "dict[_Key, BlockingPool | AsyncPool]"


@lru_cache(maxsize=1)
def tls_context() -> ssl.SSLContext:
    """Load the trusted roots once per process: that takes 20 to 30 ms.

    The roots are certifi's, or those that `SSL_CERT_FILE` or `SSL_CERT_DIR` name.

    Raises:
        ConfigError: What the variable names cannot be read.
    """
    file = os.environ.get("SSL_CERT_FILE") or None
    folder = None if file else os.environ.get("SSL_CERT_DIR") or None
    if not (file or folder):
        file = certifi.where()
    try:
        context = ssl.create_default_context(cafile=file, capath=folder)
    except OSError as error:  # among them ssl.SSLError
        fault = error.strerror or type(error).__name__
    else:
        context.sslsocket_class = TLSSocket
        return context
    raise ConfigError(
        f"the trusted roots cannot be loaded ({fault}): SSL_CERT_FILE or SSL_CERT_DIR must name "
        "certificates in PEM form, or be unset."
    )


class Transport:
    """Sends requests; connections are pooled per origin and proxy.

    Args:
        through_client: Whether each request passes an `httpx.Client`, where hooks see it.
    """

    mode: Mode
    pool: type[BlockingPool | AsyncPool]

    def __init__(self, *, through_client: bool = False) -> None:
        self._through_client = through_client
        self._pools: _Pools = {}

    def send(self, request: Request, deadline: float) -> Any:
        """Exchange one request for its response.

        Raises:
            RequestError: No answer came, or it broke off.
            RequestTimeoutError: `deadline`, on the monotonic clock, passed.
        """
        exchange = watched(self._exchange) if Tracing.is_on else self._exchange
        return self.mode.run(exchange(request, deadline))

    def resolve(self, host: str, port: int, deadline: float) -> Any:
        """Look a host up; raises as `send` does."""
        return self.mode.resolve(host, port, deadline)

    def close(self) -> Any:
        """Close the idle connections; the next call opens new ones."""
        return self.mode.run(_close_all(self._pools))

    async def _exchange(self, request: Request, deadline: float) -> Response:
        target = target_of(request.url)
        # With the process: a forked child must not use its parent's sockets.
        key = (os.getpid(), target.origin, request.proxy, request.addresses)
        pool = self._pools.get(key) or await self._new_pool(key, target)
        connection, sound = await pool.take(deadline), False
        IN_OURS.set(True)
        try:
            sent = to_httpcore(request, target, deadline)
            body = await connection.exchange(sent, request.max_bytes)
            sound = not connection.has_more()
            response = body.to_response()
            return refuse_login(response) if request.proxy else response
        except network_errors() as error:
            raise as_request_error(error, target.origin, request) from bare(error)
        except RequestError as error:
            raise naming_proxy(error, request) from error.__cause__
        finally:
            IN_OURS.set(False)
            await pool.give_back(connection, sound=sound)

    async def _new_pool(self, key: _Key, target: Target) -> Any:
        _, _, proxy, addresses = key
        # In a thread: loading the roots would hold up a loop.
        context = await self.mode.offload(tls_context) if target.needs_tls(proxy) else None
        through = self._through_client
        make = partial(Connection, self.mode, context, proxy, addresses, through_client=through)
        pool = self._pools.setdefault(key, self.pool(make))
        for old in _surplus(self._pools):
            await old.close()
        return pool


class BlockingTransport(Transport):
    """Sends requests from any thread."""

    mode, pool = Blocking, BlockingPool

    def __init__(self, *, through_client: bool = False) -> None:
        super().__init__(through_client=through_client)
        # What nobody closes is closed with the transport, or when the interpreter ends.
        weakref.finalize(self, _close_at_once, self._pools)


class AsyncTransport(Transport):
    """Sends requests on one event loop; made anew for every loop."""

    mode, pool = Awaited, AsyncPool
    aclose = Transport.close


def _close_at_once(pools: _Pools) -> None:
    Blocking.run(_close_all(pools))


async def _close_all(pools: _Pools) -> None:
    for each in list(pools.values()):
        await each.close()


class LoopTransports:
    """One `AsyncTransport` per event loop, closed together with its loop."""

    def __init__(self, *, through_client: bool = False) -> None:
        self._through_client = through_client
        # With the generator whose end closes it.
        self._known: dict[asyncio.AbstractEventLoop, tuple[AsyncTransport, Any]] = {}

    async def current(self) -> AsyncTransport:
        """Return the running loop's transport.

        Raises:
            InputError: No asyncio loop runs here, as under trio.
        """
        loop = _running_loop()
        if loop not in self._known:
            for other in list(self._known):
                if other.is_closed():  # without the ceremony below
                    self._known.pop(other, None)
            transport = AsyncTransport(through_client=self._through_client)
            until_loop_ends = _close_at_end(transport, weakref.ref(self))
            self._known[loop] = transport, until_loop_ends
            await until_loop_ends.__anext__()
        return self._known[loop][0]

    async def aclose(self) -> None:
        """Close the running loop's connections."""
        if known := self._known.get(_running_loop()):
            await known[0].aclose()

    def forget_running(self) -> None:
        """Drop the running loop's transport."""
        self._known.pop(_running_loop(), None)


def _running_loop() -> asyncio.AbstractEventLoop:
    import asyncio  # noqa: PLC0415 - blocking calls do without

    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        message = (
            "The async methods need a running asyncio event loop, which is not here; under trio "
            "call the blocking ones in a thread: await trio.to_thread.run_sync(web.search, query)."
        )
    raise InputError(message)


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


def _surplus(pools: dict[Any, Any]) -> list[Any]:
    """Take the oldest origins of pages out: of those, unlike of APIs, there is no end."""
    pages = [key for key in list(pools) if key[-1]]
    old = [pools.pop(key, None) for key in pages[: max(0, len(pages) - MAX_PAGE_ORIGINS)]]
    retired = [each for each in old if each is not None]
    for each in retired:
        each.retired = True  # a connection still in use is closed when it comes back
    return retired
