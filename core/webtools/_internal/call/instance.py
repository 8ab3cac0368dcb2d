"""The base of `WebTools`: settings, connections, and the two ways to run a call."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable, Coroutine, Mapping
from functools import cached_property
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import httpx

from webtools._internal.call.dispatcher import Dispatcher
from webtools._internal.http.clients import BlockingHTTP
from webtools._internal.http.watching import find_tracer
from webtools._internal.io.blocking import BlockingIO
from webtools._internal.io.runtime import IO, interruptible, run
from webtools._internal.late_imports import resolve
from webtools._internal.pipeline.tool_call import call_services
from webtools._internal.representation import load_display
from webtools._internal.text.reader import short_interrupt
from webtools.config import (
    Config,
    Settings,
)
from webtools.config.accounts import written_log
from webtools.config.overrides import (
    Overrides,
)
from webtools.errors import InputError
from webtools.providers import PROVIDERS
from webtools.tools import Tool

if TYPE_CHECKING:
    from typing import Self

    from webtools._internal.http.async_clients import AsyncHTTP
    from webtools.rate_limits import RateLimits

T = TypeVar("T")
_LIBRARIES = {
    "webtools",
    "langchain_webtools",
    "llamaindex_webtools",
    "langchain_core",
    "llama_index",
    "pydantic",
}


# What blocking calls do not need, asyncio included, is imported by the first async call.
_ASYNC_HTTP = "_internal.http.async_clients:AsyncHTTP"
_ASYNC_IO = "_internal.io.event_loop:AsyncIO"


class Connections:
    """The connections of a `WebTools` and its sessions.

    Args:
        transport: A transport of the caller.
        async_transport: Another one, of the async methods. Default: `transport`, if it has both.

    Raises:
        InputError: A transport is not an httpx transport.
    """

    def __init__(
        self,
        transport: httpx.BaseTransport | None,
        async_transport: httpx.AsyncBaseTransport | None,
    ) -> None:
        if async_transport is None and isinstance(transport, httpx.AsyncBaseTransport):
            async_transport = transport
        kinds: list[tuple[Any, type]] = [
            (transport, httpx.BaseTransport),
            (async_transport, httpx.AsyncBaseTransport),
        ]
        for value, kind in kinds:
            if value is not None and not isinstance(value, kind):
                name = type(value).__name__
                raise InputError(f"A transport must be an httpx.{kind.__name__}, not {name}.")
        self.transports = transport, async_transport
        self.has_own = transport is not None or async_transport is not None
        is_unavailable = self.has_own and transport is None
        self.blocking = BlockingHTTP(transport, is_unavailable=is_unavailable)

    @cached_property
    def on_loops(self) -> AsyncHTTP:
        """The connections of event loops."""
        transport = self.transports[1]
        is_unavailable = self.has_own and transport is None
        connections: AsyncHTTP = resolve(_ASYNC_HTTP)(transport, is_unavailable=is_unavailable)
        return connections


class Instance:
    """Settings and connections of a `WebTools`."""

    def _set_up(
        self,
        config: Config | Mapping[str, Any] | str | os.PathLike[str] | None,
        overrides: Overrides | None,
        transport: httpx.BaseTransport | None,
        async_transport: httpx.AsyncBaseTransport | None,
    ) -> None:
        self._has_warned = False
        self._connections = Connections(transport, async_transport)
        has_own = self._connections.has_own
        self._settings = Settings(config, overrides=overrides, own_transport=has_own)
        self._dispatcher = Dispatcher(self._settings)

    def close(self) -> None:
        """Close the connections of the blocking methods. Later calls open new ones."""
        self._connections.blocking.close()

    async def aclose(self) -> None:
        """Close the connections of the running loop and those of the blocking methods."""
        self._connections.blocking.close()
        await self._connections.on_loops.aclose()

    @property
    def fence(self) -> str:  # not `Fence`: a property that returns a Literal stops jedi
        """Which web content is wrapped in a fence: `pages`, `all` or `off`.

        Raises:
            ConfigError: The settings are malformed.
        """
        return self._settings.latest().config.fence

    def reads_pages_itself(self, provider: str | None = None) -> bool:
        """Return whether webtools fetches pages from their sites itself, not through an API.

        Args:
            provider: Configured name of a provider. Default: the one that fetches pages.

        Raises:
            ConfigError: The settings are missing or malformed, or no provider can fetch.
        """
        fetcher = self._settings.latest().chain("fetch", provider)[0]
        return PROVIDERS[fetcher.type].pages is not None

    def rate_limits(self) -> RateLimits | None:
        """Return the rate limits of all processes that share the store, or None without a store.

        Raises:
            ConfigError: The settings are missing or malformed.
        """
        return call_services(self._settings.latest()).limits

    def tools(self) -> tuple[Tool, ...]:
        """Return the tools that a configured provider can serve, without optional ones (`web_map`).

        If nothing is configured or the settings cannot be read, all tools are returned. The first
        call of a tool then reports what is missing.
        """
        return self._dispatcher.tools()

    def warn_if_unconfigured(self, tool: Tool | None = None) -> None:
        """Issue a `UserWarning` that says what to set if no provider is configured, once.

        Adapters call it when a tool is made: an agent would only show its model the error of the
        first call.

        Args:
            tool: The tool to serve. Default: search.
        """
        message = self._dispatcher.missing(tool)
        if message and not self._has_warned:
            self._has_warned = True
            warnings.warn(message, UserWarning, stacklevel=_depth_of_caller())

    def redact(self, value: T) -> T:
        """Replace the configured keys in a text, or in all texts of a list, dict or model.

        Args:
            value: The text, list, dict or model. It is not changed.
        """
        return self._dispatcher.redactor().clean(value)

    def plot(
        self, kind: Literal["cost", "time"] = "cost", *, last: int = 1000, ax: Any = None
    ) -> Any:
        """Draw the cost or the duration of requests by provider, from the log.

        Args:
            kind: `cost` or `time`.
            last: Number of lines to read from the end of the log.
            ax: matplotlib `Axes` to draw on. Default: a new figure.

        Returns:
            The `Axes`.

        Raises:
            InputError: There is no chart of that kind.
            ConfigError: The settings are malformed, or the log is turned off or cannot be read.
            ImportError: matplotlib is not installed.
        """
        return load_display("plots").plot_log(
            written_log(self._settings.accounts()), last, kind, ax
        )

    def _call(self, tool: Tool, arguments: dict[str, Any]) -> Any:
        return self._run(lambda io: self._dispatcher.call(io, tool, arguments))

    def _run(self, work: Callable[[IO], Coroutine[Any, Any, T]]) -> T:
        find_tracer()
        with short_interrupt(), interruptible():
            return run(work(BlockingIO(self._connections.blocking)))

    async def _acall(self, tool: Tool, arguments: dict[str, Any]) -> Any:
        return await self._arun(lambda io: self._dispatcher.call(io, tool, arguments))

    async def _arun(self, work: Callable[[IO], Coroutine[Any, Any, T]]) -> T:
        find_tracer()
        return await work(resolve(_ASYNC_IO)(self._connections.on_loops))

    def __repr__(self) -> str:
        """Name the providers and the source of the settings."""
        # A traceback that shows local variables can call this during a failed `__init__`.
        name = type(self).__name__
        return (
            f"<{name}: {self._settings.in_short()}>" if hasattr(self, "_settings") else f"{name}()"
        )

    def __copy__(self) -> Self:
        """Return the instance itself: it holds connections, and is safe to share."""
        return self

    def __deepcopy__(self, memo: object) -> Self:
        """Return the instance itself."""
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the source of the settings. A `Config` with keys cannot be pickled."""
        config, overrides = self._settings.source
        rebuild = type(self)._rebuild  # noqa: SLF001 - a method of our own
        return rebuild, (config, overrides, *self._connections.transports)

    @classmethod
    def _rebuild(cls, *source: Any) -> Self:
        instance = cls.__new__(cls)
        instance._set_up(*source)  # noqa: SLF001 - a method of our own
        return instance

    def __enter__(self) -> Self:
        """Return the instance itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Close the connections."""
        self.close()

    async def __aenter__(self) -> Self:
        """Return the instance itself."""
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Close the connections."""
        await self.aclose()


def _depth_of_caller() -> int:
    """Return the `stacklevel` of the first caller outside our packages and the frameworks."""
    frame, depth = sys._getframe(1), 1  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]
    while frame.f_back and frame.f_globals.get("__name__", "").partition(".")[0] in _LIBRARIES:
        frame, depth = frame.f_back, depth + 1
    return depth
