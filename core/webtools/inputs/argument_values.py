"""Checks of single arguments. Each returns the value or raises an error."""

from __future__ import annotations

import re
from contextlib import suppress
from datetime import date, datetime
from typing import Annotated, Any, NamedTuple, TypeVar

from pydantic import AfterValidator, BeforeValidator, ValidationInfo

from webtools._internal.text.cleaning import without_controls
from webtools._internal.text.dates import read_date
from webtools._internal.text.domains import NO_VALUES, read_domain
from webtools._internal.text.invisible import without_invisible
from webtools._internal.text.narrowing import is_list
from webtools._internal.text.urls import without_text_fragment
from webtools._internal.text.web_urls import has_login, is_web_url, without_login
from webtools.inputs.written_values import join_lists, read_list

MAX_QUERY_CHARACTERS = 4000
_HOST_AND_PATH = re.compile(r"(?:[\w-]{1,63}\.){1,5}[^\W\d_]{2,24}(?::\d{1,5})?(?:[/?#]\S{0,60})?")
_MANY_DAYS = 10**9  # also for infinity
_MAX_VALUES = 1000  # of one list, repeated ones included; a longer list is refused unread
LONGEST_SHOWN = 100  # characters of a value that an error quotes
SUMMARY_LANGUAGES = (
    *("BG", "CS", "DA", "DE", "EL", "EN", "ES", "ET", "FI", "FR", "HU", "ID", "IT", "JA", "KO"),
    *("LT", "LV", "NB", "NL", "PL", "PT", "RO", "RU", "SK", "SL", "SV", "TR", "UK", "ZH"),
    "ZH-HANT",
)
SAFE_SEARCH = ("off", "moderate", "strict")
CATEGORIES = ("company", "people", "publication", "news", "personal site", "financial report")


class UnfitError(ValueError):
    """A text is not valid for an argument. Several texts with one expectation share a message.

    Attributes:
        text: The text.
        expected: What the text should be.
        example: A suggestion, appended to `expected`.
    """

    def __init__(self, text: str, expected: str, example: str = "") -> None:
        super().__init__(f"{shown(text)} is not {expected}{example}")
        self.text, self.expected, self.example = text, expected, example


def _as_list(value: Any, info: ValidationInfo) -> Any:
    """Accept a string instead of a list, and a list as text, as some models send it."""
    if not (isinstance(value, str) or is_list(value)):
        return value
    values = join_lists([value] if isinstance(value, str) else list(value))
    if len(values) > _MAX_VALUES:
        message = f"{info.field_name} has {len(values)} values; pass at most {_MAX_VALUES}"
        raise ValueError(message)
    return values


def _without_nulls(value: Any) -> Any:
    return [item for item in value if item is not None] if is_list(value) else value


def _without_blanks(values: list[str]) -> list[str]:
    return [*filter(None, values)]


def is_left_out(value: Any, *, is_text: bool) -> bool:
    """Return whether a value means "no value": models in strict mode send every argument.

    Args:
        value: The value.
        is_text: Whether the argument is free text, in which only a blank means "no value".
    """
    if isinstance(value, str):
        return value.strip().casefold() in ({""} if is_text else NO_VALUES)
    if is_list(value):
        return all(item is None or is_left_out(item, is_text=is_text) for item in value)
    return not isinstance(value, bool) and isinstance(value, (int, float)) and value == 0


def as_one(value: Any) -> Any:
    """Return the only item of a list, also of one as text; return other values unchanged."""
    while True:
        items = read_list(value) if isinstance(value, str) else value
        if not (is_list(items) and (len(items) == 1 or isinstance(value, str))):
            return value
        value = items[0] if len(items) == 1 else items


def distinct(maximum: int | None = None) -> AfterValidator:
    """Drop repeated values. With a maximum, refuse an empty list and more values than that."""

    def check(values: list[str], info: ValidationInfo) -> list[str]:
        values = list(dict.fromkeys(values))
        if maximum is None:
            return values
        if not values:
            raise ValueError(f"{info.field_name} is missing or empty; pass at least one value")
        if len(values) > maximum:
            message = f"{info.field_name} has {len(values)} values; pass at most {maximum}"
            raise ValueError(message)
        return values

    return AfterValidator(check)


def bounded_number(maximum: int, minimum: int = 1) -> AfterValidator:
    """Refuse a number out of bounds, except 0, which means "no value"."""

    def check(value: int, info: ValidationInfo) -> int:
        if value and not minimum <= value <= maximum:
            fault = f"{info.field_name} {shown(value)} is invalid"
            raise ValueError(f"{fault}; use {minimum} to {maximum}")
        return value

    return AfterValidator(check)


class Words(NamedTuple):
    """Puts a text on one line without invisible characters, and refuses a long one.

    Attributes:
        kind: What the text is, for messages.
        is_needed: Whether to refuse a blank text.
    """

    kind: str
    is_needed: bool

    def __call__(self, text: str) -> str:
        """Return the words.

        Raises:
            ValueError: The text is too long or blank.
        """
        visible = text
        if not (text.isascii() and text.isprintable()):
            visible = without_invisible(without_controls(text))
        words = " ".join(visible.split())
        if len(words) > MAX_QUERY_CHARACTERS:
            limit = f"use at most {MAX_QUERY_CHARACTERS}"
            raise ValueError(f"a {self.kind} has {len(words)} characters; {limit}")
        if self.is_needed and not words:
            message = f"{self.kind} {shown(text)} is blank; pass the words to search for"
            raise ValueError(message)
        return words


_SPACED_PATH = re.compile(r"https?://[^\s/?#]{1,300}/\S[^\t\r\n]{0,4000}")


def _url(text: str) -> str:
    text = text.strip()
    if _SPACED_PATH.fullmatch(text) and text.count("://") == 1:
        text = text.replace(" ", "%20")  # as browsers do
    if not is_web_url(text):
        raise UnfitError(text, "an absolute http(s) URL; write ", url_like(text))
    return without_text_fragment(check_login(text))


def check_login(url: str) -> str:
    """Return a URL.

    Raises:
        ValueError: It has a user name or a password.
    """
    if has_login(url):
        message = f"a URL at {shown(without_login(url))} has a user name or password; leave it out"
        raise ValueError(message)
    return url


def url_like(text: str) -> str:
    """Complete a text that is a URL without a scheme, else return the pattern of a URL."""
    url = f"https://{text}"
    return url if _HOST_AND_PATH.fullmatch(text) and is_web_url(url) else "https://host/path"


def _domain(text: str) -> str:
    try:
        return read_domain(text)
    except ValueError:
        expected = "a domain; write a host such as example.com, or a suffix such as .gov"
    raise UnfitError(text, expected)


def _moment(text: str) -> str:
    text = text.strip()
    if text and read_date(text) is None:
        raise UnfitError(text, "a date; write YYYY-MM-DD or an ISO-8601 date-time")
    return text


def _code(text: str, info: ValidationInfo) -> str:
    """Accept the two letters of a country or a language."""
    text = text.strip()
    if text and not (len(text) == 2 and text.isascii() and text.isalpha()):  # noqa: PLR2004
        fault = f"{info.field_name} {shown(text)} is invalid"
        raise ValueError(f"{fault}; use a code of two letters such as DE")
    return text


def _country(text: str, info: ValidationInfo) -> str:
    code = _code(text, info).upper()
    return "GB" if code == "UK" else code


def _language(text: str, info: ValidationInfo) -> str:
    return _code(text, info).lower()


def as_command(value: Any) -> Any:
    """Accept also `/web-deep` and `web_deep`."""
    if not isinstance(value, str):
        return value
    return value.strip().lower().removeprefix("/").replace("_", "-") or "web"


def as_days(value: Any) -> Any:
    """Convert any number of days to a whole number. Bounds are applied later."""
    if isinstance(value, str):
        with suppress(ValueError):  # also of more digits than Python reads
            value = int(value)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or value != value:  # noqa: PLR0124
        return value
    return int(min(max(value, -_MANY_DAYS), _MANY_DAYS))


def is_after(start: date | datetime, end: date | datetime) -> bool:
    """Return whether a range ends before it starts. A date without a time is a whole day."""
    if isinstance(start, datetime) and isinstance(end, datetime):
        return start > end
    return start.isoformat()[:10] > end.isoformat()[:10]


class OneOf(NamedTuple):
    """Refuses a text that is not one of the choices; ignores case, and accepts "".

    Attributes:
        choices: The values.
        kind: What a value is, for messages.
        separator: Text between the choices in messages.
    """

    choices: tuple[str, ...]
    kind: str
    separator: str = ", "

    def __call__(self, text: str) -> str:
        """Return the choice.

        Raises:
            ValueError: The text is not a choice.
        """
        folded = text.strip().casefold()
        match = next((choice for choice in self.choices if choice.casefold() == folded), "")
        if folded and not match:
            choices = self.separator.join(self.choices)
            raise UnfitError(text.strip(), f"a {self.kind}; use one of {choices}")
        return match


def shown(value: Any) -> str:
    """Quote a value for a message, on one line and of limited length."""
    try:
        text = value if isinstance(value, str) else repr(value)
    except Exception:  # noqa: BLE001  # huge numbers, deep lists, broken reprs
        text = type(value).__name__
    text = without_invisible(without_controls(text)).replace("\n", " ")
    return f'"{text[:LONGEST_SHOWN]}…"' if len(text) > LONGEST_SHOWN else f'"{text}"'


Query = Annotated[str, AfterValidator(Words("query", is_needed=True))]
Question = Annotated[
    str, AfterValidator(Words("question", is_needed=False))
]  # may be left out, and is empty then
Url = Annotated[str, AfterValidator(_url)]
Moment = Annotated[str, AfterValidator(_moment)]
Category = Annotated[str, AfterValidator(OneOf(CATEGORIES, "category"))]
Country = Annotated[str, AfterValidator(_country)]
ResultLanguage = Annotated[str, AfterValidator(_language)]
SafeSearch = Annotated[
    str,
    BeforeValidator(lambda value: "off" if value is False else value),
    AfterValidator(OneOf(SAFE_SEARCH, "safe search level")),
]
Language = Annotated[str, AfterValidator(OneOf(SUMMARY_LANGUAGES, "language", " "))]
Text = TypeVar("Text", bound=str)
Strings = Annotated[list[Text], BeforeValidator(_as_list)]
Domains = Annotated[
    list[Annotated[str, AfterValidator(_domain)]],
    BeforeValidator(_without_nulls),  # runs after `_as_list`
    BeforeValidator(_as_list),
    AfterValidator(_without_blanks),
    distinct(),
]
