"""The report of a session as plain data."""

from __future__ import annotations

from typing import Any, TypeVar

from webtools._internal.session.history import History, Use
from webtools._internal.session.options import SessionOptions
from webtools._internal.session.spending import Spending
from webtools._internal.text.nested_texts import with_texts
from webtools._internal.text.redaction import Redactor

T = TypeVar("T")
_MICRO = 1_000_000
NOT_GATED = (
    "The gate does not check queries, questions and filters. They are sent to the providers as the "
    "model wrote them."
)

# Fields whose texts are ours; "" is for names. A short login may be the same word.
_OURS = {"", "id", "how", "tool", "fetch"}


def redact_facts(facts: T, redactor: Redactor) -> T:
    """Redact what others wrote: queries, URLs, titles and notes.

    A call keeps short logins in its arguments, which may be words of the query, and what is a key
    now may not have been one then.
    """
    return with_texts(facts, lambda text, name: text if name in _OURS else redactor.text(text))


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
