"""The report of a tape: what the session did that recorded it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from webtools._internal.pipeline.tape_lines import TapedCall, read_tape
from webtools._internal.session.history import History, queries_of
from webtools._internal.session.options import SessionOptions
from webtools._internal.session.report import facts_of
from webtools._internal.session.spending import Spending
from webtools._internal.storage.budget import micro_usd_of
from webtools.tools import ALL_TOOLS, READ

NOT_ON_TAPE = "A tape has no limits, and no URLs that the gate has refused."


def facts_of_tape(path: Path) -> dict[str, Any]:
    """Return the report of a tape as plain JSON data.

    Raises:
        InputError: The file is not a tape, or one of its lines is not valid.
    """
    history, spending = History(), Spending()
    for call in read_tape(path)[1]:
        if call.native is None:
            usd = _add(history, call)
            spending.count_usd(micro_usd_of(usd or 0.0), calls=int(call.tool != READ.name))
        else:
            history.add_native(call.native)
            usd = call.native.cost_usd
            spending.count_usd(micro_usd_of(usd or 0.0), call.native.searches)
    facts = facts_of(SessionOptions(), path.name, history, spending)
    for name in ("has_user", "limits", "fetch"):
        del facts[name]
    return {**facts, "notes": [*facts["notes"], NOT_ON_TAPE]}


def _add(history: History, call: TapedCall) -> float | None:
    """Add a call, and return its cost."""
    tool = ALL_TOOLS[call.tool]
    history.begin(tool, queries_of(call.arguments))
    if call.error is not None:
        history.fail(tool)
        return call.error.cost_usd
    history.plan_numbers(call.numbers)
    history.record(call.response)
    facts = getattr(call.response, "meta", call.response)
    provider = getattr(facts, "provider", None) or getattr(facts, "provider_used", None)
    usd: float | None = getattr(facts, "cost_usd", 0.0)
    if provider:
        history.charge([(provider, usd)], is_estimate=getattr(facts, "cost_is_estimate", False))
    return usd
