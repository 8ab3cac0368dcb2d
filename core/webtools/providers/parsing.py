"""Read values and prices from decoded JSON.

`json_object`, `text` and `line` raise `TypeError` for a value of the wrong type, which webtools
reports as a `ResponseFormatError`. The other functions return an empty value instead.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from webtools._internal.text.cleaning import one_line
from webtools._internal.text.dates import read_moment
from webtools._internal.text.invisible import without_invisible
from webtools._internal.text.narrowing import is_list, is_object
from webtools._internal.text.redaction import redactor_for
from webtools.messages import Response
from webtools.providers.about import About, Account
from webtools.providers.protocols import Cost

_ENVELOPES = frozenset({"data", "results", "result", "response", "items", "hits"})


def json_object(value: Any) -> dict[str, Any]:
    """Return a JSON object unchanged.

    Raises:
        TypeError: The value has another type.
    """
    if not is_object(value):
        message = f"expected an object, not {type(value).__name__}"
        raise TypeError(message)
    return value


def success_object(response: Response, *marks: str) -> dict[str, Any]:
    """Return the JSON object of a response that has a mark of a success.

    Without a mark, the response may be an error although its status is 200. If sections of a
    success are optional, the mark is what the API always sends.

    Args:
        response: The response.
        marks: Names of fields, of which one is enough. `type=search` is a field with its value.

    Raises:
        TypeError: The body is not an object.
        ValueError: The body is not JSON.
        KeyError: The body has no mark.
    """
    answer = json_object(response.json())
    for mark in marks:
        name, _, value = mark.partition("=")
        if name in answer and (not value or answer[name] == value):
            return answer
    raise KeyError(" or ".join(marks))


def results_by_kind(value: Any) -> dict[str, Any]:
    """Return an object that has results by kind, of which any may be missing.

    Raises:
        TypeError: The value has another type.
        KeyError: Its fields are not kinds. It is an envelope around the results.
    """
    kinds = json_object(value)
    if envelopes := _ENVELOPES & kinds.keys():
        message = f"expected kinds of results, not {', '.join(sorted(envelopes))}"
        raise KeyError(message)
    return kinds


def unread_kinds(title: str, kinds: Iterable[str]) -> list[str]:
    """Return a warning if there are only kinds of results that webtools does not read."""
    names = line(", ".join(dict.fromkeys(kinds)))
    return [f"{title} returned only what webtools does not read: {names}."] if names else []


def maybe_object(value: Any) -> dict[str, Any]:
    """Return a JSON object, or {} for anything else."""
    return value if is_object(value) else {}


def get_nested(value: Any, *names: str) -> Any:
    """Return the value at a path of names in nested objects, or None."""
    for name in names:
        value = value.get(name) if is_object(value) else None
    return value


def maybe_list(value: Any) -> list[Any]:
    """Return a list, or [] for anything else."""
    return value if is_list(value) else []


def maybe_objects(value: Any) -> list[dict[str, Any]]:
    """Return the JSON objects of a list, or [] for anything else."""
    return [item for item in maybe_list(value) if is_object(item)]


def strings(value: Any) -> list[str]:
    """Return the strings of a list, or [] for anything else."""
    return [item for item in maybe_list(value) if isinstance(item, str)]


def text(value: Any) -> str:
    """Return a string, or "" for null.

    Raises:
        TypeError: The value has another type.
    """
    if value is None:
        return ""
    if not isinstance(value, str):
        message = f"expected a string, not {type(value).__name__}"
        raise TypeError(message)
    return value


def line(value: Any) -> str | None:
    """Return a string as clean text on one line, or None if it is null or blank.

    Raises:
        TypeError: The value has another type.
    """
    if value is None or value == "":
        return None
    return one_line(text(value)) or None


def notices(title: str, answer: dict[str, Any]) -> list[str]:
    """Return the provider's own warnings, which are strings or objects with a `message`."""
    items = [*maybe_list(answer.get("warnings")), *maybe_list(answer.get("notices"))]
    messages = [get_nested(item, "message") or item for item in items]
    return [f"{title}: {text}" for text in map(line, strings(messages)) if text]


def clean_quote(text: str, account: Account) -> str:
    """Return a text on one line with its keys redacted.

    Call this before you cut the text, because a part of a key is not recognized.
    """
    return redactor_for(account.secrets).text(without_invisible(one_line(text)))


def number(value: Any, minimum: float = -math.inf) -> float | None:
    """Return a finite number of at least `minimum`, else None. Strings are converted."""
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    try:
        result = float(value)
    except (ValueError, OverflowError):
        return None
    return result if math.isfinite(result) and result >= minimum else None


def moment(value: Any) -> datetime | None:
    """Return the datetime of an ISO 8601 text, or None. The default time zone is UTC."""
    return read_moment(value) if isinstance(value, str) else None


def http_date(value: str) -> datetime | None:
    """Return the date of an HTTP header in UTC, or None if it is invalid."""
    try:
        return parsedate_to_datetime(value).astimezone(UTC)
    except (TypeError, ValueError, IndexError, OverflowError):
        return None


def free(_query: object, _account: Account) -> float:
    """Return the price of a call that costs nothing."""
    return 0.0


def listed_price(about: About, name: str, _query: object, account: Account) -> float:
    """Return a price from the price list, or 0 without a key.

    A provider's `search_price` can be `partial(listed_price, ABOUT, name)`.

    Args:
        about: The provider's facts, with the price list.
        name: Name of the price, or of an option whose value is the name of the price.
        account: The provider's account.
    """
    return about.prices[getattr(account.options, name, name)] if account.api_key else 0.0


def estimate(usd: float) -> Cost:
    """Return an estimated cost in USD, from the price list."""
    return Cost(round(usd, 6), is_estimate=True)


def free_without_key(usd: float, account: Account) -> Cost:
    """Return a cost from the price list, or 0 without a key."""
    return estimate(usd) if account.api_key else Cost(0.0, is_estimate=False)


def stated_cost(value: Any, estimate_usd: Callable[[], float]) -> Cost:
    """Return the cost in USD that a response contains, else an estimate.

    Args:
        value: The cost in the response, a number or a string.
        estimate_usd: Returns the cost from the price list. Called if `value` is not a cost.
    """
    total = number(value, minimum=0)
    return estimate(estimate_usd()) if total is None else Cost(total, is_estimate=False)
