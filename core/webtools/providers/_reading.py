"""Reads values out of decoded JSON: lenient where APIs are known to vary, strict elsewhere."""

from __future__ import annotations

import math
import re
from collections.abc import Generator
from contextlib import contextmanager
from datetime import datetime, timezone
from typing import Any

from webtools._cleaning import one_line
from webtools._http import Response
from webtools._narrowing import is_list, is_object
from webtools.errors import ResponseFormatError
from webtools.providers._base import Account

_UNDOCUMENTED = (
    ValueError,
    TypeError,
    LookupError,
    AttributeError,
    ArithmeticError,
    RecursionError,
)
_FRACTION = re.compile(r"\.(\d+)")


@contextmanager
def reading(title: str, subject: str, account: Account, response: Response) -> Generator[None]:
    """Turn whatever an undocumented shape makes Python raise into `ResponseFormatError`."""
    fault = ""
    try:
        yield
    except _UNDOCUMENTED as error:
        fault = type(error).__name__
    if fault:  # outside the handler: the original error may quote the whole answer
        message = (
            f'Failed to parse {title} API response for "{subject}". The answer (HTTP '
            f"{response.status}) has not the documented shape ({fault}); try again later or use "
            "another provider."
        )
        raise ResponseFormatError(message, provider=account.name, status=response.status)


def json_object(value: Any) -> dict[str, Any]:
    """Take a JSON object as it is; anything else is an undocumented shape."""
    if not is_object(value):
        message = f"expected an object, not {type(value).__name__}"
        raise TypeError(message)
    return value


def maybe_object(value: Any) -> dict[str, Any]:
    """Take a JSON object where one may be; anything else counts as an empty one."""
    return value if is_object(value) else {}


def objects(value: Any) -> list[dict[str, Any]]:
    """Take a list of JSON objects; null counts as empty."""
    if value is None:
        return []
    if not is_list(value):
        message = f"expected a list, not {type(value).__name__}"
        raise TypeError(message)
    return [json_object(item) for item in value]


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
    return one_line(text(value)) or None


def number(value: Any) -> float | None:
    """Take a finite number, also written as a string; anything else gives None."""
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    try:
        found = float(value)
    except (ValueError, OverflowError):
        return None
    return found if math.isfinite(found) else None


def moment(value: Any) -> datetime | None:
    """Take an ISO-8601 date or date-time; a naive one is in UTC, an unreadable one gives None."""
    if not isinstance(value, str) or not value:
        return None
    try:
        found = datetime.fromisoformat(_portable(value.strip()))
        if found.tzinfo is None:
            return found.replace(tzinfo=timezone.utc)
        return found.astimezone(timezone.utc)
    except (ValueError, OverflowError):
        return None


def _portable(value: str) -> str:
    # Python 3.10 reads neither `Z` nor fractions that have not three or six digits.
    value = value[:-1] + "+00:00" if value[-1:] in "Zz" else value
    return _FRACTION.sub(lambda match: "." + match[1][:6].ljust(6, "0"), value)


def rank_score(index: int, count: int) -> float:
    """Score a hit by its rank when the provider gives no score: linear from 1 down."""
    return (count - index) / count
