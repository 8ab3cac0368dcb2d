"""Decide whether a vendor's own search serves a call, and write its tool."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from webtools._internal.text.dates import read_date
from webtools._internal.text.domains import is_public_suffix, read_domain
from webtools._internal.text.quoting import quote
from webtools.native.facts import Facts, Route, find_facts

_MICRO = 1_000_000  # prices are compared in millionths of a USD
_COUNTRY = re.compile("[A-Z]{2}")
_INCLUDE, _EXCLUDE = "include_domains", "exclude_domains"


@dataclass(frozen=True, slots=True)
class NativeTool:
    """The vendor's search, which serves all filters and limits of a call.

    Attributes:
        tool: The tool, as the vendor's API takes it.
        request: Other parameters of the request that belong to it. Merge lists with your own.
        facts: The row of the table.
        max_searches: The limit that the vendor holds, or None.
        notes: What a report should say, such as that the vendor has no limit.
        release: Gives back what is reserved for the searches in the limits of a session.
            `Session.record_native` calls it.
    """

    tool: dict[str, Any]
    request: dict[str, Any]
    facts: Facts
    max_searches: int | None = None
    notes: tuple[str, ...] = ()
    release: Callable[[], None] = field(default=lambda: None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class NotNative:
    """The vendor's search cannot be used.

    Attributes:
        reason: Why not, as a part of a sentence.
    """

    reason: str


class _NotServedError(Exception):
    """The reason why a vendor's search cannot be used."""


def native_search(
    route: Route,
    filters: Mapping[str, Any] | None = None,
    *,
    max_searches: int | None = None,
    usd_left: float | None = None,
    calls_left: int | None = None,
    fetch: str = "any",
    overshoot: bool = False,
) -> NativeTool | NotNative:
    """Return the vendor's search as a tool, if it serves all filters and limits.

    Args:
        route: The vendor's route and model.
        filters: Arguments of `web_search` by name, such as `include_domains`. None, "", 0 and []
            mean "no filter".
        max_searches: Maximum number of searches in a response. A vendor without such a limit is
            used all the same; `NativeTool.notes` says so.
        usd_left: Money that is left for searches, in USD. A vendor without a limit is not used.
        calls_left: Number of calls that are left. A vendor without a limit is not used.
        fetch: Which pages a session may fetch. The vendor opens any page, so only `any` fits.
        overshoot: Use a vendor without a limit although it can spend more than `usd_left`.
    """
    facts = find_facts(route)
    if isinstance(facts, str):
        return NotNative(facts)
    left = _Left(max_searches, usd_left, calls_left, overshoot=overshoot)
    try:
        _check_route(route, facts, fetch)
        cap, notes = left.cap(facts)
        tool = _WRITERS[facts.vendor](facts, _served_filters(filters or {}, facts))
    except _NotServedError as error:
        return NotNative(str(error))
    if cap is not None:
        tool["max_uses"] = cap
    return NativeTool(tool, _request(facts, route), facts, cap, notes)


def _check_route(route: Route, facts: Facts, fetch: str) -> None:
    if route.reasoning_effort in facts.refused_efforts:
        effort = quote(route.reasoning_effort)
        raise _NotServedError(f"{route.model} does not search with the reasoning effort {effort}")
    if route.has_functions and facts.beside_functions == "refused":
        raise _NotServedError(f"{route.model} does not search beside function tools")
    if fetch != "any":
        raise _NotServedError(
            f"the vendor opens any page, and the session has fetch={quote(fetch)}"
        )


@dataclass(frozen=True, slots=True)
class _Left:
    """What is left of the limits of a session."""

    searches: int | None
    usd: float | None
    calls: int | None
    overshoot: bool

    def cap(self, facts: Facts) -> tuple[int | None, tuple[str, ...]]:
        """Return the limit to send, or None, and what to report.

        Raises:
            _NotServedError: Nothing is left, or the vendor cannot hold a limit that must hold.
        """
        vendor, price = facts.vendor, facts.usd_per_search
        limits: list[int] = []
        if self.searches is not None:
            limits.append(self.searches)
            if self.searches < 1:
                raise _NotServedError(f"max_searches is {self.searches}")
        if self.calls is not None:
            limits.append(self.calls)
            if self.calls < 1:
                raise _NotServedError("no call of the session is left")
        if self.usd is not None and self.usd != math.inf:
            usd = max(0.0, self.usd)
            limits.append(round(usd * _MICRO) // round(price * _MICRO))
            if limits[-1] < 1:
                left = f"{usd:.6g} USD is left"
                raise _NotServedError(f"{left}, and a search of {vendor} costs {price} USD")
        if not limits:
            return None, ()
        if facts.has_cap:
            return min(limits), ()
        if self.calls is not None or (self.usd is not None and not self.overshoot):
            what = "money" if self.calls is None else "number of calls"
            raise _NotServedError(f"{vendor} has no limit of searches, but the {what} is limited")
        return None, (f"{vendor} has no limit of searches: a response may have any number of them",)


# --- filters -----------------------------------------------------------------------------------


def _served_filters(filters: Mapping[str, Any], facts: Facts) -> dict[str, Any]:
    """Return the filters that are set, checked.

    Raises:
        _NotServedError: The vendor does not apply one of them as it is.
    """
    values = {name: value for name, value in filters.items() if not _is_empty(value)}
    for name in values:
        if name not in facts.filters:
            raise _NotServedError(f"{facts.vendor} does not apply {name}")
    for name in (_INCLUDE, _EXCLUDE):
        if name in values:
            values[name] = _domains(name, values[name], facts)
            if not values[name]:
                del values[name]
    if _INCLUDE in values and _EXCLUDE in values and not facts.takes_both_lists:
        raise _NotServedError(f"{facts.vendor} takes {_INCLUDE} or {_EXCLUDE}, not both")
    if "country" in values:
        country = str(values["country"]).strip().upper()
        if not _COUNTRY.fullmatch(country):
            raise _NotServedError(f"country {quote(country)} is not a code of two letters")
        values["country"] = country
    return values


def _is_empty(value: Any) -> bool:
    return (
        value is None
        or value is False
        or (not isinstance(value, bool) and value in ("", 0, [], ()))
    )


def _domains(name: str, value: Any, facts: Facts) -> list[str]:
    entries = value if isinstance(value, (list, tuple, set, frozenset)) else [value]
    try:
        read = [read_domain(str(entry)) for entry in entries]
    except ValueError as error:
        raise _NotServedError(f"{name}: {quote(str(error))} is not a domain") from None
    domains = list(dict.fromkeys(filter(None, read)))
    if facts.max_domains is not None and len(domains) > facts.max_domains:
        raise _NotServedError(
            f"{facts.vendor} takes {facts.max_domains} {name}, not {len(domains)}"
        )
    for domain in domains:
        if ":" in domain or is_public_suffix(domain):
            raise _NotServedError(f"{name}: {facts.vendor} is not known to take {quote(domain)}")
    return domains


# --- tools -------------------------------------------------------------------------------------


def _openai_tool(facts: Facts, filters: Mapping[str, Any]) -> dict[str, Any]:
    # Without a location, OpenAI assumes the United States.
    tool = {"type": facts.tool, "user_location": _location(filters) or {"type": "approximate"}}
    if domains := filters.get(_INCLUDE):
        tool["filters"] = {"allowed_domains": domains}
    return tool


def _anthropic_tool(facts: Facts, filters: Mapping[str, Any]) -> dict[str, Any]:
    fields = {
        "allowed_domains": filters.get(_INCLUDE),
        "blocked_domains": filters.get(_EXCLUDE),
        "user_location": _location(filters),
    }
    used = {name: value for name, value in fields.items() if value is not None}
    return {"type": facts.tool, "name": "web_search", **used}


def _location(filters: Mapping[str, Any]) -> dict[str, str] | None:
    country = filters.get("country")
    return {"type": "approximate", "country": country} if country else None


def _google_tool(facts: Facts, filters: Mapping[str, Any]) -> dict[str, Any]:
    if not filters:
        return {facts.tool: {}}
    start, end = filters.get("start_published_date"), filters.get("end_published_date")
    if start is None or end is None:
        raise _NotServedError("google takes a range of dates with a start and an end")
    try:
        bounds = {"start_time": _moment(start), "end_time": _moment(end, days=1)}
    except (ValueError, OverflowError):
        raise _NotServedError("a date of the range is not a date") from None
    if bounds["end_time"] <= bounds["start_time"]:
        raise _NotServedError("the range of dates ends before it starts")
    texts = {name: value.isoformat().replace("+00:00", "Z") for name, value in bounds.items()}
    return {facts.tool: {"time_range_filter": texts}}


def _moment(value: Any, days: int = 0) -> datetime:
    """Return a date-time in UTC; of a date, the midnight at its start, or some days later.

    Raises:
        ValueError: The value is not a date.
        OverflowError: The date is the last one that Python has.
    """
    parsed = value if isinstance(value, date) else read_date(str(value))
    if parsed is None:
        raise ValueError
    if isinstance(parsed, datetime):
        return parsed.astimezone(UTC) if parsed.tzinfo else parsed.replace(tzinfo=UTC)
    return datetime.combine(parsed + timedelta(days=days), time(), UTC)


_WRITERS = {"openai": _openai_tool, "anthropic": _anthropic_tool, "google": _google_tool}


def _request(facts: Facts, route: Route) -> dict[str, Any]:
    if facts.vendor == "openai":
        return {"include": ["web_search_call.action.sources"]}
    if facts.beside_functions == "parameter" and route.has_functions:
        return {"tool_config": {"include_server_side_tool_invocations": True}}
    return {}
