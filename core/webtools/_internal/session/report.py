"""The report of a session as plain data."""

from __future__ import annotations

from typing import Any

from webtools._internal.session.history import History, Use
from webtools._internal.session.options import SessionOptions
from webtools._internal.session.spending import Spending

_MICRO = 1_000_000
NOT_GATED = (
    "The gate does not check queries, questions and filters. They are sent to the providers as the "
    "model wrote them."
)


def facts_of(
    options: SessionOptions, session_id: str, history: History, spending: Spending
) -> dict[str, Any]:
    """Return the report as plain JSON data."""
    total = spending.total()
    tools, providers = history.tools.copy(), history.providers.copy()  # other threads add to them
    uses = providers.values()
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
        "tools": {name: _of_tool(use) for name, use in tools.items()},
        "providers": {name: _of_provider(use) for name, use in providers.items()},
        "queries": [*history.queries],
        "sources": [each.model_dump(mode="json") for each in history.listed()],
        "refused": [*history.refused],
        "notes": [*([] if options.fetch == "any" else [NOT_GATED]), *history.notes],
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
