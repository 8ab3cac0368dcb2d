"""Show tool calls while an agent runs: redrawn on a terminal, plain lines elsewhere."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace
from threading import RLock
from typing import IO, Any

from rich.console import Console
from rich.control import Control
from rich.segment import ControlType
from rich.text import Text

from webtools._internal.display.terminal.block import Block, Line
from webtools._internal.display.terminal.call_line import call_text
from webtools._internal.display.terminal.console import MUTED, console_for
from webtools._internal.display.terminal.result import activity, render_result
from webtools._internal.text.visible import is_terminal
from webtools.progress import Progress, quietly
from webtools.tools import ToolResult

_INDENT = 2
_MAX_CALLS = 1000  # that run at a time; the oldest of more never reported their end

_ERASE = Control(ControlType.CARRIAGE_RETURN, (ControlType.ERASE_IN_LINE, 2))


@dataclass(frozen=True, slots=True)
class _Call:
    tool: str
    line: Text
    progress: Progress | None = None


class CallDisplay:
    """Shows calls and their results, several at a time, from any thread.

    On a terminal the last line shows what is running, as long as something is. Elsewhere a call's
    line is printed when it starts, and its result when it ends. Nothing here raises: a display must
    not end the call that it shows.
    """

    def __init__(self, file: IO[str] | None = None, *, expanded: bool = False) -> None:
        """Show calls in a file, stderr by default.

        Args:
            file: The stream.
            expanded: Whether to show more than one line of each result.
        """
        self._console: Console = console_for(file)
        self._expanded = expanded
        self._live = is_terminal(self._console.file)
        self._lock = RLock()
        self._calls: dict[Hashable, _Call] = {}
        self._last: Hashable = None  # the call whose line was printed last
        self._drawn = False

    @quietly
    def start(self, key: Hashable, tool: str, arguments: Any, label: str = "") -> None:
        """Show that a call started.

        Args:
            key: Identifies the call.
            tool: Name of the tool.
            arguments: The model's arguments.
            label: The name to show, if the agent's name for the tool differs.
        """
        call = _Call(tool, call_text(tool, arguments, label))
        with self._lock:
            while len(self._calls) >= _MAX_CALLS:
                del self._calls[next(iter(self._calls))]
            self._calls[key] = call
            if self._live:
                self._draw()
            else:
                self._print(Block([Line(call.line)]))
                self._last = key

    @quietly
    def progress(self, key: Hashable, progress: Progress) -> None:
        """Show the progress of a call; on a terminal only."""
        with self._lock:
            call = self._calls.get(key)
            if call is not None and self._live:
                self._calls[key] = replace(call, progress=progress)
                self._draw()

    @quietly
    def end(self, key: Hashable, result: ToolResult) -> None:
        """Show the result of a call; a call that was not started is ignored."""
        with self._lock:
            call = self._calls.pop(key, None)
            if call is None:
                return
            with self._console:  # one write, so that no other output comes between
                self._erase()
                if self._live or self._last != key:
                    self._print(Block([Line(call.line)]))
                shown = render_result(call.tool, result, self._expanded)
                self._print(shown.indented(_INDENT))
                self._last = None
                self._draw()

    def fail(self, key: Hashable, message: str) -> None:
        """Show that a call ended without a result."""
        self.end(key, ToolResult(message, is_error=True))

    @quietly
    def drop(self, key: Hashable) -> None:
        """Forget a call that will not report its end."""
        with self._lock:
            if self._calls.pop(key, None) is not None:
                self._erase()
                self._draw()

    def _print(self, renderable: Any) -> None:
        # Lines in a file are not wrapped, so that they can be searched.
        self._console.print(renderable, soft_wrap=not self._live)

    def _erase(self) -> None:
        if self._drawn:
            self._console.control(_ERASE)
            self._drawn = False

    def _draw(self) -> None:
        if not self._live or not self._calls:
            return
        status = self._status()
        status.truncate(max(self._console.width - 1, 1), overflow="ellipsis")
        with self._console:
            self._erase()
            self._console.print(status, end="", no_wrap=True)
        self._drawn = True

    def _status(self) -> Text:
        """Describe the newest call, and count the others."""
        call = list(self._calls.values())[-1]
        status = Text().append(activity(call.tool), MUTED)
        if call.progress is not None:
            status.append(f" {call.progress.done}/{call.progress.total}", MUTED)
        if more := len(self._calls) - 1:
            status.append(f" (+{more} more)", MUTED)
        return status + Text(" ") + call.line
