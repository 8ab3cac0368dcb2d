"""Blocking work runs in threads of this package, so it delays neither the loop nor other work."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from webtools import WebTools
from webtools._internal.http.dns import resolve
from webtools._internal.http.event_loops import aresolve
from webtools.errors import RequestError, RequestTimeoutError
from webtools_sandbox import SandboxServer


@pytest.fixture
def silent(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """Let name servers say nothing about `*.silent` until the event is set."""
    ended = threading.Event()
    real = socket.getaddrinfo

    def look_up(host: Any, *arguments: Any, **named: Any) -> Any:
        if str(host).endswith(".silent"):
            ended.wait(60)
            raise socket.gaierror(socket.EAI_NONAME, "unknown")
        return real(host, *arguments, **named)

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    yield ended
    ended.set()


async def _silence(count: int, deadline: float) -> None:
    hosts = [aresolve(f"{number}.silent", 80, deadline) for number in range(count)]
    outcomes = await asyncio.gather(*hosts, return_exceptions=True)
    assert [type(outcome) for outcome in outcomes] == [RequestTimeoutError] * count


async def test_silent_name_servers_delay_no_other_work_of_the_loop(
    silent: threading.Event, webtools_sandbox: SandboxServer
) -> None:
    start = time.monotonic()
    looking = asyncio.ensure_future(_silence(64, start + 20))
    await asyncio.sleep(0.1)
    with WebTools(webtools_sandbox.config()) as web:
        await asyncio.gather(asyncio.to_thread(int), web.asearch("json"))
    assert time.monotonic() - start < 10
    assert not looking.done()
    looking.cancel()


def test_a_loop_ends_although_a_name_server_is_silent(silent: threading.Event) -> None:
    start = time.monotonic()
    asyncio.run(_silence(3, start + 0.2))
    assert time.monotonic() - start < 20
    assert not silent.is_set()


async def test_work_of_the_users_executor_delays_no_call(webtools_sandbox: SandboxServer) -> None:
    ended = threading.Event()
    full = [asyncio.ensure_future(asyncio.to_thread(ended.wait, 30)) for _ in range(64)]
    try:
        with WebTools(webtools_sandbox.config()) as web:
            assert (await asyncio.wait_for(web.asearch("heap"), 60)).results
            assert (await asyncio.wait_for(web.aresearch("heap"), 60)).results
        assert not any(item.done() for item in full)
    finally:
        ended.set()
        await asyncio.gather(*full)


class RefusedError(RuntimeError):
    """Stands in for what pytest-socket raises."""


@pytest.mark.parametrize("kind", [RefusedError, ValueError, LookupError, OSError, MemoryError])
@pytest.mark.parametrize("look_up", [resolve, lambda *arguments: asyncio.run(aresolve(*arguments))])
def test_every_lookup_error_is_reported_at_once(
    monkeypatch: pytest.MonkeyPatch, kind: type[Exception], look_up: Callable[..., Any]
) -> None:
    def refuse(*_: Any, **__: Any) -> Any:
        raise kind("A test tried to use socket.socket.")

    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    start = time.monotonic()
    with pytest.raises(RequestError, match=r'"a\.example" could not be looked up \(A test tried'):
        look_up("a.example", 80, start + 30)
    assert time.monotonic() - start < 10
