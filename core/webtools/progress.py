"""Show the progress of long calls, such as those with many queries or pages.

from webtools.progress import TerminalProgress

with TerminalProgress() as progress:
    web.fetch(urls, progress=progress)
"""

from __future__ import annotations

import functools
import html
import logging
import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from inspect import iscoroutinefunction
from threading import Lock
from typing import IO, Any, NamedTuple, ParamSpec, Self, TypeAlias

from webtools._internal.representation import Bars, bars
from webtools._internal.text.visible import display_text, is_terminal
from webtools.errors import InputError

__all__ = ["NotebookProgress", "Progress", "ProgressCallback", "TerminalProgress", "quietly"]

_LONGEST_SUBJECT = 80
_LONGEST_STAGE = 24
_Parameters = ParamSpec("_Parameters")
_logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Progress:
    """One step of a call.

    Attributes:
        tool: Name of the tool.
        stage: The current activity: "searching", "fetching", "summarizing", "looking up" (docs),
            "synthesizing", or "falling back" (to the next provider after one failed).
        done: Number of finished parts.
        total: Number of all parts of the stage.
        subject: The finished part, a query or a URL. Empty at the start of the stage.
        failed: Whether that part failed.
        call_id: ID of the call, as in its result and in the log.
    """

    tool: str
    stage: str
    done: int
    total: int
    subject: str = ""
    failed: bool = False
    call_id: str = ""


ProgressCallback: TypeAlias = Callable[[Progress], None]


def check_callback(callback: object) -> None:
    """Check a callback for progress.

    Raises:
        InputError: It is not a plain function. An async one would never be awaited.
    """
    kind = type(callback).__name__
    if not callable(callback):
        raise InputError(f"progress must be a function, not {kind}.")
    if iscoroutinefunction(callback) or iscoroutinefunction(type(callback).__call__):
        raise InputError(
            "progress must be a plain function, not an async one: it is called from any thread. "
            "For async code, put the steps into a queue with loop.call_soon_threadsafe."
        )


def quietly(function: Callable[_Parameters, None]) -> Callable[_Parameters, None]:
    """Ignore errors of a callback: it must not end the call that it watches."""

    @functools.wraps(function)
    def call(*args: _Parameters.args, **kwargs: _Parameters.kwargs) -> None:
        try:
            function(*args, **kwargs)
        except Exception:  # a broken stream or a foreign object can raise anything
            _logger.debug("%s failed", function.__qualname__, exc_info=True)

    return call


class Stage(NamedTuple):
    """The progress of one stage.

    Attributes:
        name: The activity.
        done: Number of finished parts.
        total: Number of all parts.
        failed: Number of failed parts.
        subject: The part that finished last, cleaned for display.
    """

    name: str
    done: int
    total: int
    failed: int = 0
    subject: str = ""

    @property
    def words(self) -> str:
        """The progress in words, such as `fetching 3/5, 1 failed`."""
        failed = f", {self.failed} failed" if self.failed else ""
        return f"{self.name} {self.done}/{self.total}{failed}"


class Stages:
    """The stages of a call; steps may arrive from any thread and out of order."""

    def __init__(self) -> None:
        self._stages: dict[str, Stage] = {}
        self._lock = Lock()

    def add(self, progress: Progress) -> Stage:
        """Add one step; `done` 0 restarts the stage."""
        name = display_text(progress.stage, _LONGEST_STAGE)
        with self._lock:
            stage = self._stages.get(name)
            if stage is None or not progress.done:
                stage = Stage(name, 0, 0)
            self._stages[name] = Stage(
                name,
                max(stage.done, progress.done),
                progress.total,
                stage.failed + progress.failed,
                display_text(progress.subject, _LONGEST_SUBJECT) or stage.subject,
            )
            return self._stages[name]

    def all(self) -> list[Stage]:
        """Return the stages in the order in which they began."""
        with self._lock:
            return list(self._stages.values())


class TerminalProgress:
    """Draw a progress bar for each stage on stderr, if it is a terminal.

    Example:
        ```python
        with TerminalProgress() as progress:
            web.fetch(urls, progress=progress)
        ```
    """

    def __init__(self, file: IO[str] | None = None) -> None:
        """Draw in a file, stderr by default."""
        self._file = file
        self._stages = Stages()
        self._bars: Bars | None = None
        self._lock = Lock()

    def __enter__(self) -> Self:
        """Start drawing; needs the extra `cli` on a terminal."""
        stream = sys.stderr if self._file is None else self._file
        if is_terminal(stream):
            self._stages = Stages()
            self._bars = bars(stream)
        return self

    def __exit__(self, *_: object) -> None:
        """Remove the bars."""
        bars, self._bars = self._bars, None
        if bars is not None:
            bars.close()

    @quietly
    def __call__(self, progress: Progress) -> None:
        """Update the bar of a stage; does nothing outside the `with` block."""
        with self._lock:  # so that an older state does not replace a newer one
            if bars := self._bars:
                bars.show(self._stages.add(progress))


class NotebookProgress:
    """Show the progress of a call below a notebook cell.

    Example:
        ```python
        with NotebookProgress() as progress:
            web.fetch(urls, progress=progress)
        ```
    """

    def __init__(self) -> None:
        self._stages = Stages()
        self._handle: Any = None  # None also if no notebook is running
        self._lock = Lock()

    def __enter__(self) -> Self:
        """Create the output; needs the extra `notebook`."""
        try:
            display: Any = import_module("IPython.display").display
        except ModuleNotFoundError as error:
            if (error.name or "").partition(".")[0] != "IPython":
                raise
            message = "NotebookProgress needs IPython: pip install 'agent-webtools[notebook]'"
            raise ImportError(message) from error
        self._stages = Stages()
        self._handle = display(_Output([]), display_id=True)
        return self

    def __exit__(self, *_: object) -> None:
        """Clear the output."""
        with self._lock:
            handle, self._handle = self._handle, None
        if handle is not None:
            handle.update(_Output([]))

    @quietly
    def __call__(self, progress: Progress) -> None:
        """Update the output; does nothing outside the `with` block."""
        with self._lock:  # so that an older state does not replace a newer one
            if self._handle is not None:
                self._stages.add(progress)
                self._handle.update(_Output(self._stages.all()))


class _Output:
    """Progress as HTML, and as text for front ends without HTML."""

    def __init__(self, stages: list[Stage]) -> None:
        self._stages = stages

    def __repr__(self) -> str:
        return "\n".join(f"{stage.words} {stage.subject}".rstrip() for stage in self._stages)

    def _repr_html_(self) -> str:
        return "".join(map(_row, self._stages)) or "<div></div>"


def _row(stage: Stage) -> str:
    bar = f'<progress value="{stage.done}" max="{stage.total}"></progress>'
    return f"<div>{bar} {html.escape(stage.words)} <code>{html.escape(stage.subject)}</code></div>"
