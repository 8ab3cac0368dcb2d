"""What a person at a terminal sees: drawn results, and bars while a call takes long."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from importlib import import_module
from typing import Any

from webtools.cli.output import tell
from webtools.progress import ProgressCallback, TerminalProgress
from webtools.text.visible import is_terminal
from webtools.tools import ToolResult

# What an expanded view shows at most; beyond it, the text is printed below the headline.
_MOST_RESULTS = 10
_MOST_LINES = 20
_LONGEST_LINE = 1000
_ASKED_FOR_THE_TEXT = {"web_fetch", "summarize", "web_read"}


def progress(*, parts: int) -> AbstractContextManager[ProgressCallback | None]:
    """Draw bars on stderr while a call of several parts runs, where that can be drawn on."""
    if parts > 1 and _can_draw_on(sys.stderr):
        return TerminalProgress()
    return nullcontext()


def draw(tool: str, result: ToolResult) -> bool:
    """Draw a result on stdout; tells False, and does nothing, where that cannot be drawn on."""
    if not _can_draw_on(sys.stdout):
        return False
    from webtools.display.terminal import console_for, render_result  # noqa: PLC0415  rich is optional

    whole = _is_shown_whole(tool, result.details)
    shown = replace(result, details=_with_sources(result.details))
    console_for(sys.stdout).print(render_result(tool, shown, expanded=whole))
    if not whole:
        tell(f"\n{result.text}")
    return True


def _with_sources(details: Mapping[str, Any]) -> dict[str, Any]:
    """Give an answer its sources: the n-th is the one that it cites as `[n]`, and none a snippet.

    The answer says what the snippets would, and below it they would push it off the screen.
    """
    synthesis: dict[str, list[str]] | None = details.get("synthesis")
    if synthesis is None:
        return dict(details)
    cited = synthesis["citations"]
    hits = sorted(
        details["results"],
        key=lambda hit: cited.index(hit["url"]) if hit["url"] in cited else len(cited),
    )
    return {**details, "results": [{**hit, "snippet": ""} for hit in hits]}


def _can_draw_on(stream: Any) -> bool:
    if not is_terminal(stream):
        return False
    try:
        import_module("webtools.display.terminal")
    except ImportError:  # rich is optional
        return False
    return True


def _is_shown_whole(tool: str, details: Mapping[str, Any]) -> bool:
    """Tell whether a view leaves nothing out that the user asked for."""
    synthesis: dict[str, str] = details.get("synthesis") or {}
    lines = synthesis.get("summary", "").split("\n")
    return (
        tool not in _ASKED_FOR_THE_TEXT
        and details.get("truncation") is None
        and len(details["results"]) <= _MOST_RESULTS
        and len(lines) <= _MOST_LINES
        and max(map(len, lines)) <= _LONGEST_LINE
    )
