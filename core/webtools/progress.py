"""How far a long call is: many queries, many pages, research in depth.

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
from threading import Lock
from typing import IO, TYPE_CHECKING, Any, ParamSpec, TypeAlias

from webtools._internal.display.hook import bars
from webtools._internal.text.visible import display_text, is_terminal

if TYPE_CHECKING:
    from typing import Self

    from webtools._internal.display.hook import Bars

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
        stage: What is being done: "searching", "fetching", "summarizing", "looking up",
            "synthesizing", or "moving on" to the next provider where one failed.
        done: Parts that are finished.
        total: All parts of this stage.
        subject: The part that was finished, a query or a URL.
        failed: Whether that part failed.
    """

    tool: str
    stage: str
    done: int
    total: int
    subject: str = ""
    failed: bool = False


ProgressCallback: TypeAlias = Callable[[Progress], None]


def quietly(function: Callable[_Parameters, None]) -> Callable[_Parameters, None]:
    """Silence a callback that fails: it must not end the call that it watches."""

    @functools.wraps(function)
    def call(*args: _Parameters.args, **kwargs: _Parameters.kwargs) -> None:
        try:
            function(*args, **kwargs)
        except Exception:  # whatever a broken stream or a foreign object does
            _logger.debug("%s failed", function.__qualname__, exc_info=True)

    return call


@dataclass(frozen=True, slots=True)
class Stage:
    """How far one stage is, all its steps taken together.

    Attributes:
        name: What is being done.
        done: Parts that are finished.
        total: All parts.
        failed: Parts that failed.
        subject: The part that was finished last, fit to be shown.
    """

    name: str
    done: int
    total: int
    failed: int = 0
    subject: str = ""

    @property
    def words(self) -> str:
        """Explain how far it is, such as `fetching 3/5, 1 failed`."""
        failed = f", {self.failed} failed" if self.failed else ""
        return f"{self.name} {self.done}/{self.total}{failed}"


class Stages:
    """Keeps the stages of a call; steps may come from any thread and out of order."""

    def __init__(self) -> None:
        self._stages: dict[str, Stage] = {}
        self._lock = Lock()

    def take(self, progress: Progress) -> Stage:
        """Count one step; `done` 0 begins the stage anew."""
        name = display_text(progress.stage, _LONGEST_STAGE)
        with self._lock:
            old = self._stages.get(name)
            if old is None or not progress.done:
                old = Stage(name, 0, 0)
            self._stages[name] = Stage(
                name,
                max(old.done, progress.done),
                progress.total,
                old.failed + progress.failed,
                display_text(progress.subject, _LONGEST_SUBJECT) or old.subject,
            )
            return self._stages[name]

    def all(self) -> list[Stage]:
        """List the stages in the order in which they began."""
        with self._lock:
            return list(self._stages.values())


class TerminalProgress:
    """Draws a bar for each stage on stderr while it is entered, and nothing if that is no terminal.

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
        """Begin to draw; needs the extra `cli` where there is a terminal."""
        stream = sys.stderr if self._file is None else self._file
        if is_terminal(stream):
            self._stages = Stages()
            self._bars = bars(stream)
        return self

    def __exit__(self, *_: object) -> None:
        """Wipe the bars away."""
        bars, self._bars = self._bars, None
        if bars is not None:
            bars.close()

    @quietly
    def __call__(self, progress: Progress) -> None:
        """Move the bar of a stage on; nothing before entering and after leaving."""
        with self._lock:  # an older state must not come after a newer one
            if bars := self._bars:
                bars.show(self._stages.take(progress))


class NotebookProgress:
    """Shows in a notebook's cell how far a call is, in one output that changes.

    Example:
        ```python
        with NotebookProgress() as progress:
            web.fetch(urls, progress=progress)
        ```
    """

    def __init__(self) -> None:
        self._stages = Stages()
        self._handle: Any = None  # None also where nothing is running that could show it
        self._lock = Lock()

    def __enter__(self) -> Self:
        """Make the output; needs the extra `notebook`."""
        try:
            display: Any = import_module("IPython.display").display
        except ModuleNotFoundError as error:
            message = "NotebookProgress needs IPython: pip install 'agent-webtools[notebook]'"
            raise ImportError(message) from error
        self._stages = Stages()
        self._handle = display(_Output([]), display_id=True)
        return self

    def __exit__(self, *_: object) -> None:
        """Leave nothing behind: what comes next says what was done."""
        with self._lock:
            handle, self._handle = self._handle, None
        if handle is not None:
            handle.update(_Output([]))

    @quietly
    def __call__(self, progress: Progress) -> None:
        """Change the output; nothing before entering and after leaving."""
        with self._lock:  # an older state must not come after a newer one
            if self._handle is not None:
                self._stages.take(progress)
                self._handle.update(_Output(self._stages.all()))


class _Output:
    """What a notebook shows: HTML, or text where it can only show text."""

    def __init__(self, stages: list[Stage]) -> None:
        self._stages = stages

    def __repr__(self) -> str:
        return "\n".join(f"{stage.words} {stage.subject}".rstrip() for stage in self._stages)

    def _repr_html_(self) -> str:
        return "".join(map(_row, self._stages)) or "<div></div>"


def _row(stage: Stage) -> str:
    bar = f'<progress value="{stage.done}" max="{stage.total}"></progress>'
    return f"<div>{bar} {html.escape(stage.words)} <code>{html.escape(stage.subject)}</code></div>"
