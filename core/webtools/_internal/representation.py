"""How results, tools and progress show themselves.

The modules that draw results import their models, and the models import this module. So
`load_display` imports those modules by name when a result is shown.
"""

from __future__ import annotations

import functools
import reprlib
import sys
from collections.abc import Callable, Iterable
from importlib import import_module
from typing import IO, Any, Protocol, TypeVar, cast

Draw = TypeVar("Draw", bound=Callable[[Any], str])

_shortener = reprlib.Repr()
_shortener.maxstring = 200
_shortener.maxother = 400
_shortener.maxlist = _shortener.maxtuple = _shortener.maxdict = 4


def load_display(module: str = "drawing") -> Any:
    """Import a module of `_internal/display` by name."""
    return import_module(f"webtools._internal.display.{module}")


def _never_raising(draw: Draw) -> Draw:
    """Fall back to the type's name: debuggers and notebooks call these methods on any object."""

    @functools.wraps(draw)
    def drawn(self: Any) -> str:
        try:
            return draw(self)
        except Exception:  # noqa: BLE001  # a model may be built without validation
            return type(self).__name__

    return cast("Draw", drawn)


def _is_on_terminal() -> bool:
    """Return whether IPython runs in a terminal; a notebook would save the text beside the HTML."""
    get_ipython = getattr(sys.modules.get("IPython"), "get_ipython", None)
    terminal = sys.modules.get("IPython.terminal.interactiveshell")
    shell = getattr(terminal, "TerminalInteractiveShell", None)
    return get_ipython is not None and shell is not None and isinstance(get_ipython(), shell)


class Bars(Protocol):
    """Progress bars of a long call."""

    def show(self, stage: Any) -> None:
        """Update the bar of a stage, or add it."""

    def close(self) -> None:
        """Remove the bars."""


def bars(file: IO[str]) -> Bars:
    """Draw bars on a terminal; needs rich."""
    terminal_bars: Bars = load_display("terminal.bars").Bars(file)
    return terminal_bars


class Bounded:
    """Shortens what pydantic prints of a model, so that a log never holds a whole page."""

    def __repr_args__(self) -> Iterable[tuple[str | None, Any]]:
        """Return the fields with shortened values, for pydantic to print."""
        try:
            return [(name, _Literal(_shortener.repr(value))) for name, value in vars(self).items()]
        except Exception:  # noqa: BLE001  # as above
            return []


class _Literal(str):
    """A text whose representation is the text itself."""

    __slots__ = ()
    __repr__ = str.__str__


class Pictured:
    """Shows itself as HTML, Markdown or text where a notebook or a terminal asks for it."""

    __slots__ = ()

    @_never_raising
    def _repr_html_(self) -> str:
        """Return one HTML fragment that runs nothing and fetches nothing."""
        return str(load_display().draw_html(self))

    @_never_raising
    def _repr_markdown_(self) -> str:
        """Return Markdown, for front ends that do not show HTML."""
        return str(load_display().draw_markdown(self))

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """Print all of it in IPython on a terminal; elsewhere and in lists one line."""
        text = ""
        try:
            if not cycle and len(printer.stack) == 1 and _is_on_terminal():
                text = load_display().draw_text(self)
        except Exception:  # noqa: BLE001  # as above
            text = ""
        printer.text(text or repr(self))


class Drawn(Pictured):
    """Shows itself: a line in a log, a table in a notebook, text in a terminal."""

    __slots__ = ()

    @_never_raising
    def __repr__(self) -> str:
        """Return a short line that describes it."""
        return f"<{type(self).__name__} {load_display().draw_line(self)}>"

    _repr_pretty_ = Pictured._repr_pretty_  # IPython uses the one of the class with `__repr__`


class Shown(Drawn, Bounded):
    """Shows a response, also as rows in a data frame."""

    __str__ = Drawn.__repr__

    def __repr_args__(self) -> Iterable[tuple[str | None, Any]]:
        """Return the line for libraries that print models in their own way, such as rich."""
        try:
            return [(None, load_display().draw_line(self))]
        except Exception:  # noqa: BLE001  # as above
            return []

    def to_dataframe(self) -> Any:
        """Return the results as rows of a pandas `DataFrame`.

        A search has a row per result with its `rank` within the query, a fetch a row per page,
        research a row per source with the number of its `citation`, and `verify` a row per claim.
        Times are in UTC. `attrs` holds the facts of the call, such as provider, price and warnings.

        Raises:
            InputError: The response has no rows: a plan, a summary or a part of an output.
            ImportError: pandas is not installed.
        """
        return load_display().to_data_frame(self)

    def plot(self, kind: str | None = None, ax: Any = None) -> Any:
        """Draw a chart, and return its matplotlib `Axes`.

        Args:
            kind: `domains` (default, the 12 most frequent) or `dates` of the sources of a search,
                a fetch or research.
            ax: `Axes` to draw on; a new figure by default.

        Raises:
            InputError: There is no chart of that kind, or the response has no sources.
            ImportError: matplotlib is not installed.
        """
        return load_display().plot(self, kind, ax)
