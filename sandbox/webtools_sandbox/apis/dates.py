"""How the APIs write days and periods, for the models of their requests."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any

from pydantic import BeforeValidator

from webtools_sandbox.library import moment

Span = tuple[datetime | None, datetime | None]
ALWAYS: Span = (None, None)
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}").fullmatch
DAYS: Mapping[str, float] = {"day": 1, "week": 7, "month": 31, "year": 365}


def ago(days: float) -> datetime:
    """Return the moment that many days ago."""
    return datetime.now(UTC) - timedelta(days=days)


def day(text: str) -> datetime:
    """Read a day of the form YYYY-MM-DD, and of no other.

    Raises:
        ValueError: It is none.
    """
    if not _DAY(text):
        raise ValueError("Must be YYYY-MM-DD")
    return moment(text)


def end_of(start: datetime) -> datetime:
    """Return the last moment of a day."""
    return start + timedelta(days=1, microseconds=-1)


def us_day(text: str) -> datetime:
    """Read a day of the form MM/DD/YYYY.

    Raises:
        ValueError: It is none.
    """
    try:
        return datetime.strptime(text, "%m/%d/%Y").replace(tzinfo=UTC)
    except ValueError as error:
        raise ValueError("must be a date of the form MM/DD/YYYY") from error


def _reading(read: Callable[[str], datetime]) -> BeforeValidator:
    return BeforeValidator(lambda value: read(str(value)) if value else value)


FirstDay = Annotated[datetime | None, _reading(day)]
LastDay = Annotated[datetime | None, _reading(lambda text: end_of(day(text)))]
# A day, or a moment of one.
FirstMoment = Annotated[datetime | None, _reading(moment)]
LastMoment = Annotated[datetime | None, _reading(lambda text: moment(text, end_of_day=True))]
FirstUsDay = Annotated[datetime | None, _reading(us_day)]
LastUsDay = Annotated[datetime | None, _reading(lambda text: end_of(us_day(text)))]


def span_of(periods: Mapping[str, float], fault: str = "Must be YYYY-MM-DDtoYYYY-MM-DD") -> Any:
    """Return a validator that reads the name of a period, or two days with `to` between them."""

    def read(value: object) -> Span:
        text = str(value or "")
        if not text:
            return ALWAYS
        if text in periods:
            return ago(periods[text]), None
        first, _, last = text.partition("to")
        try:
            return day(first), end_of(day(last))
        except ValueError as error:
            raise ValueError(fault) from error

    return BeforeValidator(read)
