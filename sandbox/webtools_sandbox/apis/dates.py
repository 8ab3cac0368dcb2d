"""Days and ranges of days in the formats of the APIs, for the models of their requests."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Annotated

from pydantic import BeforeValidator

from webtools_sandbox.library import moment

Span = tuple[datetime | None, datetime | None]
ALWAYS: Span = (None, None)
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}").fullmatch


def day(text: str) -> datetime:
    """Parse a day in the format YYYY-MM-DD.

    Raises:
        ValueError: The text is not such a day.
    """
    if not _DAY(text):
        raise ValueError("Must be YYYY-MM-DD")
    return moment(text)


def end_of(start: datetime) -> datetime:
    """Return the end of a day."""
    return start + timedelta(days=1, microseconds=-1)


def us_day(text: str) -> datetime:
    """Parse a day in the format MM/DD/YYYY.

    Raises:
        ValueError: The text is not such a day.
    """
    try:
        return datetime.strptime(text, "%m/%d/%Y").replace(tzinfo=UTC)
    except ValueError as error:
        raise ValueError("must be a date of the form MM/DD/YYYY") from error


def _reading(read: Callable[[str], datetime]) -> BeforeValidator:
    return BeforeValidator(lambda value: read(str(value)) if value else value)


FirstDay = Annotated[datetime | None, _reading(day)]
LastDay = Annotated[datetime | None, _reading(lambda text: end_of(day(text)))]
# A day or a time.
FirstMoment = Annotated[datetime | None, _reading(moment)]
LastMoment = Annotated[datetime | None, _reading(lambda text: moment(text, end_of_day=True))]
FirstUsDay = Annotated[datetime | None, _reading(us_day)]
LastUsDay = Annotated[datetime | None, _reading(lambda text: end_of(us_day(text)))]


def span_of(message: str) -> BeforeValidator:
    """Return a validator for two days with `to` between them."""

    def read(value: object) -> Span:
        text = str(value or "")
        if not text:
            return ALWAYS
        first, _, last = text.partition("to")
        try:
            return day(first), end_of(day(last))
        except ValueError as error:
            raise ValueError(message) from error

    return BeforeValidator(read)
