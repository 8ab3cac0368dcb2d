"""Transports of the caller's own."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import httpcore

from webtools.errors import ConfigError, RequestTimeoutError
from webtools.http.messages import CONNECT_TIMEOUT, Request, Response
from webtools.http.modes import Awaited, Blocking, Mode
from webtools.http.targets import Target
from webtools.http.through_httpx import Engine, client_over
from webtools.http.translation import LATE, Body
from webtools.http.transport import Transport


class _OwnConnection:
    """Stands in for pool and connection: requests go over a transport of the caller's own."""

    def __init__(self, mode: Mode, client: Any, addresses: tuple[str, ...]) -> None:
        self._mode = mode
        self._engine = Engine(client, "send", stream=True)
        self._addresses = addresses
        self._deadline = 0.0

    async def take(self, deadline: float) -> _OwnConnection:
        """Return itself."""
        self._deadline = deadline
        return self

    async def exchange(self, request: httpcore.Request, max_bytes: int) -> Body:
        """Send a request and read the answer; a page is asked for at the checked address."""
        left = max(0.0, self._deadline - time.monotonic())
        bounds = {"connect": min(CONNECT_TIMEOUT, left), "read": left, "write": left, "pool": left}
        extensions: dict[str, Any] = {"timeout": bounds}
        if self._addresses:
            url = request.url
            extensions["sni_hostname"] = url.host.decode()
            request.url = httpcore.URL(
                scheme=url.scheme,
                host=self._addresses[0].encode(),
                port=url.port,
                target=url.target,
            )
        request.extensions = extensions
        return await self._mode.exchange(self._engine, request, max_bytes, self._deadline)

    def has_more(self) -> bool:
        """Leave that to the transport."""
        return False

    async def give_back(self, connection: _OwnConnection, *, sound: bool) -> None:
        """Do nothing."""


class CustomTransport(Transport):
    """Sends requests over a transport of the caller's own, which it never closes."""

    mode: Mode = Blocking
    names = "transport", "blocking"

    def __init__(self, transport: Any) -> None:
        super().__init__()
        self._client = None if transport is None else client_over(self.mode, transport)

    async def _new_pool(self, key: tuple[Any, ...], target: Target) -> Any:  # noqa: ARG002
        if self._client is not None:
            return _OwnConnection(self.mode, self._client, addresses=key[-1])
        argument, kind = self.names
        raise ConfigError(
            f"this WebTools has a transport of its own, but none for {kind} calls: give it "
            f"{argument}= as well."
        )


class AsyncCustomTransport(CustomTransport):
    """The same for event loops."""

    mode = Awaited
    names = "async_transport", "async"
    aclose = Transport.close

    async def _exchange(self, request: Request, deadline: float) -> Response:
        try:
            async with asyncio.timeout(max(0.0, deadline - time.monotonic())):
                return await super()._exchange(request, deadline)
        except TimeoutError:
            raise RequestTimeoutError(LATE) from None

    async def current(self) -> AsyncCustomTransport:
        """Return itself, whatever the loop."""
        return self
