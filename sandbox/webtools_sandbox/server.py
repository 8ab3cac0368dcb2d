"""The sandbox as a server in a background thread."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import socket
import threading
import time
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any

try:
    from aiohttp import web
except ModuleNotFoundError as error:
    if error.name != "aiohttp":
        raise
    _msg = "The sandbox needs aiohttp: pip install 'agent-webtools[sandbox]'"
    raise ImportError(_msg) from error

from webtools_sandbox.app import SandboxApp
from webtools_sandbox.corpus import standard_corpus
from webtools_sandbox.faults import Fault, FaultSettings
from webtools_sandbox.keys import KeyRing

if TYPE_CHECKING:
    import ssl
    from collections.abc import Callable, Iterable
    from datetime import date
    from typing import Self

    from typing_extensions import Unpack

    from webtools_sandbox.corpus import Collection, Corpus

_HOST = "127.0.0.1"
_HOST_V6 = "::1"
_BACKLOG = 512
_START_SECONDS = 30.0
_STOP_SECONDS = 10.0


class SandboxServer:
    """Simulates the APIs of the providers on a loopback port.

    Use it as a context manager, or call `start` and `stop`:

        with SandboxServer() as server:
            web = WebTools(config=server.config())

    The first start in a process reads the corpus and takes about a second.
    """

    def __init__(
        self,
        *,
        port: int = 0,
        ssl_context: ssl.SSLContext | None = None,
        docs_url: str | None = None,
        news_url: str | None = None,
        keys: Iterable[str] = (),
        latency: float = 0.0,
        today: date | None = None,
    ) -> None:
        """Create a server. `start` opens its port.

        Args:
            port: Port on the loopback address. 0 picks a free one.
            ssl_context: TLS settings to serve https. Default: http.
            docs_url: Base of the URLs of documentation in responses. Default: this server.
            news_url: Base of the URLs of news in responses. Default: this server.
            keys: API keys to accept for all APIs, in addition to the test keys.
            latency: Delay of each API response in seconds.
            today: The current day for the dates of news. The newest is from the day before.
                Default: the real one.
        """
        self._wanted_port = port
        self._ssl_context = ssl_context
        self._docs_url = docs_url
        self._news_url = news_url
        self._keys = tuple(keys)
        self._latency = latency
        self._today = today
        self._app: SandboxApp | None = None
        self._thread: threading.Thread | None = None
        self._end: Callable[[], object] | None = None

    def __enter__(self) -> Self:
        """Start."""
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Stop."""
        self.stop()

    def start(self) -> None:
        """Start the server, and return when it is ready.

        Raises:
            OSError: The port is already in use.
            RuntimeError: The server is already running.
        """
        if self._thread is not None:
            raise RuntimeError("The sandbox is running already.")
        corpus = standard_corpus()
        sockets = _listen(self._wanted_port)
        self._app = self._make_app(corpus, sockets[0].getsockname()[1])
        ready: Future[Callable[[], object]] = Future()
        self._thread = threading.Thread(
            target=self._run, args=(sockets, ready), name="webtools-sandbox", daemon=True
        )
        self._thread.start()
        try:
            self._end = ready.result(_START_SECONDS)
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """Stop the server and close all connections. Do nothing if it is not running."""
        thread, self._thread = self._thread, None
        end, self._end = self._end, None
        if end is not None:
            end()
        if thread is not None:
            thread.join(_STOP_SECONDS)

    @property
    def port(self) -> int:
        """The port in use."""
        return self._running.port

    @property
    def url(self) -> str:
        """URL of the server, without a final slash."""
        return f"{self._scheme}://{_HOST}:{self.port}"

    @property
    def docs_url(self) -> str:
        """Base of the URLs of documentation, without a final slash."""
        return self._running.library.bases["docs"]

    @property
    def news_url(self) -> str:
        """Base of the URLs of news, without a final slash."""
        return self._running.library.bases["news"]

    @property
    def latency(self) -> float:
        """Delay of each API response in seconds. You can set it at any time."""
        return self._running.latency

    @latency.setter
    def latency(self, seconds: float) -> None:
        self._running.latency = seconds

    def base_url(self, provider: str) -> str:
        """Return the `baseUrl` of a provider on this server.

        Raises:
            KeyError: The sandbox has no such provider.
        """
        if provider not in self._running.apis:
            names = ", ".join(self._running.apis)
            raise KeyError(
                f"The sandbox does not simulate the provider {provider!r}, only {names}."
            )
        return f"{self.url}/{provider}"

    def model_url(self, vendor: str) -> str:
        """Return the base URL of a model vendor for its SDK: `openai`, `anthropic` or `google`.

        Raises:
            KeyError: The sandbox does not simulate this vendor.
        """
        if vendor not in self._running.models:
            names = ", ".join(self._running.models)
            raise KeyError(
                f"The sandbox does not simulate the model vendor {vendor!r}, only {names}."
            )
        return f"{self.url}/{vendor}" + ("/v1" if vendor == "openai" else "")

    def config(self, *also: str) -> dict[str, Any]:
        """Return a config that sends the requests of all providers to this server.

        Cache and log are off, so that each call sends requests. Change `cache` and `log` in the
        dict to test them.

        Args:
            also: Types of further providers to add at the end.

        Raises:
            KeyError: The sandbox has no such provider.
        """
        for name in also:
            self.base_url(name)
        # A developer's proxy cannot reach a sandbox on this machine.
        entries = {
            name: api.settings(self.base_url(name)) | {"proxy": "none"}
            for name, api in self._running.apis.items()
            if api.is_default or name in also
        }
        return {
            "defaultProvider": next(iter(entries)),
            "providers": list(entries.values()),
            "cache": {"enabled": False},
            "log": {"enabled": False},
        }

    def fault(self, **settings: Unpack[FaultSettings]) -> None:
        """Make matching requests fail. `Fault` describes the settings.

        Faults are tried in the order in which they were added. Each applies to `times` requests.
        """
        self._running.faults.add(Fault(**settings))

    def clear_faults(self) -> None:
        """Remove all faults."""
        self._running.faults.clear()

    def stats(self) -> dict[str, Any]:
        """Return statistics of the requests so far.

        Returns:
            `requests`: number of requests by path. `connections`: number of connections.
            `last`: the last requests, at most 100, each a dict with `method`, `path`, `query`,
            `headers` (with redacted keys) and `body`.
        """
        return self._running.stats.snapshot()

    def reset_stats(self) -> None:
        """Reset the statistics to zero."""
        self._running.stats.reset()

    def reset(self) -> None:
        """Reset the faults, the statistics and the latency."""
        self._running.reset()

    @property
    def _scheme(self) -> str:
        return "http" if self._ssl_context is None else "https"

    @property
    def _running(self) -> SandboxApp:
        if self._app is None:
            raise RuntimeError("The sandbox is not running. Call `start` first.")
        return self._app

    def _make_app(self, corpus: Corpus, port: int) -> SandboxApp:
        # The news have another name of the same address, so that there are two domains.
        docs = self._docs_url or f"{self._scheme}://{_HOST}:{port}/docs"
        news = self._news_url or f"{self._scheme}://localhost:{port}/news"
        bases: dict[Collection, str] = {"docs": docs, "news": news}
        keys = KeyRing(self._keys)
        return SandboxApp(corpus, bases, keys, port=port, today=self._today, latency=self._latency)

    def _run(self, sockets: list[socket.socket], ready: Future[Callable[[], object]]) -> None:
        try:
            asyncio.run(self._serve(sockets, ready))
        except Exception as error:
            if ready.done():
                raise
            ready.set_exception(error)
        finally:
            for item in sockets:
                item.close()

    async def _serve(
        self, sockets: list[socket.socket], ready: Future[Callable[[], object]]
    ) -> None:
        loop = asyncio.get_running_loop()
        stopping = asyncio.Event()
        app = self._running
        handler = web.Server(app.handle, handler_cancellation=True, access_log=None)

        def on_connection() -> asyncio.Protocol:
            app.stats.count_connection()
            return handler()

        servers = [
            await loop.create_server(
                on_connection, sock=item, ssl=self._ssl_context, backlog=_BACKLOG
            )
            for item in sockets
        ]
        ready.set_result(lambda: loop.call_soon_threadsafe(stopping.set))
        await stopping.wait()
        for server in servers:
            server.close()
        await handler.shutdown(0.1)


def serve(
    *,
    port: int = 8765,
    latency: float = 0.0,
    announce: Callable[[SandboxServer], None] | None = None,
) -> None:
    """Serve until Ctrl-C.

    Args:
        port: Port on the loopback address. 0 picks a free one.
        latency: Delay of each API response in seconds.
        announce: Called with the server when it is ready.
    """
    server = SandboxServer(port=port, latency=latency)
    with contextlib.suppress(KeyboardInterrupt), server:
        if announce is not None:
            announce(server)
        # A wait without limit cannot be interrupted on Windows.
        while True:
            time.sleep(0.5)


def _listen(port: int) -> list[socket.socket]:
    """Open the port on the loopback addresses; the one for IPv6 is a convenience."""
    try:
        first = socket.create_server((_HOST, port), backlog=_BACKLOG)
    except OSError as error:
        if error.errno != errno.EADDRINUSE:
            raise
        where = f"Port {port} of {_HOST}"
        msg = f"{where} is in use. Choose another one (`--port`, `port=`), or 0 for a free one."
        raise OSError(errno.EADDRINUSE, msg) from error
    try:
        # Clients that look up "localhost" may try ::1 first.
        family = socket.AF_INET6
        second = socket.create_server(
            (_HOST_V6, first.getsockname()[1]), family=family, backlog=_BACKLOG
        )
    except OSError:
        return [first]
    return [first, second]
