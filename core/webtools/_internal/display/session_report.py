"""Draw the report of a session as Markdown or HTML, in which foreign text is inert."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from webtools._internal.display.elements import div, join, table, tag
from webtools._internal.display.html import wrapped
from webtools._internal.display.results_markdown import inert
from webtools._internal.text.visible import display_text
from webtools._internal.text.web_urls import is_web_url

_IN_CODE = str.maketrans({"`": "%60", "|": "%7C"})
_LEAST_USD = 1e-6  # the smallest amount that is shown
_LONGEST = 300  # characters of a query, a title or a URL


class _Table(NamedTuple):
    title: str
    heads: Sequence[str]
    rows: list[list[str]]


def draw_markdown(facts: Mapping[str, Any]) -> str:
    """Draw a report as Markdown."""
    lines = [f"- {name}: {value}" for name, value in _summary(facts)]
    notes = [inert(_short(note)) for note in facts["notes"]]
    parts = [f"# Session {inert(_short(facts['id']))}", "\n".join(lines), *notes]
    for part in _tables(facts):
        rows: list[Iterable[str]] = [
            part.heads,
            ["---"] * len(part.heads),
            *map(_markdown_cells, part.rows),
        ]
        text = "\n".join(f"| {' | '.join(row)} |" for row in rows)
        parts.append(f"## {part.title}\n\n{text}")
    return "\n\n".join(parts)


def draw_html(facts: Mapping[str, Any]) -> str:
    """Draw a report as one HTML fragment that runs nothing and fetches nothing."""
    summary = join(
        [tag("bdi", f"{name}: {_short(value)}") for name, value in _summary(facts)], " · "
    )
    parts = [
        div("head", tag("span", "Session", class_="wt-kind"), " ", tag("bdi", _short(facts["id"]))),
        div("facts", summary),
        *(div("note", tag("bdi", _short(note))) for note in facts["notes"]),
    ]
    for part in _tables(facts):
        rows = [tag("tr", *(tag("td", tag("bdi", cell)) for cell in row)) for row in part.rows]
        parts += [div("title", part.title), table("results", part.heads, rows)]
    return wrapped(*parts)


def _markdown_cells(row: Iterable[str]) -> Iterable[str]:
    """Yield cells in which foreign text is inert, and URLs can be read and copied."""
    for cell in row:
        yield f"`{cell.translate(_IN_CODE)}`" if is_web_url(cell) else inert(cell)


def _summary(facts: Mapping[str, Any]) -> list[tuple[str, str]]:
    summary = [("Calls", str(facts["calls"])), ("Cost", f"{_usd(facts)} USD")]
    failed = [f"{use['failed']} of {name}" for name, use in facts["tools"].items() if use["failed"]]
    if failed:
        summary.insert(1, ("Failed calls", ", ".join(failed)))
    if "limits" in facts:  # a tape has none
        limits = [
            f"{name} {value:g}" for name, value in facts["limits"].items() if value is not None
        ]
        summary += [
            ("URLs that may be opened", facts["fetch"]),
            ("Limits", ", ".join(limits) or "none"),
        ]
    return summary


def _tables(facts: Mapping[str, Any]) -> Iterable[_Table]:
    """Yield the tables that have rows."""
    providers, sources = facts["providers"].items(), facts["sources"]
    tables = [
        _Table(
            "Cost by provider",
            ("Provider", "Requests", "USD"),
            [
                *([name, str(use["requests"]), _usd(use)] for name, use in providers),
                *_other_costs(facts),
            ],
        ),
        _Table("Queries", ("Query",), [[query] for query in facts["queries"]]),
        _Table(
            "Sources",
            ("Number", "Title", "URL", "Seen", "Read", "Cited by the vendor"),
            [
                [
                    str(source["number"] or ""),
                    *(source[name] for name in ("title", "url", "how")),
                    *("yes" if source[name] else "" for name in ("is_read", "is_cited")),
                ]
                for source in sources
            ],
        ),
        _Table("Refused URLs", ("URL",), [[url] for url in facts["refused"]]),
        _Table(
            "Calls of the tape that were not replayed",
            ("Line", "Tool", "Arguments"),
            [
                [str(call["line"]), call["tool"], json.dumps(call["arguments"], ensure_ascii=False)]
                for call in facts.get("unused_calls", ())
            ],
        ),
    ]
    for each in tables:
        if each.rows:
            yield each._replace(rows=[[_short(cell) for cell in row] for row in each.rows])


def _other_costs(facts: Mapping[str, Any]) -> Iterable[list[str]]:
    """Yield a row for the cost that no provider has in this session."""
    known = sum(use["cost_usd"] for use in facts["providers"].values())
    if (rest := facts["cost_usd"] - known) > _LEAST_USD:
        yield ["canceled calls, and calls before the state", "", _amount(rest)]


def _usd(facts: Mapping[str, Any]) -> str:
    amount = _amount(facts["cost_usd"])
    unknown = facts["unpriced_requests"]
    note = f", without {unknown} of unknown cost" if unknown else ""
    return f"{amount}{' (estimate)' if facts['cost_is_estimate'] else ''}{note}"


def _amount(usd: float) -> str:
    return f"{usd:.6f}".rstrip("0").rstrip(".")


def _short(text: str) -> str:
    return display_text(text, _LONGEST)
