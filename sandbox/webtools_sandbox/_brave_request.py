"""What Brave accepts as parameters, and what it refuses."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, NoReturn, cast

from webtools_sandbox.library import moment
from webtools_sandbox.wire import RefusedError

if TYPE_CHECKING:
    from webtools_sandbox.wire import Call

COUNTRIES = frozenset(
    str.split(
        "ALL AR AU AT BE BR CA CL DK FI FR DE HK IN ID IT JP KR MY MX NL NZ NO CN PL PT PH RU SA"
        " ZA ES SE CH TW TR GB US"
    )
)
LANGUAGES = frozenset(
    str.split(
        "ar eu bn bg ca zh-hans zh-hant hr cs da nl en en-gb et fi fr gl de gu he hi hu is it jp kn"
        " ko lv lt ms ml mr nb pl pt-br pt-pt pa ro ru sr sk sl es sv ta te th tr uk vi"
    )
)
SECTIONS = frozenset(
    str.split("discussions faq infobox news query summarizer videos web locations rich")
)
_MAX_CHARACTERS, _MAX_WORDS = 400, 50
_MAX_OFFSET = 9
_PERIODS = {"pd": 1, "pw": 7, "pm": 31, "py": 365}
_RANGE = re.compile(r"(\d{4}-\d{2}-\d{2})to(\d{4}-\d{2}-\d{2})")
_BOOLEANS = {"true": True, "1": True, "false": False, "0": False}


@dataclass(frozen=True)
class SearchRequest:
    """The parameters of a search that passed."""

    query: str
    count: int
    offset: int
    start: datetime | None
    end: datetime | None
    decorations: bool
    extra_snippets: bool
    operators: bool
    sections: frozenset[str]
    country: str


class ParameterError(RefusedError):
    """A parameter that Brave refuses, with what it says about it in `meta.errors`."""

    def __init__(self, kind: str, message: str, name: str, value: object) -> None:
        """Remember the parameter and the value that was sent."""
        super().__init__(message, code="VALIDATION", status=422, location=name)
        self.fault = {"type": kind, "loc": ["query", name], "msg": message, "input": value}


def read_parameters(call: Call) -> dict[str, Any]:
    """Take the parameters from the query string, or from the JSON body of a POST."""
    if call.method != "POST":
        return dict(call.query)
    try:
        data = call.json()
    except ValueError:
        data = None
    if not isinstance(data, dict):
        refuse("json_invalid", "JSON decode error", "body", None)
    return {name: _as_text(value) for name, value in cast("dict[str, Any]", data).items()}


def _as_text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def refuse(kind: str, message: str, name: str, value: object) -> NoReturn:
    """Refuse the request with HTTP 422."""
    raise ParameterError(kind, message, name, value)


def read_search(data: dict[str, Any], *, most: int) -> SearchRequest:
    """Read the parameters of a search, or refuse them; `most` bounds the count."""
    start, end = _freshness(data)
    read_choice(data, "safesearch", frozenset({"off", "moderate", "strict"}))
    read_choice(data, "search_lang", LANGUAGES)
    read_choice(data, "units", frozenset({"metric", "imperial"}))
    read_flag(data, "spellcheck", default=True)
    return SearchRequest(
        query=read_query(data),
        count=read_whole(data, "count", default=20, least=1, most=most),
        offset=read_whole(data, "offset", default=0, least=0, most=_MAX_OFFSET),
        start=start,
        end=end,
        decorations=read_flag(data, "text_decorations", default=True),
        extra_snippets=read_flag(data, "extra_snippets", default=False),
        operators=read_flag(data, "operators", default=True),
        sections=_sections(data),
        country=(read_choice(data, "country", COUNTRIES, fold=str.upper) or "US").lower(),
    )


def read_query(data: dict[str, Any]) -> str:
    """Take `q`, which may be neither missing nor blank nor long."""
    query: str | None = data.get("q")
    if query is None:
        refuse("missing", "Field required", "q", None)
    if not query.strip():
        refuse("string_too_short", "String should have at least 1 character", "q", query)
    if len(query) > _MAX_CHARACTERS:
        message = f"String should have at most {_MAX_CHARACTERS} characters"
        refuse("string_too_long", message, "q", query)
    if len(query.split()) > _MAX_WORDS:
        refuse("value_error", f"Value error, at most {_MAX_WORDS} words are allowed", "q", query)
    return query


def read_whole(data: dict[str, Any], name: str, *, default: int, least: int, most: int) -> int:
    """Take a whole number within bounds."""
    value = data.get(name)
    if value is None:
        return default
    if not re.fullmatch(r"-?\d{1,9}", value):
        refuse("int_parsing", "Input should be a valid integer", name, value)
    if int(value) < least:
        refuse(
            "greater_than_equal", f"Input should be greater than or equal to {least}", name, value
        )
    if int(value) > most:
        refuse("less_than_equal", f"Input should be less than or equal to {most}", name, value)
    return int(value)


def read_flag(data: dict[str, Any], name: str, *, default: bool) -> bool:
    """Take a boolean, written in words or as a digit."""
    value = data.get(name)
    if value is None:
        return default
    if value.lower() not in _BOOLEANS:
        refuse("bool_parsing", "Input should be a valid boolean", name, value)
    return _BOOLEANS[value.lower()]


def read_choice(
    data: dict[str, Any], name: str, known: frozenset[str], *, fold: Any = str
) -> str | None:
    """Take one of the known words."""
    value = data.get(name)
    if value is not None and fold(value) not in known:
        words = ", ".join(sorted(known))
        refuse("enum", f"Input should be one of {words}", name, value)
    return value if value is None else fold(value)


def _freshness(data: dict[str, Any]) -> tuple[datetime | None, datetime | None]:
    value = data.get("freshness")
    if not value:
        return None, None
    if value in _PERIODS:
        return datetime.now(UTC) - timedelta(days=_PERIODS[value]), None
    dates = _RANGE.fullmatch(value)
    try:
        if dates:
            return moment(dates[1]), moment(dates[2], end_of_day=True)
    except ValueError:  # such as 2026-02-30
        pass
    return refuse("value_error", "Value error, invalid freshness", "freshness", value)


def _sections(data: dict[str, Any]) -> frozenset[str]:
    value = data.get("result_filter")
    if not value:
        return SECTIONS
    names = frozenset(name.strip() for name in value.split(","))
    if not names <= SECTIONS:
        refuse("enum", "Input should be a known result type", "result_filter", value)
    return names
