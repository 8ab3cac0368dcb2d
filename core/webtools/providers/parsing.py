"""Reads values out of decoded JSON: lenient where APIs are known to vary, strict elsewhere.

A price that an answer does not state comes from the price list.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from webtools._internal.text.cleaning import one_line
from webtools._internal.text.dates import read_moment
from webtools._internal.text.invisible import without_invisible
from webtools._internal.text.narrowing import is_list, is_object
from webtools._internal.text.redaction import redactor_for
from webtools.providers.about import About, Account
from webtools.providers.protocols import Cost


def json_object(value: Any) -> dict[str, Any]:
    """Take a JSON object as it is; anything else is an undocumented shape."""
    if not is_object(value):
        message = f"expected an object, not {type(value).__name__}"
        raise TypeError(message)
    return value


def maybe_object(value: Any) -> dict[str, Any]:
    """Take a JSON object where one may be; anything else counts as an empty one."""
    return value if is_object(value) else {}


def inside(value: Any, *names: str) -> Any:
    """Return what stands at the end of a path of names; None where the path ends before."""
    for name in names:
        value = value.get(name) if is_object(value) else None
    return value


def maybe_list(value: Any) -> list[Any]:
    """Take a list where one may be; anything else counts as an empty one."""
    return value if is_list(value) else []


def maybe_objects(value: Any) -> list[dict[str, Any]]:
    """Take the JSON objects of a list where one may be; anything else is left out."""
    return [item for item in value if is_object(item)] if is_list(value) else []


def strings(value: Any) -> list[str]:
    """Take the strings of a list; null counts as empty, other items are left out."""
    if not is_list(value):
        return []
    return [item for item in value if isinstance(item, str)]


def text(value: Any) -> str:
    """Take a string; null counts as empty."""
    if value is None:
        return ""
    if not isinstance(value, str):
        message = f"expected a string, not {type(value).__name__}"
        raise TypeError(message)
    return value


def line(value: Any) -> str | None:
    """Take a string as clean text on one line; null and blank give None."""
    if value is None or value == "":
        return None
    return one_line(text(value)) or None


def notices(title: str, answer: dict[str, Any]) -> list[str]:
    """Return what a provider itself warns of: texts in lists, or the `message` of objects."""
    lists = answer.get("warnings"), answer.get("notices")
    items = [item for each in lists if is_list(each) for item in each] if any(lists) else ()
    words = [inside(item, "message") or item for item in items]
    return [f"{title}: {clean}" for w in words if isinstance(w, str) and (clean := line(w))]


def quotable(words: str, account: Account) -> str:
    """Clean a text that is about to be cut: half a key would pass for a word."""
    return redactor_for(account.secrets).text(without_invisible(one_line(words)))


def number(value: Any, least: float = -math.inf) -> float | None:
    """Take a finite number, also written as a string; anything else gives None, so does less."""
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    try:
        found = float(value)
    except (ValueError, OverflowError):
        return None
    return found if math.isfinite(found) and found >= least else None


def moment(value: Any) -> datetime | None:
    """Take an ISO-8601 date or date-time; a naive one is in UTC, an unreadable one gives None."""
    return read_moment(value) if isinstance(value, str) else None


def http_date(value: str) -> datetime | None:
    """Read the date of an HTTP header as UTC; None for what is none."""
    try:
        return parsedate_to_datetime(value).astimezone(UTC)
    except (TypeError, ValueError, IndexError, OverflowError):
        return None


def free(_query: object, _account: Account) -> float:
    """Return the price of a call that costs nothing."""
    return 0.0


def listed_price(about: About, name: str, _query: object, account: Account) -> float:
    """Return a price of the list: the one of that name, or that an option of the name names.

    With the first two arguments given it prices a search whose query makes no difference. Those
    who need no key do not pay without one.
    """
    return about.prices[getattr(account.options, name, name)] if account.api_key else 0.0


def estimate(usd: float) -> Cost:
    """Return a cost that is from the price list."""
    return Cost(round(usd, 6), is_estimate=True)


def free_without_key(usd: float, account: Account) -> Cost:
    """Return a cost that is from the price list, where calls without a key are free."""
    return estimate(usd) if account.api_key else Cost(0.0, is_estimate=False)


def stated_or(value: Any, listed: Callable[[], float]) -> Cost:
    """Return the cost in USD that an answer states, else what is `listed` in the price list."""
    total = number(value, least=0)
    return estimate(listed()) if total is None else Cost(total, is_estimate=False)
