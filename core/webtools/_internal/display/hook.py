"""The one hook by which results, tools and progress ask to be drawn.

The drawing is imported when it is first asked for.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterable
from typing import IO, Any, Protocol, TypeVar, cast

Draw = TypeVar("Draw", bound=Callable[[Any], str])


def _never_raising(draw: Draw) -> Draw:
    """Fall back to the type's name: a debugger or a notebook asks for this unbidden."""

    @functools.wraps(draw)
    def drawn(self: Any) -> str:
        try:
            return draw(self)
        except Exception:  # noqa: BLE001  # objects made without any check hold anything
            return type(self).__name__

    return cast("Draw", drawn)


def _on_terminal() -> bool:
    """Return whether IPython runs in a terminal; a notebook would save the text beside the HTML."""
    found = getattr(sys.modules.get("IPython"), "get_ipython", None)
    terminal = sys.modules.get("IPython.terminal.interactiveshell")
    kind = getattr(terminal, "TerminalInteractiveShell", None)
    return found is not None and kind is not None and isinstance(found(), kind)


class Bars(Protocol):
    """Bars for long calls, as `progress` moves them."""

    def show(self, stage: Any) -> None:
        """Move the bar of a stage to where it is, or add it."""

    def close(self) -> None:
        """Wipe the bars away."""


def bars(file: IO[str]) -> Bars:
    """Begin to draw bars on a terminal; needs rich."""
    from webtools._internal.display.terminal.bars import Bars  # noqa: PLC0415

    return Bars(file)


class Bounded:
    """Shortens what pydantic prints of a model, so that a log never holds a whole page."""

    def __repr_args__(self) -> Iterable[tuple[str | None, Any]]:
        """Return the fields with their values cut; pydantic prints these."""
        from webtools._internal.display.plain import shorten  # noqa: PLC0415

        try:
            return [(name, shorten(value)) for name, value in vars(self).items()]
        except Exception:  # noqa: BLE001  # as above
            return []


class Pictured:
    """Shows what is drawn where a notebook or a terminal asks for it."""

    __slots__ = ()

    @_never_raising
    def _repr_html_(self) -> str:
        """Draw it for a notebook: one fragment, without scripts, that fetches nothing."""
        from webtools._internal.display.html import draw  # noqa: PLC0415

        return draw(self)

    @_never_raising
    def _repr_markdown_(self) -> str:
        """Draw it where HTML is not shown."""
        from webtools._internal.display.results_markdown import draw  # noqa: PLC0415

        return draw(self)

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """Write it where IPython runs in a terminal; elsewhere and in lists it is one line."""
        text = ""
        try:
            if not cycle and len(printer.stack) == 1 and _on_terminal():
                from webtools._internal.display.plain import draw  # noqa: PLC0415

                text = draw(self)
        except Exception:  # noqa: BLE001  # as above
            text = ""
        printer.text(text or repr(self))


class Drawn(Pictured):
    """Shows what is drawn: a line in a log, a table in a notebook, text in a terminal."""

    __slots__ = ()

    @_never_raising
    def __repr__(self) -> str:
        """Return one short line on what it is."""
        from webtools._internal.display.plain import line  # noqa: PLC0415

        return f"<{type(self).__name__} {line(self)}>"

    _repr_pretty_ = Pictured._repr_pretty_  # IPython takes what stands beside `__repr__`


class Shown(Drawn, Bounded):
    """Shows a response: also as rows in a data frame."""

    __str__ = Drawn.__repr__

    def __repr_args__(self) -> Iterable[tuple[str | None, Any]]:
        """Return that line for those who print models in their own way, such as rich."""
        from webtools._internal.display.plain import line  # noqa: PLC0415

        try:
            return [(None, line(self))]
        except Exception:  # noqa: BLE001  # as above
            return []

    def to_dataframe(self) -> Any:
        """Return the results as rows of a pandas `DataFrame`.

        A search has a row per result with its `rank` within the query, a fetch a row per page,
        research a row per source with the number of its `citation`, and `verify` a row per claim.
        Times are in UTC. `attrs` holds the facts of the call, such as provider, price and warnings.

        Raises:
            InputError: The response has no rows: a plan, a summary or a part that was read on.
            ImportError: pandas is not installed.
        """
        from webtools._internal.display.data_frame import frame  # noqa: PLC0415

        return frame(self)

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
        from webtools._internal.display.plots import plot  # noqa: PLC0415

        return plot(self, kind, ax)
