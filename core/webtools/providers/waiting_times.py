"""Read the waiting times that responses ask for, in every form that APIs send."""

from __future__ import annotations

import re
import time
from typing import Any

from webtools._internal.text.dates import read_moment
from webtools.messages import Response
from webtools.providers.parsing import http_date, number

_MAX_WAIT = 86_400.0  # seconds
_MIN_UNIX_TIME = 1e9  # a greater number is a Unix time, a smaller one a number of seconds
_MAX_UNIX_TIME = 1e11  # a greater number is a Unix time in milliseconds or smaller units
_RESET_HEADERS = (
    "x-ratelimit-reset",
    "ratelimit-reset",
    "x-rate-limit-reset",
    "x-ratelimit-reset-after",
    "x-ratelimit-reset-requests",
)
_RESET_PARAMETER = re.compile(r"\b(?:reset|t)=(\d+)")  # of `RateLimit`, a draft of the IETF
_UNITS = {
    **dict.fromkeys(("ms", "msec", "millisecond"), 0.001),
    **dict.fromkeys(("s", "sec", "second"), 1.0),
    **dict.fromkeys(("m", "min", "minute"), 60.0),
    **dict.fromkeys(("h", "hr", "hour"), 3600.0),
    **dict.fromkeys(("d", "day"), 86_400.0),
    **dict.fromkeys(("w", "week"), 604_800.0),
}
_PART = re.compile(r"(\d+(?:\.\d+)?) ?([a-z]+)")
_DURATION = re.compile(rf"(?:{_PART.pattern}[ ,]*)+")
_ISO_DURATION = re.compile(r"p(?:\d+[wd])*(?:t(\d.*))?")  # months and years have no fixed length
_CLOCK = re.compile(r"(\d+):([0-5]\d):([0-5]\d(?:\.\d+)?)")


def read_wait(value: Any) -> float | None:
    """Return a waiting time in seconds, at most one day, or None if it cannot be read.

    Args:
        value: A number of seconds, a duration such as `1m30s`, `500ms`, `PT30S` or `00:01:30`, a
            date, or a Unix time in seconds or milliseconds. If there are several, separated by
            commas, the first counts.
    """
    text = value.strip() if isinstance(value, str) else value
    seconds = number(text)
    if seconds is not None:
        return _limit_number(seconds)
    if not isinstance(text, str) or not text:
        return None
    if text in ("inf", "infinity"):
        return _MAX_WAIT
    if (duration := _read_duration(text.lower())) is not None:
        return limit_wait(duration)
    moment = read_moment(text) or (None if text[:1].isdigit() else http_date(text))
    if moment is not None:
        return wait_until(moment.timestamp())
    first = re.split(r"[,;]", text, maxsplit=1)[0]
    return read_wait(first) if first != text else None


def _limit_number(seconds: float) -> float | None:
    if seconds <= _MIN_UNIX_TIME:
        return limit_wait(seconds)
    while seconds > _MAX_UNIX_TIME:
        seconds /= 1000
    return wait_until(seconds)


def _read_duration(text: str) -> float | None:
    if clock := _CLOCK.fullmatch(text):
        text = "{}h {}m {}s".format(*clock.groups())
    elif _ISO_DURATION.fullmatch(text):
        text = text[1:].replace("t", " ").strip()
    if not _DURATION.fullmatch(text):
        return None
    total = 0.0
    for count, unit in _PART.findall(text):
        seconds = _UNITS.get(unit) or _UNITS.get(unit.removesuffix("s"))
        if seconds is None:
            return None
        total += float(count) * seconds
    return total


def retry_after(response: Response) -> float | None:
    """Return the seconds to wait from `Retry-After-Ms`, else from `Retry-After`, or None.

    `Retry-After` is a number of seconds or a date (RFC 9110, section 10.2.3). Some APIs send
    durations and Unix times.
    """
    milliseconds = number(response.headers.get("retry-after-ms"), minimum=0)
    if milliseconds is not None:
        return read_wait(milliseconds if milliseconds > _MAX_UNIX_TIME else milliseconds / 1000)
    return read_wait(response.headers.get("retry-after"))


def seconds_until_reset(response: Response) -> float | None:
    """Return the seconds until a rate limit resets, or None.

    Unix times are whole seconds, so wait at least one.
    """
    value = next(filter(None, map(response.headers.get, _RESET_HEADERS)), "")
    if not value and (match := _RESET_PARAMETER.search(response.headers.get("ratelimit", ""))):
        value = match[1]
    seconds, reset = read_wait(value), number(value.partition(",")[0])
    is_unix_time = reset is not None and reset > _MIN_UNIX_TIME
    return max(1.0, seconds) if is_unix_time and seconds is not None else seconds


def limit_wait(seconds: float | None) -> float | None:
    """Return a waiting time in seconds, at most one day. A negative number or NaN gives None."""
    return min(seconds, _MAX_WAIT) if seconds is not None and seconds >= 0 else None


def wait_until(moment: float) -> float:
    """Return the whole seconds until a Unix time, at most one day. A time in the past gives 0."""
    return float(round(min(max(0.0, moment - time.time()), _MAX_WAIT)))
