"""Output on a terminal."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest
from cli_calls import Cli

from webtools import WebTools
from webtools.cli import terminal_output
from webtools.fencing import remove_fences
from webtools.results import (
    Passage,
    ResearchEnvelope,
    ResearchMeta,
    ResearchResult,
    ResearchSynthesis,
)
from webtools.tools import ToolResult

if TYPE_CHECKING:
    from webtools_sandbox import SandboxServer

QUESTION = "How do I generate secure random tokens in Python?"
ESCAPE = re.compile(r"\r|\x1b(?:\[[0-9;?]*[A-Za-z]|\]8;[^\x1b]*\x1b\\)")

pty = pytest.importorskip("pty", reason="needs pseudo-terminals")

Screen = Callable[..., str]


@pytest.fixture
def screen(monkeypatch: pytest.MonkeyPatch) -> Screen:
    """Runs the command on a terminal of its own, and gives all that was written on it."""
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)

    def show(*arguments: str, code: int = 0, environ: dict[str, str] | None = None) -> str:
        pid, terminal = pty.fork()
        if not pid:  # pragma: no cover - another process
            os.environ.update(environ or {})
            os.execv(sys.executable, [sys.executable, "-m", "webtools", *arguments])
        written = b"".join(iter(lambda: _read(terminal), b""))
        os.close(terminal)
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == code
        return written.decode().replace("\r\n", "\n")

    return show


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65536)
    except OSError:  # how Linux tells the end
        return b""


def plain(written: str) -> str:
    return ESCAPE.sub("", written)


def test_a_terminal_gets_a_drawn_result_after_bars(
    screen: Screen, trial: str, webtools_sandbox: SandboxServer
) -> None:
    written = screen("web-deep", QUESTION, "--limit", "2", "--config", trial)
    assert "searching" in written
    assert "━" in written
    drawn = written[written.rindex("\x1b[?25h") :]  # the cursor is back: the bars are gone
    assert "━" not in drawn
    assert re.search(r"^2 results · exa · (high|medium|low) confidence", plain(drawn), re.MULTILINE)
    assert "\x1b[1msecrets" in drawn
    url = f"{webtools_sandbox.docs_url}/library/secrets.html"
    assert f";{url}#:~:text=" in drawn


def test_the_demo_draws_on_a_terminal_as_the_commands_do(screen: Screen) -> None:
    written = screen("demo")
    drawn = [part for part in written.split("$ webtools ")[1:] if "\x1b[1msecrets" in part]
    assert len(drawn) == 3


@pytest.mark.parametrize(
    ("words", "stage"),
    [
        (["search", "heap"], "searching"),
        (["web", "heap", "queue"], "searching"),
        (["summarize", "URL"], "summarizing"),
        (["fetch", "URL"], "fetching"),
    ],
)
def test_a_slow_call_shows_what_it_does_and_removes_that_in_the_end(
    screen: Screen, config: str, webtools_sandbox: SandboxServer, words: list[str], stage: str
) -> None:
    webtools_sandbox.latency = 2.5
    url = f"{webtools_sandbox.docs_url}/library/heapq.html"
    words = [url if word == "URL" else word for word in words]
    shown, _, rest = screen(*words, "--config", config).partition("\r ")
    assert f"\r{stage} for " in shown
    assert stage not in rest
    assert "heap" in rest


def test_broken_lines_of_the_log_are_indented(screen: Screen, cli: Cli, trial: str) -> None:
    cli("search", "heap", "a query of many words, so that its events are long", "--config", trial)
    for columns in ("60", "100"):
        shown = plain(screen("log", "tail", "--config", trial, environ={"COLUMNS": columns}))
        lines = shown.rstrip().split("\n")
        assert any(line.startswith("    ") for line in lines)
        assert all(re.match(r"20\d\d-| {4}\S", line) for line in lines)


def test_plain_text_is_the_same_as_in_a_pipe(screen: Screen, cli: Cli, trial: str) -> None:
    arguments = ("web-deep", QUESTION, "--plain", "--config", trial)
    cli(*arguments)  # from now on it is kept
    assert screen(*arguments) == cli(*arguments).out


@pytest.mark.parametrize("environ", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_no_escape_goes_where_none_is_wanted(
    screen: Screen, trial: str, environ: dict[str, str]
) -> None:
    written = screen("search", "heap", "--limit", "2", "--config", trial, environ=environ)
    assert "heapq" in written
    assert "\x1b" not in written


# --- in this process ---------------------------------------------------------------------------


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Lets both outputs seem to be terminals without colours."""
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setattr(type(sys.stdout), "isatty", lambda _: True)


def test_the_text_of_pages_and_summaries_is_printed_in_full(
    terminal: None, cli: Cli, trial: str, webtools_sandbox: SandboxServer
) -> None:
    url = f"{webtools_sandbox.docs_url}/library/secrets.html"
    with WebTools(config=trial) as web:
        page = web.fetch(url).pages[0].text or ""
        summary = web.call_tool("summarize", {"url": url}).text
    complete = cli("fetch", url, "--config", trial).out
    text = re.sub(r"^```python$", "```", page.partition("\n")[2], flags=re.MULTILINE)
    output = re.findall(r"\w+", text)  # without the title; code is drawn as code
    assert re.findall(r"\w+", complete)[-len(output) :] == output
    head, _, text = cli("summarize", url, "--config", trial).out.partition("\n\n")
    assert re.match(r"cecil · summary · \d+ tokens · kagi · [\d.]+ USD .* s$", head)
    assert text.split() == remove_fences(summary).replace("`", "").split()  # drawn as code, too


def test_an_answer_s_citations_have_the_numbers_of_its_sources(
    terminal: None, cli: Cli, trial: str
) -> None:
    written = cli("web-deep", QUESTION, "--config", trial).out
    answer, _, sources = written.partition("Sources:\n")
    cited = re.findall(r"\[(\d+)\]", answer)
    listed = re.findall(r"^ *(\d+)\. .*\n +http\S+$", sources, re.MULTILINE)
    assert cited
    assert set(cited) <= set(listed)
    first = re.search(rf"^ *{cited[0]}\. .*\n +(http\S+)$", sources, re.MULTILINE)
    assert first
    assert first[1].endswith("/secrets.html")


@pytest.mark.parametrize("command", ["search", "web", "web-deep", "fetch", "summarize"])
def test_a_page_cannot_act_on_the_terminal(
    terminal: None, cli: Cli, trial: str, webtools_sandbox: SandboxServer, command: str
) -> None:
    evil = "\x1b]0;owned\x07\x1b[2J\x9b31m \u202e[bold red]no markup[/]"
    url = "https://a.example/"
    hit = {"id": url, "title": evil, "url": url, "text": evil, "highlights": [evil]}
    result = {"results": [hit], "statuses": [{"id": url, "status": "success"}]}
    summary = {"meta": {"id": "x"}, "data": {"output": evil, "tokens": 3}}
    body = json.dumps({**result, **summary}).encode()
    webtools_sandbox.fault(body=body, times=None)
    completed = cli(command, url, "--config", trial)
    assert completed.code == 0
    assert "[bold red]no markup[/]" in completed.out
    assert not {"\x1b", "\x07", "\x9b"} & set(completed.out)


def deep(summary: str, sources: int = 1, passages: int = 0) -> ToolResult:
    """Return what a model gets of an answer, with as much beside it as wanted."""
    urls = [f"https://a.example/{n}" for n in range(sources)]
    result = [
        ResearchResult(title=f"T{url}", url=url, snippet="s " * 300, source_provider="exa")
        for url in urls
    ]
    meta = ResearchMeta(
        query="q",
        command="web-deep",
        provider_chain=["exa"],
        provider_used="exa",
        confidence="high",
        normalized_query="q",
        retrieved_at=datetime(2026, 11, 22, tzinfo=UTC),
        warnings=["page x could not be read."] * 9,
    )
    beside = [Passage(text="p\n" * 50, heading="H", url=urls[0])] * passages
    answer = ResearchSynthesis(summary=summary, citations=urls[:1])
    envelope = ResearchEnvelope(results=result, meta=meta, synthesis=answer, passages=beside)
    return ToolResult("text", {**envelope.model_dump(mode="json"), "truncation": None})


@pytest.mark.parametrize("lines", [1, 20, 60])
def test_no_line_of_an_answer_is_left_out(
    terminal: None, capsys: pytest.CaptureFixture[str], lines: int
) -> None:
    assert terminal_output.draw(
        "web_research", deep("\n\n".join(f"line {n}" for n in range(lines)))
    )
    out = capsys.readouterr().out
    assert re.findall(r"^line \d+$", out, re.MULTILINE) == [f"line {n}" for n in range(lines)]
    assert out.count("\nSources:\n") == 1


def test_without_rich_it_is_plain_text(
    terminal: None, cli: Cli, trial: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = cli("search", "heap", "zip", "--plain", "--config", trial).out
    for name in [name for name in sys.modules if name.startswith(("rich", "webtools.rendering"))]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "rich", None)
    result = cli("search", "heap", "zip", "--config", trial)
    assert (result.code, result.err) == (0, "")
    assert result.out.split() == expected.split()  # long lines are wrapped
