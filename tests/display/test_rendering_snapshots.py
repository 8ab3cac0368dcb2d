"""What it looks like, kept as files: `WEBTOOLS_UPDATE_SNAPSHOTS=1 pytest tests/display`."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import rendering_samples as samples
from rich.cells import cell_len
from rich.console import RenderableType

from webtools.rendering import render_call, render_result, to_text

SNAPSHOTS = Path(__file__).parent / "snapshots"
LINK_ID = re.compile(r"(\x1b\]8;id=)[^;]+")
ANSI = re.compile(r"\x1b\[[0-9;]*m|\x1b\]8;[^\x1b]*\x1b\\")
WIDTHS = [60, 80, 200]


def scenes() -> Iterator[tuple[str, str, RenderableType]]:
    """Everything there is to see: which file it belongs to, what it is, how it is drawn."""
    yield "search", "call", render_call("web_search", {"queries": ["rust async", "構造的 一致 🐍"]})
    yield "search", "running", render_result("web_search", None, partial=True)
    yield "search", "none", render_result("web_search", samples.search())
    yield "search", "one", render_result("web_search", samples.search(samples.PLAIN))
    yield "search", "error", render_result("web_search", samples.failure("exa: no credit left."))
    yield "search", "collapsed", render_result("web_search", samples.many(12))
    yield "search", "expanded", render_result("web_search", samples.many(12), expanded=True)
    yield "search", "queries", render_result("web_search", samples.QUERIES, expanded=True)
    yield "fetch", "call", render_call("web_fetch", {"urls": ["https://a.example/", "ftp://b/"]})
    yield "fetch", "running", render_result("web_fetch", None, partial=True)
    yield "fetch", "collapsed", render_result("web_fetch", samples.FETCHED)
    yield "fetch", "expanded", render_result("web_fetch", samples.FETCHED, expanded=True)
    arguments = {
        "url": "https://a.example/paper.pdf",
        "engine": "agnes",
        "summary_type": "takeaway",
    }
    yield "summarize", "call", render_call("summarize", arguments)
    yield "summarize", "running", render_result("summarize", None, partial=True)
    yield "summarize", "collapsed", render_result("summarize", samples.SUMMARY)
    yield "summarize", "expanded", render_result("summarize", samples.SUMMARY, expanded=True)
    arguments = {"query": "What did 3.10 add?", "command": "web-deep"}
    yield "research", "call", render_call("web_research", arguments)
    yield "research", "running", render_result("web_research", None, partial=True)
    yield "research", "collapsed", render_result("web_research", samples.RESEARCH)
    yield "research", "expanded", render_result("web_research", samples.RESEARCH, expanded=True)
    yield "read", "call", render_call("web_read", {"handle": "page-7f3a", "offset": 12_000})
    yield "read", "running", render_result("web_read", None, partial=True)
    yield "read", "collapsed", render_result("web_read", samples.READ)
    yield "read", "expanded", render_result("web_read", samples.READ, expanded=True)
    foreign = samples.search(*samples.TRICKY, errors=[samples.FAILED_QUERY])
    yield "foreign", "expanded", render_result("web_search", foreign, expanded=True)
    yield "foreign", "call", render_call("web_search", {"queries": samples.TRICKY_TEXTS})
    yield (
        "foreign",
        "error",
        render_result("web_search", samples.failure(samples.CSI + "[red]a\nb")),
    )


SCENES = list(scenes())
NAMES = sorted({of for of, _, _ in SCENES})


def draw(name: str, width: int, *, color: bool) -> str:
    parts = [
        f"--- {title}\n{to_text(scene, width, color=color)}"
        for of, title, scene in SCENES
        if of == name
    ]
    return LINK_ID.sub(r"\1id", "\n".join(parts)) + "\n"


@pytest.mark.parametrize("color", [False, True], ids=["plain", "terminal"])
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", NAMES)
def test_it_looks_as_it_did(name: str, width: int, color: bool) -> None:
    kind = "terminal" if color else "plain"
    path = SNAPSHOTS / f"{name}-{width}-{kind}.txt"
    # Escapes are written out, so that a snapshot can be read and does nothing when shown.
    text = draw(name, width, color=color).replace("\x1b", "␛")
    if os.environ.get("WEBTOOLS_UPDATE_SNAPSHOTS"):
        path.write_text(text, encoding="utf-8", newline="\n")
    assert text == path.read_text(encoding="utf-8")


@pytest.mark.parametrize("width", [1, 7, 20, 40, *WIDTHS])
def test_no_line_is_wider_than_the_terminal(width: int) -> None:
    for _, _, scene in SCENES:
        for line in to_text(scene, width).split("\n"):
            assert cell_len(line) <= width
            assert line == line.rstrip() or width == 1  # where a wide letter leaves a blank


def test_colour_changes_no_character() -> None:
    for _, _, scene in SCENES:
        assert ANSI.sub("", to_text(scene, 80, color=True)) == to_text(scene, 80)
