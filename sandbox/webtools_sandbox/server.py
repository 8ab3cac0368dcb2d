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
except ImportError as error:
    _msg = "The sandbox needs aiohttp: pip install 'agent-webtools[sandbox]'"
    raise ImportError(_msg) from error

from webtools_sandbox.app import SandboxApp
from webtools_sandbox.corpus import standard_corpus
from webtools_sandbox.faults import Fault, FaultSettings
from webtools_sandbox.keys import KeyRing
from webtools_sandbox.library import Library

if TYPE_CHECKING:
    import ssl
    from collections.abc import Callable, Iterable
    from datetime import date
    from typing import Self

    from typing_extensions import Unpack

    from webtools_sandbox.corpus import Corpus

_HOST = "127.0.0.1"
_HOST_V6 = "::1"
_BACKLOG = 512
_START_SECONDS = 30.0
_STOP_SECONDS = 10.0


class SandboxServer:
    """An offline stand-in for the providers' APIs on a loopback port.

    Use it as a context manager, or call `start` and `stop`:

        with SandboxServer() as server:
            web = WebTools(config=server.config())

    The first start of a process reads the corpus, which takes about a second.
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
        """Prepare a server; nothing is opened before `start`.

        Args:
            port: Port on the loopback address; 0 picks a free one.
            ssl_context: Serve https with this.
            docs_url: Base of the documentation's URLs in answers, instead of this server.
            news_url: Base of the news' URLs in answers, instead of this server.
            keys: API keys to accept for every API, beside the test keys.
            latency: Seconds by which every API answer is delayed.
            today: Day by which the news are dated, instead of the present one: the newest is of
                the day before.
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
        """Open the port and begin to answer; returns when the server is ready.

        Raises:
            OSError: The port is taken, and the message says so.
            RuntimeError: The server is running already.
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
        """Close the port and all connections; does nothing when not running."""
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
        """The server's own URL, without a slash at the end."""
        return f"{self._scheme}://{_HOST}:{self.port}"

    @property
    def docs_url(self) -> str:
        """Base of the documentation's URLs, without a slash at the end."""
        return self._running.library.bases["docs"]

    @property
    def news_url(self) -> str:
        """Base of the news' URLs, without a slash at the end."""
        return self._running.library.bases["news"]

    @property
    def latency(self) -> float:
        """Seconds by which every API answer is delayed; may be set at any time."""
        return self._running.latency

    @latency.setter
    def latency(self, seconds: float) -> None:
        self._running.latency = seconds

    def base_url(self, provider: str) -> str:
        """Return what replaces the origin of a provider's API.

        Raises:
            KeyError: The sandbox has no such provider.
        """
        if provider not in self._running.apis:
            names = ", ".join(self._running.apis)
            raise KeyError(f"The sandbox does not have the provider {provider!r}, only {names}.")
        return f"{self.url}/{provider}"

    def config(self, *also: str) -> dict[str, Any]:
        """Return a web-search.json that leads every provider to this server.

        Nothing is cached or logged, so that every call comes here; change the two parts where a
        test is about them.

        Args:
            also: Providers beside the usual ones, which come after them.
        """
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
        """Make matching requests go wrong; `Fault` explains the settings.

        Rules are tried in the order in which they were added, and used up after `times` requests.
        """
        self._running.faults.add(Fault(**settings))

    def clear_faults(self) -> None:
        """Remove all faults."""
        self._running.faults.clear()

    def stats(self) -> dict[str, Any]:
        """Return `requests` per path, `connections` opened, and the `last` requests (up to 100).

        A last request is a dict of method, path, query, headers (keys masked) and body.
        """
        return self._running.stats.snapshot()

    def reset_stats(self) -> None:
        """Count from zero again."""
        self._running.stats.reset()

    def reset(self) -> None:
        """Forget faults, stats, balances and caches, and set the latency back."""
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
        # Another name of the same address for the news: so there are two domains to filter by.
        docs = self._docs_url or f"{self._scheme}://{_HOST}:{port}/docs"
        news = self._news_url or f"{self._scheme}://localhost:{port}/news"
        library = Library(corpus, {"docs": docs, "news": news})
        keys = KeyRing(self._keys)
        return SandboxApp(library, keys, port=port, today=self._today, latency=self._latency)

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
    ssl_context: ssl.SSLContext | None = None,
    latency: float = 0.0,
    announce: Callable[[SandboxServer], None] | None = None,
) -> None:
    """Serve until Ctrl-C, then stop quietly; `announce` is called when the server is ready."""
    server = SandboxServer(port=port, ssl_context=ssl_context, latency=latency)
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
