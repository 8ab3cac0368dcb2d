"""Responses and the log as charts of matplotlib, which nothing else needs."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date
from importlib import import_module
from operator import itemgetter
from statistics import median
from typing import Any, TypeAlias

from webtools.display.text import MissingLibraryError, count, cut, price
from webtools.errors import InputError
from webtools.logs.reading import LogEvent
from webtools.results import (
    FetchResponse,
    Page,
    ResearchEnvelope,
    ResearchPlan,
    ResearchResult,
    SearchResponse,
    SearchResult,
    Verified,
)
from webtools.text.domains import registrable_domain
from webtools.text.record import record

_MISSING = "plot needs matplotlib: pip install 'agent-webtools[plot]'"
_BLUE = "#0072b2"  # told apart by colour-blind people too, like the three below
_STATUSES = {
    "quoted": _BLUE,
    "supported": "#56b4e9",
    "uncertain": "#e69f00",
    "unsupported": "#d55e00",
}
_MOST_BARS = 40
_MOST_DOMAINS = 12
_MOST_TICKS = 8
_LEAST_ROWS = 2  # so that a bar that is alone is no wall
_LONGEST_LABEL = 40  # characters
_BY_DAY = 31  # days between the first and the last date up to which a bar is a day
_BY_MONTH = 36  # months, likewise

_Source: TypeAlias = "SearchResult | ResearchResult | Page"
_Bars: TypeAlias = "list[tuple[str, float, str]]"  # label, length, and what is written at the end


@record
class Chart:
    """A chart before it is drawn.

    Attributes:
        title: What it shows.
        bars: Its bars, from the top or from the left.
        upright: Whether the bars stand, as they do along a time.
        colors: A colour for each bar, where they have their own.
    """

    title: str
    bars: _Bars
    upright: bool = False
    colors: Sequence[str] = ()


def plot(shown: Any, kind: str | None, ax: Any = None) -> Any:
    """Draw a chart of a response, and return its matplotlib `Axes`.

    Raises:
        InputError: It has no chart of that kind.
        ImportError: matplotlib is not installed.
    """
    charts = next((_CHARTS[each] for each in type(shown).__mro__ if each in _CHARTS), None)
    return _draw(_choose(charts or {}, kind, type(shown).__name__)(shown), ax)


def plot_log(events: Iterable[Mapping[str, Any]], kind: str | None, ax: Any = None) -> Any:
    """Draw a chart of the requests in a log, and return its matplotlib `Axes`.

    Raises:
        InputError: There is no chart of that kind.
        ImportError: matplotlib is not installed.
    """
    return _draw(_choose(_OF_LOG, kind, "The log")(map(LogEvent, events)), ax)


def _choose(charts: Mapping[str, Callable[[Any], Chart]], kind: str | None, what: str) -> Any:
    if not charts:
        raise InputError(f"{what} has no chart.")
    if kind is None:
        return next(iter(charts.values()))
    if kind not in charts:
        raise InputError(f'{what} has the charts {", ".join(charts)}, not "{kind}".')
    return charts[kind]


def _sources(shown: SearchResponse | FetchResponse | ResearchEnvelope) -> Sequence[_Source]:
    if isinstance(shown, FetchResponse):
        return [page for page in shown.pages if not page.error]
    return shown.results


def _domains(shown: Any) -> Chart:
    domains = Counter(registrable_domain(source.url) for source in _sources(shown)).most_common()
    bars = [_bar(name, number) for name, number in domains[:_MOST_DOMAINS]]
    if others := domains[_MOST_DOMAINS:]:
        rest = sum(number for _, number in others)
        bars.append(_bar(f"{count(len(others), 'other')}", rest))
    return Chart("Sources by domain", bars)


def _providers(shown: Any) -> Chart:
    names = Counter(source.source_provider or "unknown" for source in _sources(shown))
    return Chart("Sources by provider", [_bar(*each) for each in names.most_common()])


def _bar(label: str, number: int) -> tuple[str, float, str]:
    return label, number, f"{number:,}"


def _dates(shown: Any) -> Chart:
    sources = _sources(shown)
    days = sorted(each.published_at.date() for each in sources if each.published_at)
    undated = len(sources) - len(days)
    title = f"Sources by date{f' ({undated:,} without one)' if undated else ''}"
    bars = [_bar(*each) for each in _periods(days).items()]
    return Chart(title, bars, upright=True)


def _periods(days: Sequence[date]) -> dict[str, int]:
    """Count by day, month or years, whichever makes few bars; periods without any are there too."""
    if not days:
        return {}
    first, last = days[0], days[-1]
    years = last.year - first.year
    step = 1 + years // _MOST_BARS
    written, every = 0, 365  # characters of a date, and days from one look to the next
    if (last - first).days <= _BY_DAY:
        written, every = len("2026-11-20"), 1
    elif years * 12 + last.month - first.month <= _BY_MONTH:
        written, every = len("2026-11"), 28

    def period(day: date) -> str:
        start = day.year - (day.year - first.year) % step
        span = str(start) if step == 1 else f"{start}-{start + step - 1}"
        return day.isoformat()[:written] or span

    ordinals = [*range(first.toordinal(), last.toordinal(), every), last.toordinal()]
    found = dict.fromkeys((period(date.fromordinal(each)) for each in ordinals), 0)
    return found | Counter(map(period, days))


def _confidence(shown: ResearchEnvelope | Verified) -> Chart:
    title = "Claims"
    if isinstance(shown, ResearchEnvelope):
        title += f" (confidence in the sources: {shown.meta.confidence})"
        claims = shown.synthesis.claims if shown.synthesis else []
    else:
        claims = shown.claims
    found: Counter[str] = Counter(claim.status for claim in claims)
    bars = [_bar(status, found[status]) for status in _STATUSES] if claims else []
    return Chart(title, bars, colors=[*_STATUSES.values()])


def _worst_costs(plan: ResearchPlan) -> Chart:
    steps = [*plan.chain, plan.reading, plan.synthesis]
    bars = [
        (f"{step.provider}, {step.task}", step.worst_cost_usd, price(step.worst_cost_usd))
        for step in steps
        if step is not None
    ]
    return Chart("Cost at most", bars)


def _costs(events: Iterable[LogEvent]) -> Chart:
    bars: _Bars = []
    for provider, requests in _requests(events):
        usd = sum(each.number("cost_usd") or 0 for each in requests)
        bars.append((provider, usd, f"{price(usd)}, {count(len(requests), 'request')}"))
    return Chart("Cost by provider", sorted(bars, key=_length, reverse=True))


def _times(events: Iterable[LogEvent]) -> Chart:
    bars: _Bars = []
    for provider, requests in _requests(events):
        times = [each.number("ms") or 0 for each in requests]
        slowest = f", slowest {max(times):,.0f} ms" if len(times) > 1 else ""
        words = f"{median(times):,.0f} ms{slowest}, {count(len(times), 'request')}"
        bars.append((provider, median(times), words))
    return Chart("Median time of a request by provider", sorted(bars, key=_length, reverse=True))


def _requests(events: Iterable[LogEvent]) -> Iterable[tuple[str, list[LogEvent]]]:
    found: defaultdict[str, list[LogEvent]] = defaultdict(list)
    for event in events:
        if event.name in _OUTCOMES and event.number("ms") is not None:
            found[event.provider].append(event)
    return found.items()


_length = itemgetter(1)  # of a bar


_OUTCOMES = {"provider_success", "provider_empty", "provider_error"}
_OF_SOURCES: dict[str, Callable[[Any], Chart]] = {
    "domains": _domains,
    "dates": _dates,
    "providers": _providers,
}
_CHARTS: dict[type, dict[str, Callable[[Any], Chart]]] = {
    SearchResponse: _OF_SOURCES,
    FetchResponse: _OF_SOURCES,
    ResearchEnvelope: {**_OF_SOURCES, "confidence": _confidence},
    ResearchPlan: {"cost": _worst_costs},
    Verified: {"confidence": _confidence},
}
_OF_LOG: dict[str, Callable[[Any], Chart]] = {"cost": _costs, "time": _times}


def _draw(chart: Chart, ax: Any) -> Any:
    ax = _axes(chart) if ax is None else ax
    ax.set_title(chart.title, loc="left", parse_math=False, fontsize="medium")
    ax.spines[["top", "right", "bottom" if not chart.upright else "left"]].set_visible(False)
    if not chart.bars:
        ax.set_axis_off()
        ax.text(0, 0.9, "Nothing to show.", transform=ax.transAxes)
    elif chart.upright:
        _stand(chart, ax)
    else:
        _lie(chart, ax)
    return ax


def _axes(chart: Chart) -> Any:
    try:
        pyplot: Any = import_module("matplotlib.pyplot")
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "matplotlib":
            raise
        raise MissingLibraryError(_MISSING) from error
    height = 2.8 if chart.upright else 0.8 + 0.32 * max(len(chart.bars), _LEAST_ROWS)
    _, ax = pyplot.subplots(figsize=(6.4, height), layout="constrained")
    return ax


def _lie(chart: Chart, ax: Any) -> None:
    places = range(len(chart.bars))
    labels = [cut(label, _LONGEST_LABEL) for label, _, _ in chart.bars]
    drawn = ax.barh(places, [length for _, length, _ in chart.bars], color=chart.colors or _BLUE)
    ax.bar_label(drawn, [told for _, _, told in chart.bars], padding=4, parse_math=False)
    ax.set_yticks(places, labels, parse_math=False)  # a dollar in a name begins no formula
    ax.tick_params(length=0)
    ax.set_ylim(max(len(chart.bars), _LEAST_ROWS) - 0.4, -0.6)
    ax.set_xticks([])
    ax.margins(x=0.02 * max(len(told) for _, _, told in chart.bars) + 0.05)  # room for the words


def _stand(chart: Chart, ax: Any) -> None:
    every = range(0, len(chart.bars), 1 + (len(chart.bars) - 1) // _MOST_TICKS)
    width = 0.8 * min(len(chart.bars) / _MOST_TICKS, 1)  # a bar that is alone is no wall
    lengths = [length for _, length, _ in chart.bars]
    drawn = ax.bar(range(len(chart.bars)), lengths, width, color=_BLUE)
    ax.bar_label(drawn, [told if length else "" for _, length, told in chart.bars], padding=2)
    ax.set_xticks(every, [chart.bars[place][0] for place in every])
    ax.tick_params(length=0)
    ax.set_xlim(-0.6, len(chart.bars) - 0.4)
    ax.set_yticks([])
    ax.margins(y=0.2)  # room for the numbers
