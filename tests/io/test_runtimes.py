"""Calls in threads, on event loops, in forked processes, and after an interrupt."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
import sys
import threading
import time
from typing import Any

import pytest
from forking import in_child, needs_fork

from webtools import WebTools
from webtools_sandbox import SandboxServer


def test_blocking_methods_work_inside_a_running_loop(webtools_sandbox: SandboxServer) -> None:
    async def inside() -> int:
        with WebTools(webtools_sandbox.config()) as web:
            return len(web.search(["json", "zip"], limit=2).results)

    assert asyncio.run(inside()) == 4


ONE_SEARCH = """
import json, sys
from webtools import WebTools
with WebTools(json.loads(sys.argv[1])) as web:
    web.call_tool("web_search", {"queries": ["json"]})
others = ["asyncio", "webtools._internal.operations.fetch", "webtools.results.research_models"]
print(*[name for name in others if name in sys.modules])
"""


def test_a_blocking_search_loads_neither_asyncio_nor_what_other_tools_need(
    webtools_sandbox: SandboxServer,
) -> None:
    command = [sys.executable, "-c", ONE_SEARCH, json.dumps(webtools_sandbox.config())]
    ran = subprocess.run(command, capture_output=True, text=True, check=True)
    assert ran.stdout.split() == []


def test_one_instance_serves_several_loops_at_once(webtools_sandbox: SandboxServer) -> None:
    web, result = WebTools(webtools_sandbox.config()), list[int]()

    async def search() -> None:
        result.append(len((await web.asearch("json", limit=2)).results))
        await web.aclose()

    threads = [threading.Thread(target=lambda: asyncio.run(search())) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert result == [2] * 4


async def test_a_cancelled_call_ends_at_once_and_the_next_one_works(
    webtools_sandbox: SandboxServer,
) -> None:
    webtools_sandbox.fault(provider="exa", delay=20, times=1)
    async with WebTools(webtools_sandbox.config(), cache=False) as web:
        task = asyncio.create_task(web.asearch("json", provider="exa"))
        await asyncio.sleep(0.2)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asyncio.wait_for(task, 10)
        assert (await web.asearch("json", provider="exa")).results


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs timers of POSIX")
def test_an_interrupt_ends_concurrent_blocking_parts_at_once(
    webtools_sandbox: SandboxServer,
) -> None:
    def interrupt(*_: Any) -> None:
        raise KeyboardInterrupt

    webtools_sandbox.fault(delay=6, times=None)
    before = signal.signal(signal.SIGALRM, interrupt)
    start = time.monotonic()
    try:
        with WebTools(webtools_sandbox.config(), cache=False) as web:
            signal.setitimer(signal.ITIMER_REAL, 0.3)
            with pytest.raises(KeyboardInterrupt):
                web.search(["json", "zip", "heap"])
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert time.monotonic() - start < 5  # the requests take 6 s


@needs_fork
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_forked_process_uses_connections_of_its_own(webtools_sandbox: SandboxServer) -> None:
    with WebTools(webtools_sandbox.config(), cache=False) as web:
        assert web.search("json").results
        assert in_child(lambda: web.search("zip").results) == 0
        assert web.search("heap").results


def test_a_closed_instance_opens_new_connections(webtools_sandbox: SandboxServer) -> None:
    web = WebTools(webtools_sandbox.config(), cache=False)
    assert web.search("json").results
    web.close()
    assert web.search("zip").results
    web.close()
