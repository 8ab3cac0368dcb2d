"""What a model may send to each tool: lenient in spelling, strict in meaning."""

from __future__ import annotations

import json
from datetime import date, datetime
from functools import lru_cache
from typing import Annotated, Any, ClassVar, Literal, TypeVar, cast

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    model_validator,
)
from pydantic.alias_generators import to_snake
from pydantic_core import ErrorDetails

from webtools._cleaning import is_web_url, without_controls
from webtools._dates import read_date
from webtools._hidden import without_hidden
from webtools._kinds import Command
from webtools._narrowing import is_list, is_mapping
from webtools.errors import InputError

MAX_QUERIES = 20
MAX_QUERY_CHARACTERS = 4000
MAX_URLS = 100
MAX_LIMIT = 100
MAX_SOURCES = 10  # of one research call
MAX_RECENCY_DAYS = 3650
_MANY_DAYS = 10**9  # also for infinity
_LONGEST_SHOWN = 100  # characters of a value that an error quotes
SUMMARY_LANGUAGES = (
    *("BG", "CS", "DA", "DE", "EL", "EN", "ES", "ET", "FI", "FR", "HU", "ID", "IT", "JA", "KO"),
    *("LT", "LV", "NB", "NL", "PL", "PT", "RO", "RU", "SK", "SL", "SV", "TR", "UK", "ZH"),
    "ZH-HANT",
)
CATEGORIES = ("company", "people", "publication", "news", "personal site", "financial report")

_snake = lru_cache(maxsize=256)(to_snake)
Input = TypeVar("Input", bound="ToolInput")


def _as_list(value: Any) -> Any:
    """Take one string for a list, and a list written as JSON text, as some models send it."""
    if not isinstance(value, str):
        return value
    if value.lstrip().startswith("["):
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return [value]
    return [value]


def _both(first: Any, second: Any) -> Any:
    """Join what came under two names; neither is lost, and an empty one counts as absent."""
    for one, other in ((first, second), (second, first)):
        if one is None or (isinstance(one, (str, list, tuple)) and not one):
            return other
    return [*(first if is_list(first) else [first]), *(second if is_list(second) else [second])]


def _without_repeats(values: list[str]) -> list[str]:
    return list(dict.fromkeys(values))


def as_one(value: Any) -> Any:
    """Take a list of one for the one."""
    return value[0] if is_list(value) and len(value) == 1 else value


def _query(text: str) -> str:
    words = " ".join(without_hidden(without_controls(text)).split())
    if len(words) > MAX_QUERY_CHARACTERS:
        message = f"a query has {len(words)} characters; give at most {MAX_QUERY_CHARACTERS}"
        raise ValueError(message)
    if not words:
        message = f"query {shown(text)} is blank; give the words to search for"
        raise ValueError(message)
    return words


def _url(text: str) -> str:
    text = text.strip()
    if not is_web_url(text):
        message = f"{shown(text)} is not an absolute http(s) URL; write https://host/path"
        raise ValueError(message)
    return text


def _domain(text: str) -> str:
    """Take `host`, `*.host` or `host/path`, and a whole URL for its host and path."""
    bare = text.strip().lower()
    for scheme in ("https://", "http://"):
        bare = bare.removeprefix(scheme)
    bare = bare.rstrip("/")
    host = bare.removeprefix("*.").partition("/")[0]
    if not is_web_url(f"https://{bare.removeprefix('*.')}") or "@" in host:
        message = f"{shown(text)} is not a domain; write a host such as example.com"
        raise ValueError(message)
    return bare


def _moment(text: str) -> str:
    text = text.strip()
    if text and read_date(text) is None:
        message = f"{shown(text)} is not a date; write YYYY-MM-DD or an ISO-8601 date-time"
        raise ValueError(message)
    return text


def _command(value: Any) -> Any:
    """Take `/web-deep` and `web_deep` as well."""
    if not isinstance(value, str):
        return value
    return value.strip().lower().removeprefix("/").replace("_", "-") or "web"


def _days(value: Any) -> Any:
    """Take any number of days as a whole one; what is out of bounds is moved there later."""
    if isinstance(value, str) and value.strip().lstrip("-").isdigit():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or value != value:  # noqa: PLR0124
        return value
    return int(min(max(value, -_MANY_DAYS), _MANY_DAYS))


def _is_after(start: date | datetime, end: date | datetime) -> bool:
    if isinstance(start, datetime) and isinstance(end, datetime):
        return start > end
    return start.isoformat()[:10] > end.isoformat()[:10]


def _category(text: str) -> str:
    text = text.strip().lower()
    if text and text not in CATEGORIES:
        message = f"{shown(text)} is not a category; use one of {', '.join(CATEGORIES)}"
        raise ValueError(message)
    return text


def _language(text: str) -> str:
    text = text.strip().upper()
    if text and text not in SUMMARY_LANGUAGES:
        message = f"{shown(text)} is not a language; use one of {' '.join(SUMMARY_LANGUAGES)}"
        raise ValueError(message)
    return text


def shown(value: Any) -> str:
    """Quote a value for a message: on one line, cut when long."""
    try:
        text = value if isinstance(value, str) else repr(value)
    except Exception:  # noqa: BLE001  # foreign objects: huge numbers, deep lists, broken reprs
        text = type(value).__name__
    text = without_hidden(without_controls(text)).replace("\n", " ")
    return f'"{text[:_LONGEST_SHOWN]}…"' if len(text) > _LONGEST_SHOWN else f'"{text}"'


Query = Annotated[str, AfterValidator(_query)]
Url = Annotated[str, AfterValidator(_url)]
Domain = Annotated[str, AfterValidator(_domain)]
Moment = Annotated[str, AfterValidator(_moment)]
Category = Annotated[str, AfterValidator(_category)]
Language = Annotated[str, AfterValidator(_language)]
Text = TypeVar("Text", bound=str)
Strings = Annotated[list[Text], BeforeValidator(_as_list), AfterValidator(_without_repeats)]


def _field_name(key: Any) -> Any:
    return _snake(key) if isinstance(key, str) and len(key) < _LONGEST_SHOWN else key


def _flatten(schema: dict[str, Any]) -> None:
    """Drop what says nothing to a model, and the null defaults that mean "not given"."""
    for key in ("title", "description", "additionalProperties"):
        schema.pop(key, None)
    for name in schema.get("properties", {}):
        field_schema: dict[str, Any] = schema["properties"][name]
        field_schema.pop("title", None)
        if field_schema.get("default", "") is None:
            del field_schema["default"]


class ToolInput(BaseModel):
    """Base of the input models: lenient in spelling, strict in meaning.

    camelCase names, null for an absent value and the singular of a list's name are accepted.
    Fields that may be absent have a plain type and an empty or unset default, so that the JSON
    schema stays flat: some models refuse `anyOf`.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", json_schema_extra=_flatten)
    spellings: ClassVar[dict[str, str]] = {}

    @property
    def subjects(self) -> tuple[str, ...]:
        """What the call is about: its queries or URLs, which its first field holds."""
        value = next(iter(vars(self).values()))
        return tuple(value) if is_list(value) else (value,)

    @model_validator(mode="before")
    @classmethod
    def _spelling(cls, values: Any) -> Any:
        if not is_mapping(values):
            return values
        known = cls.model_fields
        plain = {
            key if key in known else _field_name(key): value
            for key, value in values.items()
            if value is not None
        }
        for other, name in cls.spellings.items():
            if other in plain:
                plain[name] = _both(plain.get(name), plain.pop(other))
        return plain


class SearchInput(ToolInput):
    """Input of web_search."""

    spellings = {"query": "queries", "q": "queries"}

    queries: Strings[Query] = Field(
        min_length=1,
        max_length=MAX_QUERIES,
        description="One or more search queries; several run at the same time.",
    )
    limit: int = Field(
        default=cast("int", None),
        ge=1,
        le=MAX_LIMIT,
        description="Most results per query. Leave out for the configured number.",
    )
    include_domains: Strings[Domain] = Field(
        default_factory=list[str],
        description="Only results from these domains, e.g. docs.python.org.",
    )
    exclude_domains: Strings[Domain] = Field(
        default_factory=list[str], description="No results from these domains."
    )
    start_published_date: Moment = Field(
        default="", description="Only results published on or after this date, YYYY-MM-DD."
    )
    end_published_date: Moment = Field(
        default="", description="Only results published on or before this date, YYYY-MM-DD."
    )
    category: Category = Field(
        default="", description=f"Kind of page: {', '.join(CATEGORIES)}. Leave out for any."
    )
    provider: str = Field(
        default="", description="Name of a configured provider. Leave out for the default."
    )

    @property
    def subjects(self) -> tuple[str, ...]:
        """The queries, and the domains that they are bound to."""
        return (*self.queries, *self.include_domains, *self.exclude_domains)

    @model_validator(mode="after")
    def _dates_in_order(self) -> SearchInput:
        start = read_date(self.start_published_date)
        end = read_date(self.end_published_date)
        if start is not None and end is not None and _is_after(start, end):
            message = (
                f'start_published_date "{start}" is after end_published_date "{end}"; swap them'
            )
            raise ValueError(message)
        return self


class FetchInput(ToolInput):
    """Input of web_fetch."""

    spellings = {"url": "urls"}

    urls: Strings[Url] = Field(
        min_length=1, max_length=MAX_URLS, description="One or more URLs to read."
    )
    text: bool = Field(
        default=False,
        description="Return the page text; this is also what happens when nothing is chosen.",
    )
    highlights: bool = Field(default=False, description="Return the most relevant extracts.")
    summary: bool = Field(default=False, description="Return a summary of each page.")
    text_max_characters: int = Field(
        default=cast("int", None),
        ge=1,
        le=1_000_000,
        description="Most characters of text per page. Leave out for the configured number.",
    )
    provider: str = Field(
        default="", description="Name of a configured provider. Leave out for the default."
    )


class SummarizeInput(ToolInput):
    """Input of summarize."""

    spellings = {"urls": "url"}

    url: Annotated[Url, BeforeValidator(as_one)] = Field(description="The URL to summarize.")
    summary_type: Literal["summary", "takeaway"] = Field(
        default="summary",
        description='"summary" for prose, "takeaway" for a bulleted list of key points.',
    )
    engine: Literal["cecil", "agnes"] = Field(
        default="cecil",
        description='"cecil" for general purposes, "agnes" for formal, technical summaries.',
    )
    target_language: Language = Field(
        default="",
        description='Language code of the output, e.g. "EN". Leave out for the page\'s own.',
    )
    provider: str = Field(
        default="", description="Name of a configured provider. Leave out for the default."
    )


class ResearchInput(ToolInput):
    """Input of web_research."""

    spellings = {"q": "query", "queries": "query", "question": "query"}

    query: Annotated[Query, BeforeValidator(as_one)] = Field(description="The question.")
    command: Annotated[Command, BeforeValidator(_command)] = Field(
        default="web",
        description=(
            '"web" for top links, "web-deep" to read the best pages and answer with citations, '
            '"web-news" for recent news, "web-docs" for library documentation.'
        ),
    )
    limit: int = Field(
        default=cast("int", None),
        ge=1,
        le=MAX_SOURCES,
        description="Most sources. Leave out for the configured number.",
    )
    recency_days: Annotated[int, BeforeValidator(_days)] = Field(
        default=cast("int", None),
        description=f"Age in days up to which a source counts as recent, 1 to {MAX_RECENCY_DAYS}. "
        "Leave out to let the question decide.",
    )
    synthesis: str = Field(
        default="",
        description='How to write the answer: "extractive", "perplexity", or "none". Leave out '
        "for the configured way.",
    )


def read_input(model: type[Input], arguments: Any) -> Input:
    """Check a tool's arguments before anything is sent.

    Raises:
        InputError: They make no sense; the message names the value and the remedy.
    """
    try:
        return model.model_validate(arguments)
    except ValidationError as error:
        faults = dict.fromkeys(_explain(item, model) for item in error.errors())
    # Outside the handler: the original error holds all arguments.
    raise InputError("; ".join(faults) + ".")


def _explain(item: ErrorDetails, model: type[ToolInput]) -> str:
    """Say in one clause what is wrong with an argument, its value and the remedy."""
    name = str(item["loc"][0]) if item["loc"] else "arguments"
    facts = item.get("ctx", {})
    if item["type"] == "value_error":  # from the checks above
        return str(facts["error"])
    if item["type"] in {"missing", "too_short"}:
        return f"{name} is missing or empty; give at least one value"
    if item["type"] == "too_long":
        return f"{name} has {facts['actual_length']} values; give at most {facts['max_length']}"
    known = ", ".join(model.model_fields)
    if item["type"] == "extra_forbidden":
        return f"{shown(name)} is not an argument; use {known}"
    remedies = {
        "greater_than_equal": f"use {_range(model, name)}",
        "less_than_equal": f"use {_range(model, name)}",
        "literal_error": f"use {facts.get('expected')}",
        "int_parsing": "give a whole number",
        "int_from_float": "give a whole number",
        "model_type": f"give an object with {known}",
    }
    remedy = remedies.get(item["type"], item["msg"][:1].lower() + item["msg"][1:])
    return f"{name} {shown(item['input'])} is not possible; {remedy}"


def _range(model: type[ToolInput], name: str) -> str:
    facts = model.model_json_schema()["properties"].get(name, {})
    return f"{facts.get('minimum')} to {facts.get('maximum')}"
