"""What an argument of a tool may be; each check gives the value back or says why not."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, datetime
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, BeforeValidator, ValidationInfo

from webtools._internal.text.cleaning import is_web_url, without_controls
from webtools._internal.text.dates import read_date
from webtools._internal.text.invisible import without_invisible
from webtools._internal.text.narrowing import is_list

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
    """A text is not what an argument takes; of several such texts, what that is can be told once.

    Attributes:
        text: The text.
        wanted: What it should be, and how that is written.
        example: What may have been meant, at the end of that.
    """

    def __init__(self, text: str, wanted: str, example: str = "") -> None:
        super().__init__(f"{shown(text)} is not {wanted}{example}")
        self.text, self.wanted, self.example = text, wanted, example


def _as_list(value: Any, info: ValidationInfo) -> Any:
    """Accept one string for a list, and a list written as JSON text, as some models send it."""
    values = _parsed(value) if isinstance(value, str) else value
    if is_list(values) and len(values) > _MAX_VALUES:
        message = f"{info.field_name} has {len(values)} values; give at most {_MAX_VALUES}"
        raise ValueError(message)
    return values


def _parsed(text: str) -> Any:
    if not text.lstrip().startswith("["):
        return [text]
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return [text]


def is_left_out(value: Any) -> bool:
    """Return whether a value stands for none: a model in strict mode sends every argument."""
    if isinstance(value, str):
        return not value.strip()
    return isinstance(value, (int, float)) and value == 0


def as_one(value: Any) -> Any:
    """Take a list of one for the one."""
    return value[0] if is_list(value) and len(value) == 1 else value


def distinct(most: int | None = None) -> AfterValidator:
    """Drop repeated values; with `most`, refuse a list of none or of more than that."""

    def check(values: list[str], info: ValidationInfo) -> list[str]:
        values = list(dict.fromkeys(values))
        if most is None:
            return values
        if not values:
            raise ValueError(f"{info.field_name} is missing or empty; give at least one value")
        if len(values) > most:
            message = f"{info.field_name} has {len(values)} values; give at most {most}"
            raise ValueError(message)
        return values

    return AfterValidator(check)


def up_to(most: int, least: int = 1) -> AfterValidator:
    """Refuse a number that is out of bounds; 0 says that there is none."""

    def check(value: int, info: ValidationInfo) -> int:
        if value and not least <= value <= most:
            fault = f"{info.field_name} {shown(value)} is not possible"
            raise ValueError(f"{fault}; use {least} to {most}")
        return value

    return AfterValidator(check)


@dataclass(frozen=True, slots=True)
class Words:
    """Writes a text on one line, without what nobody sees, and refuses one that is too long.

    Attributes:
        kind: What the text is, for messages.
        is_needed: Whether a blank one is refused as well.
    """

    kind: str
    is_needed: bool

    def __call__(self, text: str) -> str:
        """Return the words.

        Raises:
            ValueError: They are too many, or none.
        """
        visible = text
        if not (text.isascii() and text.isprintable()):
            visible = without_invisible(without_controls(text))
        words = " ".join(visible.split())
        if len(words) > MAX_QUERY_CHARACTERS:
            most = f"give at most {MAX_QUERY_CHARACTERS}"
            raise ValueError(f"a {self.kind} has {len(words)} characters; {most}")
        if self.is_needed and not words:
            message = f"{self.kind} {shown(text)} is blank; give the words to search for"
            raise ValueError(message)
        return words


def _url(text: str) -> str:
    text = text.strip()
    if not is_web_url(text):
        raise UnfitError(text, "an absolute http(s) URL; write ", url_like(text))
    return text


def url_like(text: str) -> str:
    """Return the URL that a text is without its scheme, else the pattern of one."""
    url = f"https://{text}"
    return url if _HOST_AND_PATH.fullmatch(text) and is_web_url(url) else "https://host/path"


def _domain(text: str) -> str:
    """Take `host`, `*.host` or `host/path`, and a whole URL for its host and path."""
    bare = text.strip().lower()
    for scheme in ("https://", "http://"):
        bare = bare.removeprefix(scheme)
    bare = bare.rstrip("/")
    name = bare.removeprefix("*.")
    is_bad = "@" in name.partition("/")[0] or "//" in name  # as in the misspelt http//example.com
    if is_bad or not is_web_url(f"https://{name}"):
        raise UnfitError(text, "a domain; write a host such as example.com")
    return bare


def _moment(text: str) -> str:
    text = text.strip()
    if text and read_date(text) is None:
        raise UnfitError(text, "a date; write YYYY-MM-DD or an ISO-8601 date-time")
    return text


def _code(text: str, info: ValidationInfo) -> str:
    """Take the two letters of a country or a language."""
    text = text.strip()
    if text and not (len(text) == 2 and text.isascii() and text.isalpha()):  # noqa: PLR2004
        fault = f"{info.field_name} {shown(text)} is not possible"
        raise ValueError(f"{fault}; give a code of two letters such as DE")
    return text


# Not `str.upper` itself beside the check: of what is no function of Python's, pydantic would read
# the parameters with a tokenizer, which takes longer than all else that the model needs.
def _country(text: str, info: ValidationInfo) -> str:
    return _code(text, info).upper()


def _language(text: str, info: ValidationInfo) -> str:
    return _code(text, info).lower()


def as_command(value: Any) -> Any:
    """Take `/web-deep` and `web_deep` as well."""
    if not isinstance(value, str):
        return value
    return value.strip().lower().removeprefix("/").replace("_", "-") or "web"


def as_days(value: Any) -> Any:
    """Take any number of days as a whole one; what is out of bounds is moved there later."""
    if isinstance(value, str):
        with suppress(ValueError):  # also of more digits than Python reads
            value = int(value)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or value != value:  # noqa: PLR0124
        return value
    return int(min(max(value, -_MANY_DAYS), _MANY_DAYS))


def is_after(start: date | datetime, end: date | datetime) -> bool:
    """Return whether a range ends before it begins; a day without a time counts as a whole."""
    if isinstance(start, datetime) and isinstance(end, datetime):
        return start > end
    return start.isoformat()[:10] > end.isoformat()[:10]


@dataclass(frozen=True, slots=True)
class OneOf:
    """Refuses what is not among the choices, in whatever case; nothing at all may be given.

    Attributes:
        choices: The values, as they are passed on.
        kind: What a value is, for messages.
        separator: What stands between the choices there.
    """

    choices: tuple[str, ...]
    kind: str
    separator: str = ", "

    def __call__(self, text: str) -> str:
        """Return the choice that was meant.

        Raises:
            ValueError: There is no such choice.
        """
        wanted = text.strip().casefold()
        found = next((each for each in self.choices if each.casefold() == wanted), "")
        if wanted and not found:
            known = self.separator.join(self.choices)
            raise UnfitError(text.strip(), f"a {self.kind}; use one of {known}")
        return found


def shown(value: Any) -> str:
    """Quote a value for a message: on one line, cut when long."""
    try:
        text = value if isinstance(value, str) else repr(value)
    except Exception:  # noqa: BLE001  # foreign objects: huge numbers, deep lists, broken reprs
        text = type(value).__name__
    text = without_invisible(without_controls(text)).replace("\n", " ")
    return f'"{text[:LONGEST_SHOWN]}…"' if len(text) > LONGEST_SHOWN else f'"{text}"'


Query = Annotated[str, AfterValidator(Words("query", is_needed=True))]
Question = Annotated[
    str, AfterValidator(Words("question", is_needed=False))
]  # may be left out, and is empty then
Url = Annotated[str, AfterValidator(_url)]
Domain = Annotated[str, AfterValidator(_domain)]
Moment = Annotated[str, AfterValidator(_moment)]
Category = Annotated[str, AfterValidator(OneOf(CATEGORIES, "category"))]
Country = Annotated[str, AfterValidator(_country)]
ResultLanguage = Annotated[str, AfterValidator(_language)]
SafeSearch = Annotated[str, AfterValidator(OneOf(SAFE_SEARCH, "level of safe search"))]
Language = Annotated[str, AfterValidator(OneOf(SUMMARY_LANGUAGES, "language", " "))]
Text = TypeVar("Text", bound=str)
Strings = Annotated[list[Text], BeforeValidator(_as_list)]
