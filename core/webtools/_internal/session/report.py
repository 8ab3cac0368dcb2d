"""The report of a session, as plain data and as Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from webtools._internal.session.history import History, Use
from webtools._internal.session.options import SessionOptions
from webtools._internal.session.spending import Spending
from webtools.fencing import defuse_line

_MICRO = 1_000_000
_SPECIAL = re.compile(r"[\\`*\[\]<>|#~!&]")
NOT_GATED = (
    "The gate does not check queries, questions and filters. They are sent to the providers as the "
    "model wrote them."
)


def facts_of(
    options: SessionOptions, session_id: str, history: History, spending: Spending
) -> dict[str, Any]:
    """Return the report as plain JSON data."""
    total = spending.total()
    uses = history.providers.values()
    return {
        "id": session_id,
        "has_user": bool(options.user),
        "limits": {
            name: getattr(options, name) for name in ("usd", "usd_per_day", "calls", "seconds")
        },
        "fetch": options.fetch,
        "calls": total.calls,
        "cost_usd": total.micro_usd / _MICRO,
        "cost_is_estimate": any(use.is_estimate for use in uses),
        "unpriced_requests": sum(use.unknown for use in uses),
        "tools": {name: _of_tool(use) for name, use in history.tools.items()},
        "providers": {name: _of_provider(use) for name, use in history.providers.items()},
        "queries": [*history.queries],
        "sources": [each.model_dump(mode="json") for each in history.listed()],
        "refused": [*history.refused],
        "notes": [] if options.fetch == "any" else [NOT_GATED],
    }


def _of_tool(use: Use) -> dict[str, Any]:
    return {"calls": use.count, "failed": use.failed}


def _of_provider(use: Use) -> dict[str, Any]:
    return {
        "requests": use.count,
        "cost_usd": use.micro_usd / _MICRO,
        "cost_is_estimate": use.is_estimate,
        "unpriced_requests": use.unknown,
    }


def to_markdown(facts: dict[str, Any]) -> str:
    """Return the report as Markdown. Texts from the web are escaped."""
    parts = [f"# Session {_plain(facts['id'])}", _summary(facts), *facts["notes"]]
    if uses := facts["providers"]:
        rows = [(name, use["requests"], _usd(use)) for name, use in uses.items()]
        parts += ["## Cost by provider", _table(("Provider", "Requests", "USD"), rows)]
    if facts["queries"]:
        parts += ["## Queries", _list(facts["queries"])]
    if facts["sources"]:
        columns = ("number", "title", "url", "how", "is_read")
        rows = [tuple(source[name] for name in columns) for source in facts["sources"]]
        parts += ["## Sources", _table(("Number", "Title", "URL", "Seen", "Read"), rows)]
    if facts["refused"]:
        parts += ["## Refused URLs", _list(facts["refused"])]
    return "\n\n".join(parts)


def _summary(facts: dict[str, Any]) -> str:
    limits = [f"{name} {value:g}" for name, value in facts["limits"].items() if value is not None]
    return _list(
        [
            f"Calls: {facts['calls']}",
            f"Cost: {_usd(facts)} USD",
            f"URLs that may be opened: {facts['fetch']}",
            f"Limits: {', '.join(limits) or 'none'}",
        ]
    )


def _usd(facts: dict[str, Any]) -> str:
    amount = f"{facts['cost_usd']:.6f}".rstrip("0").rstrip(".")
    unknown = facts["unpriced_requests"]
    note = f", without {unknown} of unknown cost" if unknown else ""
    return f"{amount}{' (estimate)' if facts['cost_is_estimate'] else ''}{note}"


def _list(lines: Iterable[str]) -> str:
    return "\n".join(f"- {_plain(line)}" for line in lines)


def _table(head: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    lines = [head, ["---"] * len(head), *([_cell(value) for value in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _cell(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else ""
    return _plain(str(value))


def _plain(text: str) -> str:
    """Write a text that Markdown and HTML show as it is, on one line."""
    return _SPECIAL.sub(r"\\\g<0>", defuse_line(text))
