"""Draw sources and logged requests as matplotlib charts."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from statistics import median
from typing import Any

from webtools._internal.display.short_texts import MissingLibraryError, cut
from webtools._internal.text.domains import registrable_domain
from webtools.errors import InputError
from webtools.logs import LogEvent, tail
from webtools.results import FetchResponse, ResearchEnvelope, SearchResponse

_MISSING = "plot needs matplotlib: pip install 'agent-webtools[plot]'"
_MAX_DOMAINS = 12
_DAYS, _MONTHS = 31, 731  # days from the first to the last date up to which a bar is a day, a month
_LOGGED: dict[str, tuple[str, str, Callable[[list[float]], float]]] = {
    "cost": ("Cost by provider, USD", "cost_usd", sum),
    "time": ("Median time of a request by provider, ms", "ms", median),
}
_OUTCOMES = {"provider_success", "provider_empty", "provider_error"}


def plot(response: Any, kind: str | None, ax: Any) -> Any:
    """Draw a chart of the sources of a response: `domains` or `dates`.

    Raises:
        InputError: There is no chart of that kind.
        ImportError: matplotlib is not installed.
    """
    if not isinstance(response, (SearchResponse, FetchResponse, ResearchEnvelope)):
        raise InputError(f"{type(response).__name__} has no chart.")
    pages = response.pages if isinstance(response, FetchResponse) else response.results
    sources = [page for page in pages if not getattr(page, "error", None)]
    if kind in {None, "domains"}:
        domains = Counter(registrable_domain(source.url) for source in sources)
        return _draw("Sources by domain", dict(domains.most_common(_MAX_DOMAINS)), ax)
    if kind != "dates":
        raise InputError(
            f'Unknown chart "{kind}" of {type(response).__name__}; use domains or dates.'
        )
    days = sorted((page.published_at.date() for page in sources if page.published_at), reverse=True)
    span = (days[0] - days[-1]).days if days else 0
    length = len("2026")
    if span <= _DAYS:
        length = len("2026-01-31")
    elif span <= _MONTHS:
        length = len("2026-01")
    return _draw("Sources by date", Counter(day.isoformat()[:length] for day in days), ax)


def plot_log(path: Path, last: int, kind: str, ax: Any) -> Any:
    """Draw a chart of the last requests in the log, by provider: `cost` or `time`.

    Raises:
        InputError: There is no chart of that kind.
        ImportError: matplotlib is not installed.
    """
    if kind not in _LOGGED:
        raise InputError(f'Unknown chart "{kind}" of the log; use {" or ".join(_LOGGED)}.')
    title, field, aggregate = _LOGGED[kind]
    numbers: defaultdict[str, list[float]] = defaultdict(list)
    for event in map(LogEvent, tail(path, last)):
        if event.name in _OUTCOMES and event.number("ms") is not None:
            numbers[event.provider].append(event.number(field) or 0)
    return _draw(title, {provider: aggregate(values) for provider, values in numbers.items()}, ax)


def _draw(title: str, bars: Mapping[str, float], ax: Any) -> Any:
    if ax is None:
        try:
            pyplot: Any = import_module("matplotlib.pyplot")
        except ModuleNotFoundError as error:
            if (error.name or "").partition(".")[0] != "matplotlib":
                raise
            raise MissingLibraryError(_MISSING) from error
        _, ax = pyplot.subplots(figsize=(6.4, 0.7 + 0.3 * min(len(bars), 40)), layout="constrained")
    if not bars:  # an empty frame would look like a fault
        ax.text(0, 0.5, f"{title}: no data", transform=ax.transAxes, parse_math=False)
        ax.set_axis_off()
        return ax
    ax.set_title(title, loc="left", parse_math=False, fontsize="medium")
    positions = range(len(bars), 0, -1)  # from the top
    container = ax.barh(positions, [*bars.values()], 0.6, color="#0072b2")
    ax.bar_label(container, [f"{round(length, 4):,.9g}" for length in bars.values()], padding=4)
    ax.set_yticks(positions, [cut(label, 40) for label in bars], parse_math=False)  # may have a `$`
    ax.spines[["top", "right", "bottom"]].set_visible(False)
    ax.margins(x=0.15)  # room for the numbers
    ax.set_xticks([])
    return ax
