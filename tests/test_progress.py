from __future__ import annotations

import io
import re
import sys
import threading
from functools import partial
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from langchain_core.callbacks import BaseCallbackHandler

from langchain_webtools import WebSearchTool
from llamaindex_webtools import web_search_tool
from webtools import InputError, WebTools, bulk
from webtools.progress import NotebookProgress, Progress, TerminalProgress, quietly
from webtools_sandbox import SandboxServer

OWN = re.compile(r"\x1b\[(\?25[lh]|2K|1A)")  # cursor off and on, erase a line, go up


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "80")


def step(done: int, total: int = 3, **more: Any) -> Progress:
    return Progress("web_fetch", more.pop("stage", "fetching"), done, total, **more)


def test_a_bar_is_drawn_for_each_stage_and_wiped_away() -> None:
    file = Terminal()
    with TerminalProgress(file) as progress:
        progress(step(0))
        progress(step(1, subject="https://a.example/"))
        progress(step(2, subject="https://b.example/", failed=True))
        progress(step(1, 1, stage="synthesizing"))
    drawn = file.getvalue()
    last = drawn.rsplit("fetching 2/3, 1 failed", 1)[1]
    assert "https://b.example/" in last
    assert "synthesizing 1/1" in last
    assert drawn.endswith("\x1b[?25h\r\x1b[1A\x1b[2K\x1b[1A\x1b[2K")  # the cursor is back


def test_hostile_subjects_do_nothing_to_the_terminal() -> None:
    file = Terminal()
    with TerminalProgress(file) as progress:
        progress(step(1, subject="\x1b]0;owned\x07[red]a[/b] \u202e{task.total}" + "x" * 10**6))
        progress(step(2, stage="\x1b[2J[/]"))
    drawn = file.getvalue()
    assert "[red]a[/b] {task.total}xxx" in drawn
    assert "[/] 2/3" in drawn
    remaining = OWN.sub("", drawn)
    assert not {"\x1b", "\u202e", "\x07"} & set(remaining)
    assert "x" * 100 not in drawn


@pytest.mark.parametrize("file", [io.StringIO(), None])
def test_nothing_is_drawn_without_a_terminal(
    file: io.StringIO | None, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "rich", None)  # and nothing is needed for it
    with TerminalProgress(file) as progress:
        progress(step(1))
    assert capsys.readouterr() == ("", "")
    assert file is None or file.getvalue() == ""


def test_steps_may_come_from_threads_and_out_of_order() -> None:
    file = Terminal()
    with TerminalProgress(file) as progress:
        steps = [step(n, 50, failed=n % 10 == 0) for n in range(1, 51)]
        threads = [threading.Thread(target=progress, args=(item,)) for item in reversed(steps)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert "fetching 50/50, 5 failed" in file.getvalue()


def test_a_callback_that_fails_fails_quietly(caplog: pytest.LogCaptureFixture) -> None:
    @quietly
    def fail(progress: Progress) -> None:
        raise ValueError

    caplog.set_level("DEBUG")
    fail(step(1))
    assert "fail failed" in caplog.text
    assert fail.__name__ == "fail"


def test_a_callback_lets_the_user_interrupt() -> None:
    @quietly
    def interrupted() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()


@pytest.fixture
def displays(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """A stand-in for IPython that keeps what is displayed."""
    displayed: list[Any] = []

    def display(output: Any, *, display_id: bool) -> Any:
        assert display_id
        displayed.append(output)
        return SimpleNamespace(update=displayed.append)

    module = ModuleType("IPython.display")
    module.display = display  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "IPython", ModuleType("IPython"))
    monkeypatch.setitem(sys.modules, "IPython.display", module)
    return displayed


def test_a_notebook_shows_one_output_that_changes(displays: list[Any]) -> None:
    with NotebookProgress() as progress:
        assert (displays[-1]._repr_html_(), repr(displays[-1])) == ("<div></div>", "")
        progress(step(1, subject="https://a.example/"))
        assert repr(displays[-1]) == "fetching 1/3 https://a.example/"
        assert displays[-1]._repr_html_() == (
            '<div><progress value="1" max="3"></progress> fetching 1/3 '
            "<code>https://a.example/</code></div>"
        )
        progress(step(3, failed=True))
        progress(step(1, 1, stage="synthesizing"))
        assert repr(displays[-1]) == "fetching 3/3, 1 failed https://a.example/\nsynthesizing 1/1"
    assert (displays[-1]._repr_html_(), repr(displays[-1])) == (
        "<div></div>",
        "",
    )  # the bars are gone
    count = len(displays)
    progress(step(2))
    assert len(displays) == count


def test_a_notebook_shows_hostile_subjects_as_text(displays: list[Any]) -> None:
    with NotebookProgress() as progress:
        progress(step(1, subject='<script>alert("1")</script>\u202e', stage="<b>"))
        html = displays[-1]._repr_html_()
    assert "&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;<" in html
    assert "&lt;b&gt; 1/3" in html


def test_without_ipython_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("IPython", "IPython.display"):  # another test may have loaded them
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ImportError, match=r"needs IPython: pip install 'agent-webtools\[notebook"):
        NotebookProgress().__enter__()


# --- the callback of a call ----------------------------------------------------------------------


class AsyncCallable:
    async def __call__(self, progress: Progress) -> None: ...


async def async_function(progress: Progress) -> None: ...


@pytest.mark.parametrize(
    "callback", [async_function, partial(async_function), AsyncCallable(), "no function"]
)
def test_a_callback_that_would_never_run_is_refused(callback: Any, tmp_path: Path) -> None:
    web = WebTools(api_keys={"exa": "test-key-exa-0001"})
    for call in (
        lambda: web.search("q", progress=callback),
        lambda: web.fetch("https://a.example/", progress=callback),
        lambda: web.summarize("https://a.example/", progress=callback),
        lambda: web.research("q", progress=callback),
        lambda: web.call_tool("web_search", {"query": "q"}, progress=callback),
        lambda: bulk.run("search", ["q"], tmp_path / "out.jsonl", progress=callback),
    ):
        with pytest.raises(InputError, match="progress"):
            call()


async def test_the_steps_and_the_result_of_a_call_have_its_id(
    webtools_sandbox: SandboxServer,
) -> None:
    steps: list[Progress] = []
    events: list[dict[str, Any]] = []

    class Listening(BaseCallbackHandler):
        def on_custom_event(self, name: str, data: Any, **_: Any) -> None:
            events.append(data)

    arguments = {"queries": ["read json", "zip file"]}
    for log in (True, False):
        async with WebTools(config=webtools_sandbox.config(), log=log, cache=False) as web:
            result = web.call_tool("web_search", arguments, progress=steps.append)
            assert {step.call_id for step in steps} == {result.call_id}
            assert result.call_id
            call = {"name": "web_search", "args": arguments, "id": "1", "type": "tool_call"}
            message = WebSearchTool(web=web).invoke(call, {"callbacks": [Listening()]})
            assert {event["call_id"] for event in events} == {message.artifact["call_id"]}
            output = await web_search_tool(web).acall(**arguments)
            ids = {result.call_id, message.artifact["call_id"], output.raw_output["call_id"]}
            assert len(ids) == 3
        steps.clear()
        events.clear()
