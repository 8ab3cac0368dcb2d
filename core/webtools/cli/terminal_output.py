"""Draw results and progress bars on a terminal."""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager, nullcontext
from importlib import import_module
from typing import Any

from webtools._internal.text.visible import is_terminal
from webtools.progress import ProgressCallback, TerminalProgress
from webtools.tools import ToolResult


def progress(*, parts: int) -> AbstractContextManager[ProgressCallback | None]:
    """Draw bars on stderr for a call of several parts, if stderr is a terminal."""
    if parts > 1 and can_draw_on(sys.stderr):
        return TerminalProgress()
    return nullcontext()


def draw(tool: str, result: ToolResult, seconds: float | None = None) -> bool:
    """Draw a result on stdout, or return False if that is not possible."""
    if not can_draw_on(sys.stdout):
        return False
    from webtools.rendering import console_for, render_whole  # noqa: PLC0415  rich is optional

    console_for(sys.stdout).print(render_whole(tool, result, seconds))
    return True


def can_draw_on(stream: Any) -> bool:
    """Return whether a stream is a terminal and rich is installed."""
    if not is_terminal(stream):
        return False
    try:
        import_module("webtools.rendering")
    except ImportError:  # rich is optional
        return False
    return True
