"""Draw results and progress bars on a terminal."""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager, nullcontext, suppress
from importlib.util import find_spec
from threading import Event, Thread
from time import monotonic
from typing import Any, Self

from webtools._internal.text.visible import is_terminal
from webtools.progress import Progress, ProgressCallback, TerminalProgress
from webtools.tools import ToolResult

_SLOW_SECONDS = 1.0
_STAGES = {
    "web_fetch": "fetching",
    "summarize": "summarizing",
    "web_map": "mapping",
    "verify": "checking",
}


def progress(tool: str, parts: int = 1) -> AbstractContextManager[ProgressCallback | None]:
    """Show the progress of a call on stderr, if stderr is a terminal.

    Calls of several parts have bars, others a line if they take longer than a second.
    """
    if parts > 1 and can_draw_on(sys.stderr):
        return TerminalProgress()
    return SlowCall(tool) if sys.stderr.isatty() else nullcontext()


class SlowCall:
    """Shows on stderr what a slow call does and since when. Removes the line at the end."""

    def __init__(self, tool: str) -> None:
        self._stage = _STAGES.get(tool, "searching")
        self._length = 0
        self._end = Event()
        self._thread = Thread(target=self._show, daemon=True)

    def __enter__(self) -> Self:
        """Start the clock."""
        self._start = monotonic()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Remove the line."""
        self._end.set()
        self._thread.join()
        if self._length:
            self._write(f"{' ' * self._length}\r")

    def __call__(self, progress: Progress) -> None:
        """Show another stage."""
        self._stage = progress.stage

    def _show(self) -> None:
        while not self._end.wait(_SLOW_SECONDS):
            line = f"{self._stage} for {monotonic() - self._start:.0f} s"
            self._write(line.ljust(self._length))
            self._length = max(len(line), self._length)

    @staticmethod
    def _write(text: str) -> None:
        with suppress(OSError, ValueError):  # such as a closed terminal
            print(f"\r{text}", end="", file=sys.stderr, flush=True)


def draw(tool: str, result: ToolResult, seconds: float | None = None) -> bool:
    """Draw a result on stdout, or return False if that is not possible."""
    if not can_draw_on(sys.stdout):
        return False
    from webtools.rendering import console_for, render_whole  # noqa: PLC0415  rich is optional

    console_for(sys.stdout).print(render_whole(tool, result, seconds))
    return True


def can_draw_on(stream: Any) -> bool:
    """Return whether a stream is a terminal and rich is installed."""
    return is_terminal(stream) and find_spec("rich") is not None
