"""Live lines, where they go, and what is needed for them."""

from __future__ import annotations

import importlib
import io
import sys

import pytest
import rendering_samples as samples

from webtools.progress import Progress
from webtools.rendering import (
    CallDisplay,
    console_for,
    render_call,
    tool_called,
)
from webtools.tools import RESEARCH, SEARCH, SUMMARIZE


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True

    @property
    def screen(self) -> list[str]:
        """What a terminal shows of it: each line as it was drawn last."""
        lines = self.getvalue().split("\n")
        return [line.rsplit("\r\x1b[2K", 1)[-1] for line in lines]


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ["NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE", "COLORTERM"]:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", "80")


@pytest.fixture
def mute(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")


ONE = samples.search(samples.PLAIN)


def test_in_a_file_a_call_and_its_result_are_two_lines() -> None:
    file = io.StringIO()
    display = CallDisplay(file)
    display.start(1, "web_search", {"queries": ["q" * 200]})
    assert file.getvalue() == f'web_search "{"q" * 200}"\n'
    display.progress(1, Progress("web_search", "searching", 1, 2))
    display.end(1, ONE)
    assert file.getvalue() == f'web_search "{"q" * 200}"\n  1 result\n'


@pytest.mark.usefixtures("mute")
def test_on_a_terminal_the_last_line_shows_running_calls() -> None:
    file = Terminal()
    display = CallDisplay(file)
    display.start(1, "web_search", "a")
    assert file.screen == ['Searching... web_search "a"']
    display.start(2, "web_fetch", "https://b.example/")
    assert file.screen == ['Fetching... (+1 more) web_fetch "https://b.example/"']
    display.progress(2, Progress("web_fetch", "fetching", 1, 3))
    assert file.screen == ['Fetching... 1/3 (+1 more) web_fetch "https://b.example/"']
    display.end(2, samples.FETCHED)
    assert file.screen == [
        'web_fetch "https://b.example/"',
        "  3 fetched · 1 failed (truncated)",
        'Searching... web_search "a"',
    ]
    display.end(1, ONE)
    assert file.screen[2:] == ['web_search "a"', "  1 result", ""]


def test_a_broken_stream_ends_nothing() -> None:
    file = io.StringIO()
    display = CallDisplay(file)
    display.start(1, "web_search", "a")
    file.close()
    display.start(2, "web_search", "a")
    display.end(1, ONE)
    display.fail(2, "boom")


@pytest.mark.parametrize(
    ("terminal", "variable", "escapes"),
    [
        (True, {}, True),
        (True, {"NO_COLOR": "1"}, False),
        (True, {"TERM": "dumb"}, False),
        (True, {"NO_COLOR": ""}, True),
        (False, {}, False),
        (False, {"FORCE_COLOR": "1"}, False),
    ],
)
def test_colours_and_links_are_for_terminals_that_want_them(
    terminal: bool, variable: dict[str, str], escapes: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in variable.items():
        monkeypatch.setenv(name, value)
    file = Terminal() if terminal else io.StringIO()
    console_for(file).print(render_call("web_fetch", {"url": "https://a.example/"}))
    assert ("\x1b]8;" in file.getvalue()) is escapes
    assert ("\x1b[" in file.getvalue()) is escapes


@pytest.mark.parametrize(
    ("name", "description", "tool"),
    [
        ("web_search", "", "web_search"),
        ("web_read", "", "web_read"),
        ("team_web_search", "", "web_search"),
        ("web-fetch", "", None),
        ("exa-web_fetch", "", "web_fetch"),
        ("web_research_2", "", "web_research"),
        ("web_fetch-b", "", "web_fetch"),
        ("look_up", SEARCH.description, "web_search"),
        ("look_up", RESEARCH.paragraph, "web_research"),
        ("tldr", SUMMARIZE.description, "summarize"),
        ("summarize_mail", "", None),
        ("my_summarize", "", None),
        ("myweb_search", "", None),
        ("", "", None),
    ],
)
def test_a_tool_is_known_by_its_name_or_its_description(
    name: str, description: str, tool: str | None
) -> None:
    assert tool_called(name, description) == tool


@pytest.fixture
def without_rich(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "rich"]:
        monkeypatch.delitem(sys.modules, name)
    for name in [name for name in sys.modules if name.startswith("webtools.rendering")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "rich", None)


@pytest.mark.usefixtures("without_rich")
def test_without_rich_the_extra_is_named() -> None:
    with pytest.raises(ImportError, match=r"'agent-webtools\[cli\]'"):
        importlib.import_module("webtools.rendering")
