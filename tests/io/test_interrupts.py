"""An interrupted call is shown in one line, stops its threads, and sends nothing more."""

from __future__ import annotations

import asyncio
import json
import signal
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from webtools import WebTools, bulk
from webtools.bulk import Options

pytestmark = pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs timers of POSIX")
SECONDS = 0.4  # of a request that is under way
ENTRIES = [
    {"name": name, "type": name, "apiKey": f"test-key-of-{name}"} for name in ("exa", "tavily")
]


class Server:
    """Answers slowly, with a failure that the next request would follow."""

    def __init__(self) -> None:
        self.requests = 0
        self.has_request = threading.Event()

    def note(self) -> httpx.Response:
        self.requests += 1
        self.has_request.set()
        return httpx.Response(503, json={"error": "busy"})

    def respond(self, _: httpx.Request) -> httpx.Response:
        response = self.note()
        time.sleep(SECONDS)
        return response

    async def respond_later(self, _: httpx.Request) -> httpx.Response:
        response = self.note()
        await asyncio.sleep(SECONDS)
        return response


@contextmanager
def interrupt_after(event: threading.Event, *, is_handled_by_loop: bool = False) -> Generator[None]:
    """Interrupt the main thread, as Ctrl-C does, when an event is set."""

    def interrupt(*_: Any) -> None:
        if event.is_set():
            signal.setitimer(signal.ITIMER_REAL, 0)
            if not is_handled_by_loop:
                raise KeyboardInterrupt
            signal.raise_signal(signal.SIGINT)

    before = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, 0.1, 0.05)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def client(respond: Callable[..., Any]) -> WebTools:
    settings = {"providers": ENTRIES, "cache": {"enabled": False}}
    return WebTools(settings, transport=httpx.MockTransport(respond))


def assert_nothing_follows(server: Server) -> None:
    sent = server.requests
    time.sleep(2 * SECONDS)
    assert server.requests == sent


CALLS: dict[str, Callable[[WebTools], Any]] = {
    "queries": lambda web: web.search([f"tide {n}" for n in range(20)]),
    "pages": lambda web: web.fetch([f"https://page{n}.example/" for n in range(20)]),
    "research": lambda web: web.research("tide", command="web-deep"),
    "tool": lambda web: web.call_tool("web_search", {"queries": ["tide", "mill"]}),
}


@pytest.mark.parametrize("call", CALLS)
def test_an_interrupted_call_sends_nothing_more(call: str) -> None:
    server = Server()
    with client(server.respond) as web:
        with interrupt_after(server.has_request), pytest.raises(KeyboardInterrupt) as stopped:
            CALLS[call](web)
        assert_nothing_follows(server)
    assert len(stopped.value._render_traceback_()) == 1  # type: ignore[attr-defined]


@pytest.mark.parametrize("is_notebook", [True, False])
def test_an_interrupted_bulk_run_sends_nothing_more(tmp_path: Path, *, is_notebook: bool) -> None:
    server, output = Server(), tmp_path / "rows.jsonl"
    web = client(server.respond_later)

    def run() -> None:
        items = [f"tide {n}" for n in range(200)]
        bulk.run("search", items, output, web=web, options=Options(workers=4))

    async def cell() -> None:
        run()

    interrupts = interrupt_after(server.has_request, is_handled_by_loop=not is_notebook)
    with interrupts, pytest.raises(KeyboardInterrupt) as stopped:
        asyncio.run(cell()) if is_notebook else run()
    assert_nothing_follows(server)
    assert len(stopped.value._render_traceback_()) == 1  # type: ignore[attr-defined]
    assert not [thread for thread in threading.enumerate() if thread.name == "webtools-bulk"]
    rows = [json.loads(row) for row in output.read_text(encoding="utf-8").splitlines()]
    assert len(rows) <= server.requests < 20
