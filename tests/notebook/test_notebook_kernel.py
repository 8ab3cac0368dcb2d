"""The magics in a real kernel, whose event loop is running while a cell runs."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from webtools_sandbox import SandboxServer

manager: Any = pytest.importorskip("jupyter_client.manager")
pytest.importorskip("ipykernel")

SECONDS = 30


class Kernel:
    """A running kernel, and what its cells give."""

    def __init__(self, running: Any, client: Any) -> None:
        self.manager = running
        self.client = client

    def start(self, code: str) -> str:
        return str(self.client.execute(code))

    def finish(self, call: str) -> dict[str, Any]:
        """Wait for a cell: what it sent, by kind, and how it ended."""
        sent: dict[str, Any] = {"stream": "", "displays": 0}
        while True:
            message = self.client.get_iopub_msg(timeout=SECONDS)
            kind, content = message["msg_type"], message["content"]
            if message["parent_header"].get("msg_id") != call:
                continue
            if kind == "stream":
                sent["stream"] += content["text"]
            elif kind in {"execute_result", "error"}:
                sent[kind] = content
            elif kind in {"display_data", "update_display_data"}:
                sent["displays"] += 1
            elif kind == "status" and content["execution_state"] == "idle":
                return sent

    def run(self, code: str) -> dict[str, Any]:
        return self.finish(self.start(code))

    def completions(self, code: str) -> set[str]:
        """Return the names that the Tab key offers at the end of some code."""
        reply = self.client.complete(code, len(code), reply=True, timeout=SECONDS)
        return {str(match).rpartition(".")[2] for match in reply["content"]["matches"]}

    def silent_for(self, seconds: float) -> bool:
        """Tell whether nothing is sent for so long."""
        import queue  # noqa: PLC0415

        try:
            message = self.client.get_iopub_msg(timeout=seconds)
        except queue.Empty:
            return True
        raise AssertionError(message)


@pytest.fixture(scope="module")
def _kernel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kernel]:
    folder = tmp_path_factory.mktemp("kernel")
    patch = pytest.MonkeyPatch()
    for name in ("IPYTHONDIR", "JUPYTER_RUNTIME_DIR", "JUPYTER_CONFIG_DIR", "XDG_CACHE_HOME"):
        patch.setenv(name, str(folder / name))
    patch.setenv("XDG_STATE_HOME", str(folder / "state"))
    patch.setenv("JUPYTER_PLATFORM_DIRS", "1")
    running = manager.KernelManager(kernel_name="python3")
    running.start_kernel()
    client = running.blocking_client()
    client.start_channels()
    try:
        client.wait_for_ready(timeout=60)
        yield Kernel(running, client)
    finally:
        client.stop_channels()
        running.shutdown_kernel(now=True)
        running.cleanup_resources()
        patch.undo()


@pytest.fixture
def kernel(_kernel: Kernel, webtools_sandbox: SandboxServer, tmp_path: Path) -> Kernel:
    """A kernel with our magics, which ask the sandbox."""
    path = tmp_path / "web-search.json"
    path.write_text(json.dumps(webtools_sandbox.config()), encoding="utf-8")
    path.chmod(0o600)
    assert "error" not in _kernel.run(f"%reload_ext webtools\n%web_config {path}")
    return _kernel


def test_a_cell_shows_the_response_as_html_markdown_and_text(kernel: Kernel) -> None:
    data = kernel.run("%web_search -n 1 asyncio task groups")["execute_result"]["data"]
    assert data["text/html"].startswith('<div class="webtools-shown ')
    assert data["text/markdown"].startswith("**Search** “asyncio task groups”")
    assert data["text/plain"] == '<SearchResponse 1 result from exa for "asyncio task groups">'
    listed = kernel.run("[_]")["execute_result"]["data"]["text/plain"]
    assert listed == '[<SearchResponse 1 result from exa for "asyncio task groups">]'


def test_blocking_and_awaited_calls_work_while_the_loop_of_the_kernel_runs(kernel: Kernel) -> None:
    ran = kernel.run(
        "import asyncio; asyncio.get_running_loop()\n"
        "from webtools import WebTools\n"
        "with WebTools(get_ipython().find_line_magic('web').__self__._source) as tools:\n"
        "    blocking = tools.search('asyncio', limit=1, cache='bypass')\n"
        "    awaited = await tools.asearch('asyncio', limit=1, cache='bypass')\n"
        "    await tools.aclose()\n"
        "blocking.results == awaited.results"
    )
    assert ran["execute_result"]["data"]["text/plain"] == "True"


@pytest.mark.parametrize("call", ["fetch('http://127.0.0.1:9/')", "search('')"])
def test_an_error_in_a_cell_is_one_line(kernel: Kernel, call: str) -> None:
    kernel.run("from webtools import WebTools\nweb = WebTools()")
    error = kernel.run(f"web.{call}")["error"]
    assert len("\n".join(error["traceback"]).splitlines()) == 1
    assert error["evalue"] in error["traceback"][0]


def test_tab_completes_a_client_its_methods_and_their_results(kernel: Kernel) -> None:
    kernel.run("from webtools import WebTools\nweb = WebTools()")
    assert {"search", "fetch"} <= kernel.completions("web.")
    assert "search" in kernel.completions("web.se")
    assert {"results", "warnings"} <= kernel.completions("web.search('x').")


SLOW = {
    "a magic": "%%web_search --cache bypass\nfirst slow\nsecond slow\nthird slow",
    "a method": "web.search(['first slow', 'second slow', 'third slow'], cache='bypass')",
}


@pytest.mark.parametrize("cell", SLOW.values(), ids=SLOW)
def test_ctrl_c_stops_the_call_and_leaves_the_kernel_usable(
    kernel: Kernel, webtools_sandbox: SandboxServer, cell: str
) -> None:
    kernel.run(
        "from webtools import WebTools\n"
        "web = WebTools(get_ipython().find_line_magic('web').__self__._source)"
    )
    webtools_sandbox.fault(provider="exa", delay=300, times=None)
    webtools_sandbox.reset_stats()
    running = kernel.start(cell)
    limit = time.monotonic() + SECONDS
    while sum(webtools_sandbox.stats()["requests"].values()) < 3:
        assert time.monotonic() < limit, "the requests do not come"
        time.sleep(0.01)
    kernel.manager.interrupt_kernel()
    stopped = kernel.finish(running)
    assert stopped["error"]["ename"] == "KeyboardInterrupt"
    assert len(stopped["error"]["traceback"]) == 1
    webtools_sandbox.reset()
    again = kernel.run("%web_search -n 1 --cache bypass asyncio")
    assert "execute_result" in again
    assert kernel.silent_for(2)
    threads = "import threading; [t.name for t in threading.enumerate() if not t.daemon]"
    names = kernel.run(threads)["execute_result"]["data"]["text/plain"]
    assert "webtools" not in names
