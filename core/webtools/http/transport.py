"""Transports; with `_lanes`, `_streams`, `_httpx` and `_resolving` all that does network I/O."""

from __future__ import annotations

import os
import ssl
import sys
import weakref
from collections.abc import AsyncGenerator, AsyncIterable, Iterable
from contextlib import suppress
from functools import lru_cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, cast

import certifi

from webtools.errors import ConfigError, InputError, RequestError
from webtools.http.dns import aresolve, resolve
from webtools.http.engine_logs import IN_OURS
from webtools.http.messages import Request, Response
from webtools.http.pool import AsyncLane, AsyncLanes, BlockingLane, BlockingLanes, has_more
from webtools.http.targets import Target
from webtools.http.threads import in_thread
from webtools.http.translation import (
    Body,
    as_request_error,
    bare,
    naming_proxy,
    network_errors,
    refuse_login,
    target_of,
    to_httpcore,
)

if TYPE_CHECKING:
    import asyncio

    import httpx

    from webtools.http.custom import AsyncCustomTransport, CustomTransport

if "asyncio" in sys.modules:  # a program with loops, which a first call that imports holds up
    for _name in (
        "anyio._backends._asyncio",
        "concurrent.futures.thread",
        "encodings.idna",
        "platformdirs",
    ):
        with suppress(ImportError):
            import_module(_name)

MAX_PAGE_ORIGINS = 64  # sites of fetched pages that connections are kept for
_Key: TypeAlias = "tuple[str, str | None, tuple[str, ...]]"  # origin, proxy, addresses
_ProcessKey: TypeAlias = "tuple[int, str, str | None, tuple[str, ...]]"  # with the process first


@lru_cache(maxsize=1)
def tls_context() -> ssl.SSLContext:
    """Load the trusted roots once per process: that takes 20 to 30 ms.

    The roots are certifi's, or those that `SSL_CERT_FILE` or `SSL_CERT_DIR` name.

    Raises:
        ConfigError: What the variable names cannot be read.
    """
    try:
        if file := os.environ.get("SSL_CERT_FILE"):
            return ssl.create_default_context(cafile=file)
        if folder := os.environ.get("SSL_CERT_DIR"):
            return ssl.create_default_context(capath=folder)
        return ssl.create_default_context(cafile=certifi.where())
    except OSError as error:  # among them ssl.SSLError
        fault = error.strerror or type(error).__name__
    raise ConfigError(
        f"the trusted roots cannot be loaded ({fault}): SSL_CERT_FILE or SSL_CERT_DIR must name "
        "certificates in PEM form, or be unset."
    )


class BlockingTransport:
    """Sends requests from any thread; connections are pooled per origin and proxy.

    Args:
        through_client: Whether each request passes an `httpx.Client`, where hooks see it.
    """

    def __init__(self, *, through_client: bool = False) -> None:
        self._through_client = through_client
        self._lanes: dict[_ProcessKey, BlockingLanes] = {}
        # What nobody closes is closed with the transport, or when the interpreter ends.
        weakref.finalize(self, _close_all, self._lanes)

    def send(self, request: Request, deadline: float) -> Response:
        """Exchange one request for its response.

        Raises:
            RequestError: No answer came, or it broke off.
            RequestTimeoutError: `deadline`, on the monotonic clock, passed.
        """
        target = target_of(request.url)
        lanes = self._lanes_for(target, request.proxy, request.addresses)
        lane, sound = lanes.take(deadline), False
        IN_OURS.set(True)
        try:
            answer = lane.exchange(to_httpcore(request, target, deadline), target)
            try:
                body = Body(answer, request.max_bytes)
                for chunk in cast("Iterable[bytes]", answer.stream):
                    body.add(chunk)
            finally:
                answer.close()
            sound = not has_more(lane)
            response = body.to_response()
            return refuse_login(response) if request.proxy else response
        except network_errors() as error:
            raise as_request_error(error, target.origin, request) from bare(error)
        except RequestError as error:
            raise naming_proxy(error, request) from error.__cause__
        finally:
            IN_OURS.set(False)
            lanes.give_back(lane, sound=sound)

    def resolve(self, host: str, port: int, deadline: float) -> tuple[str, ...]:
        """Look a host up; raises as `send` does."""
        return resolve(host, port, deadline)

    def close(self) -> None:
        """Close the idle connections; the next call opens new ones."""
        _close_all(self._lanes)

    def _lanes_for(
        self, target: Target, proxy: str | None, addresses: tuple[str, ...]
    ) -> BlockingLanes:
        # With the process: a forked child must not use its parent's sockets.
        key = (os.getpid(), target.origin, proxy, addresses)
        lanes = self._lanes.get(key)
        if lanes is None:
            context = tls_context() if target.needs_tls(proxy) else None
            through = self._through_client
            made = BlockingLanes(
                lambda: BlockingLane(context, proxy, addresses, through_client=through)
            )
            lanes = self._lanes.setdefault(key, made)
            for old in _surplus(self._lanes):
                old.close()
        return lanes


def _close_all(lanes: dict[Any, BlockingLanes]) -> None:
    for each in list(lanes.values()):
        each.close()


class AsyncTransport:
    """Sends requests on one event loop; made anew for every loop."""

    def __init__(self, *, through_client: bool = False) -> None:
        self._through_client = through_client
        self._lanes: dict[_Key, AsyncLanes] = {}

    async def send(self, request: Request, deadline: float) -> Response:
        """Exchange one request for its response; raises as `BlockingTransport.send` does."""
        target = target_of(request.url)
        lanes = await self._lanes_for(target, request.proxy, request.addresses)
        lane, sound = await lanes.take(deadline), False
        IN_OURS.set(True)
        try:
            answer = await lane.exchange(to_httpcore(request, target, deadline), target)
            try:
                body = Body(answer, request.max_bytes)
                async for chunk in cast("AsyncIterable[bytes]", answer.stream):
                    body.add(chunk)
            finally:
                await answer.aclose()
            sound = not has_more(lane)
            response = body.to_response()
            return refuse_login(response) if request.proxy else response
        except network_errors() as error:
            raise as_request_error(error, target.origin, request) from bare(error)
        except RequestError as error:
            raise naming_proxy(error, request) from error.__cause__
        finally:
            IN_OURS.set(False)
            await lanes.give_back(lane, sound=sound)

    async def resolve(self, host: str, port: int, deadline: float) -> tuple[str, ...]:
        """Look a host up; raises as `send` does."""
        return await aresolve(host, port, deadline)

    async def aclose(self) -> None:
        """Close the idle connections; the next call opens new ones."""
        for lanes in list(self._lanes.values()):
            await lanes.aclose()

    async def _lanes_for(
        self, target: Target, proxy: str | None, addresses: tuple[str, ...]
    ) -> AsyncLanes:
        key = (target.origin, proxy, addresses)
        lanes = self._lanes.get(key)
        if lanes is None:
            # In a thread: loading the roots would hold up the loop.
            context = await in_thread(tls_context) if target.needs_tls(proxy) else None
            through = self._through_client
            made = AsyncLanes(lambda: AsyncLane(context, proxy, addresses, through_client=through))
            lanes = self._lanes.setdefault(key, made)
            for old in _surplus(self._lanes):
                await old.aclose()
        return lanes


class LoopTransports:
    """One `AsyncTransport` per event loop, closed together with its loop."""

    def __init__(self, *, through_client: bool = False) -> None:
        self._through_client = through_client
        self._keepers: dict[asyncio.AbstractEventLoop, _Keeper] = {}

    async def current(self) -> AsyncTransport:
        """Return the running loop's transport.

        Raises:
            InputError: No asyncio loop runs here, as under trio.
        """
        loop = _running_loop()
        keeper = self._keepers.get(loop)
        if keeper is None:
            for other in list(self._keepers):
                if other.is_closed():  # without the ceremony below
                    self._keepers.pop(other, None)
            keeper = self._keepers[loop] = _Keeper(
                weakref.ref(self), AsyncTransport(through_client=self._through_client)
            )
            await keeper.until_loop_ends.__anext__()
        return keeper.transport

    async def aclose(self) -> None:
        """Close the running loop's connections."""
        keeper = self._keepers.get(_running_loop())
        if keeper is not None:
            await keeper.transport.aclose()

    def forget_running(self) -> None:
        """Drop the running loop's transport."""
        self._keepers.pop(_running_loop(), None)


def transports_for(
    transport: httpx.BaseTransport | Literal["httpx"] | None,
    async_transport: httpx.AsyncBaseTransport | None,
) -> tuple[BlockingTransport, LoopTransports] | tuple[CustomTransport, AsyncCustomTransport]:
    """Build what sends the requests of one facade, as its caller wants it.

    Args:
        transport: The caller's own; `httpx` for ours below an `httpx.Client`; None for ours.
        async_transport: The caller's own for event loops; without, `transport` if it serves both.

    Raises:
        InputError: One of them is no transport.
    """
    if transport in (None, "httpx") and async_transport is None:
        through_client = transport is not None
        loops = LoopTransports(through_client=through_client)
        return BlockingTransport(through_client=through_client), loops
    import httpx  # noqa: PLC0415 - importing it takes longer than a request

    from webtools.http.custom import AsyncCustomTransport, CustomTransport  # noqa: PLC0415

    if async_transport is None and isinstance(transport, httpx.AsyncBaseTransport):
        async_transport = transport
    given = (transport, httpx.BaseTransport), (async_transport, httpx.AsyncBaseTransport)
    for each, kind in given:
        if each is not None and not isinstance(each, kind):
            message = f"{type(each).__name__} is no httpx.{kind.__name__}, as a transport must be."
            raise InputError(message)
    return CustomTransport(cast("Any", transport)), AsyncCustomTransport(async_transport)


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


class _Keeper:
    """Holds a loop's transport, and the generator whose end closes it."""

    def __init__(self, owner: weakref.ref[LoopTransports], transport: AsyncTransport) -> None:
        self.transport = transport
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


def _surplus(lanes: dict[Any, Any]) -> list[Any]:
    """Take the oldest origins of pages out: of those, unlike of APIs, there is no end."""
    pages = [key for key in list(lanes) if key[-1]]
    old = [lanes.pop(key, None) for key in pages[: max(0, len(pages) - MAX_PAGE_ORIGINS)]]
    retired = [each for each in old if each is not None]
    for each in retired:
        each.retired = True  # a lane still in use is closed when it comes back
    return retired
