"""What a person at a terminal sees."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest
from cli_calls import Cli

from webtools import WebTools
from webtools._internal.text.fencing import unfenced
from webtools.cli import drawing, main, output
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
    assert f";{url}\x1b\\" in drawn


def test_plain_text_is_the_same_as_in_a_pipe(screen: Screen, cli: Cli, trial: str) -> None:
    arguments = ("web-deep", QUESTION, "--plain", "--config", trial)
    cli(*arguments)  # from now on it is kept
    assert screen(*arguments) == cli(*arguments).out


def test_data_is_the_same_as_in_a_pipe(screen: Screen, cli: Cli, trial: str) -> None:
    arguments = ("search", "heap", "--json", "--config", trial)
    cli(*arguments)
    assert screen(*arguments) == cli(*arguments).out


def test_the_results_of_several_queries_stand_under_their_query(
    terminal: None, cli: Cli, trial: str
) -> None:
    queries = ("json decoder", "zxqjv", "zip file")
    ask = ("search", *queries, "--limit", "2", "--config", trial)
    drawn = re.findall(r'^(".*"| +\d+\. |    No results)', cli(*ask).out, re.MULTILINE)
    assert drawn == [
        *('"json decoder"', " 1. ", " 2. "),
        *('"zxqjv"', "    No results"),
        *('"zip file"', " 1. ", " 2. "),
    ]
    plain = re.findall(r'^(".*":|\d+\.|No results)', cli(*ask, "--plain").out, re.MULTILINE)
    assert plain == [
        *('"json decoder":', "1.", "2."),
        *('"zxqjv":', "No results"),
        *('"zip file":', "1.", "2."),
    ]


@pytest.mark.parametrize("environ", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_no_escape_goes_where_none_is_wanted(
    screen: Screen, trial: str, environ: dict[str, str]
) -> None:
    written = screen("search", "heap", "--limit", "2", "--config", trial, environ=environ)
    assert "heapq" in written
    assert "\x1b" not in written


def test_an_error_is_plain_text_with_the_way_to_its_reason(
    screen: Screen, trial: str, webtools_sandbox: SandboxServer
) -> None:
    webtools_sandbox.fault(status=401, times=None)
    written = screen("search", "x", "--provider", "exa", "--config", trial, code=1)
    assert "HTTP 401" in written
    assert "`webtools explain " in written
    assert "\x1b" not in written


# --- in this process ---------------------------------------------------------------------------


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Lets both outputs seem to be terminals without colours."""
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setattr(type(sys.stdout), "isatty", lambda _: True)


@pytest.fixture
def trial_page(trial: str, webtools_sandbox: SandboxServer) -> tuple[str, str]:
    return trial, f"{webtools_sandbox.docs_url}/library/secrets.html"


def test_the_text_of_pages_and_summaries_is_printed_whole(
    terminal: None, cli: Cli, trial: str, webtools_sandbox: SandboxServer
) -> None:
    url = f"{webtools_sandbox.docs_url}/library/secrets.html"
    with WebTools(config=trial) as web:
        page = web.fetch(url).pages[0].text or ""
        summary = web.call_tool("summarize", {"url": url}).text
    whole = cli("fetch", url, "--config", trial).out
    text = re.sub(r"^```python$", "```", page.partition("\n")[2], flags=re.MULTILINE)
    shown = re.findall(r"\w+", text)  # the title stands above it, code is drawn as code
    assert re.findall(r"\w+", whole)[-len(shown) :] == shown
    head, _, text = cli("summarize", url, "--config", trial).out.partition("\n\n")
    assert re.match(r"cecil · summary · \d+ tokens · kagi · [\d.]+ USD .* s$", head)
    assert text.split() == unfenced(summary).replace("`", "").split()  # drawn as code, too


@pytest.mark.parametrize("columns", [40, 60, 120])
@pytest.mark.parametrize("command", ["summarize URL", "fetch URL", "plan heap", "log tail"])
def test_no_text_is_broken_within_a_word(
    terminal: None, cli: Cli, trial_page: tuple[str, str], columns: int, command: str
) -> None:
    trial, url = trial_page
    os.environ["COLUMNS"] = str(columns)  # put back with the fixture's
    cli("search", "x", "--provider", "nobody", "--config", trial)
    lines = cli(*command.replace("URL", url).split(), "--config", trial).out.splitlines()
    assert lines
    assert all(len(line) <= columns or " " not in line.strip() for line in lines)


def test_errors_are_broken_between_words_and_what_to_run_is_not(
    terminal: None,
    cli: Cli,
    trial: str,
    webtools_sandbox: SandboxServer,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COLUMNS", "30")
    webtools_sandbox.fault(status=401, times=None)
    *told, last = cli("search", "x", "--config", trial).err.splitlines()
    assert len(told) > 1
    assert max(map(len, told)) <= 30
    assert f"--config {trial}`" in last


def test_without_a_known_width_lines_have_80_columns(
    terminal: None, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "0")
    lines = cli("serch").err.splitlines()
    assert 70 < max(map(len, lines)) <= 80


def test_a_narrow_terminal_is_wide_enough(
    terminal: None, cli: Cli, trial: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    lines = cli("web", QUESTION, "--config", trial).out.splitlines()
    assert 30 < max(map(len, lines)) <= 40


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


def test_the_snippets_of_sources_do_not_push_an_answer_off_the_screen(
    terminal: None, cli: Cli, trial: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    lines = cli("web-deep", QUESTION, "--config", trial).out.splitlines()
    sources = lines[lines.index("Sources:") + 1 :]
    assert len(lines) <= 45
    assert any(line.endswith("[1]") for line in lines[:8])  # the answer comes first
    assert sources[0].startswith(" 1. ")
    assert any(re.fullmatch(r"    http://\S+", line) for line in sources)
    plain = cli("web-deep", QUESTION, "--synthesis", "none", "--config", trial).out
    assert "Sources:" in plain
    assert len(plain.splitlines()) > len(sources)  # with no answer, the snippets are there


@pytest.mark.parametrize(
    ("arguments", "drawn"),
    [
        (["web", "heap"], False),
        (["search", "heap"], False),
        (["search", "heap", "zip"], True),
        (["web-deep", "heap"], True),
        (["web-deep", "heap", "--plain"], False),
    ],
)
def test_bars_are_drawn_for_several_parts_and_not_for_plain_text(
    terminal: None, cli: Cli, trial: str, arguments: list[str], drawn: bool
) -> None:
    assert ("━" in cli(*arguments, "--config", trial).err) == drawn


@pytest.mark.parametrize("command", ["search", "web", "web-deep", "fetch", "summarize"])
def test_a_page_cannot_act_on_the_terminal(
    terminal: None, cli: Cli, trial: str, webtools_sandbox: SandboxServer, command: str
) -> None:
    evil = "\x1b]0;owned\x07\x1b[2J\x9b31m \u202e[bold red]no markup[/]"
    url = "https://a.example/"
    hit = {"id": url, "title": evil, "url": url, "text": evil, "highlights": [evil]}
    found = {"results": [hit], "statuses": [{"id": url, "status": "success"}]}
    summary = {"meta": {"id": "x"}, "data": {"output": evil, "tokens": 3}}
    body = json.dumps({**found, **summary}).encode()
    webtools_sandbox.fault(body=body, times=None)
    done = cli(command, url, "--config", trial)
    assert done.code == 0
    assert "[bold red]no markup[/]" in done.out
    assert not {"\x1b", "\x07", "\x9b"} & set(done.out)


@pytest.mark.parametrize("count", [10, 11])
def test_no_result_is_left_out(terminal: None, cli: Cli, trial: str, count: int) -> None:
    out = cli("search", "python", "--limit", str(count), "--config", trial).out
    assert re.match(rf"{count} results · exa · [\d.]+ USD · (< )?[\d.]+ s\n\n 1\. ", out)
    assert len(re.findall(r"^ *\d+\. ", out, re.MULTILINE)) == count
    assert "more" not in out.splitlines()[-1]


def deep(summary: str, sources: int = 1, passages: int = 0) -> ToolResult:
    """Return what a model gets of an answer, with as much beside it as wanted."""
    urls = [f"https://a.example/{n}" for n in range(sources)]
    found = [
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
    envelope = ResearchEnvelope(results=found, meta=meta, synthesis=answer, passages=beside)
    return ToolResult("text", {**envelope.model_dump(mode="json"), "truncation": None})


@pytest.mark.parametrize("lines", [1, 20, 60])
def test_no_line_of_an_answer_is_left_out(
    terminal: None, capsys: pytest.CaptureFixture[str], lines: int
) -> None:
    assert drawing.draw("web_research", deep("\n\n".join(f"line {n}" for n in range(lines))))
    out = capsys.readouterr().out
    assert re.findall(r"^line \d+$", out, re.MULTILINE) == [f"line {n}" for n in range(lines)]
    assert out.count("\nSources:\n") == 1


def test_no_end_of_a_line_is_left_out(terminal: None, capsys: pytest.CaptureFixture[str]) -> None:
    assert drawing.draw("web_research", deep("y" * 5000))
    assert capsys.readouterr().out.count("y") == 5000


def test_what_stands_beside_an_answer_is_bounded(
    terminal: None, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    assert drawing.draw("web_research", deep("Yes. [1]", sources=10, passages=30))
    out = capsys.readouterr().out
    assert len(out.splitlines()) <= 45
    assert "30 passages" in " ".join(out.partition("\n\n")[0].split())
    assert out.count("could not be read") == 1
    assert drawing.draw("web_research", deep("", sources=10, passages=30))
    assert len(capsys.readouterr().out.splitlines()) <= 100  # the nearest, as there is no answer


def test_an_answer_s_code_keeps_its_lines(
    terminal: None, capsys: pytest.CaptureFixture[str]
) -> None:
    code = "if x:    # two ways\n    y = a_b * __c__\n\nz = 1"
    assert drawing.draw("web_research", deep(f"So:\n\n```python\n{code}\n```\n[1]"))
    out = capsys.readouterr().out
    assert code in out.replace("\n  ", "\n")


def test_without_rich_it_is_plain_text(
    terminal: None, cli: Cli, trial: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = cli("search", "heap", "zip", "--plain", "--config", trial).out
    for name in [name for name in sys.modules if name.startswith(("rich", "webtools.rendering"))]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "rich", None)
    done = cli("search", "heap", "zip", "--config", trial)
    assert (done.code, done.out, done.err) == (0, expected, "")


def test_ctrl_c_wipes_the_bars_away(
    terminal: None, cli: Cli, trial: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_: object, **options: Any) -> None:
        assert options["progress"] is not None
        raise KeyboardInterrupt

    monkeypatch.setattr(WebTools, "call_tool", interrupt)
    done = cli("web-deep", "heap", "--config", trial)
    assert (done.code, done.out) == (130, "")


def test_a_result_that_is_an_error_is_never_drawn(
    terminal: None, capsys: pytest.CaptureFixture[str], trial: str
) -> None:
    assert main(["search", "x", "--provider", "nobody", "--config", trial]) == output.USAGE
    out, err = capsys.readouterr()
    assert out == ""
    assert 'provider "nobody"' in err


def test_drawing_changes_nothing_in_the_result(terminal: None, trial: str) -> None:
    with WebTools(config=trial) as web:
        result = web.call_tool("web_research", {"query": QUESTION, "command": "web-deep"})
    before = replace(result, details=json.loads(json.dumps(result.details)))
    assert drawing.draw("web_research", result)
    assert result == before
