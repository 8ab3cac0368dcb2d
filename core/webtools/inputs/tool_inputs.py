"""What a model may send to each tool: lenient in spelling, strict in meaning."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Annotated, Any, ClassVar, Literal, Self, TypeVar, cast

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    model_validator,
)
from pydantic.alias_generators import to_snake
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from webtools._internal.text.choices import Command
from webtools._internal.text.cleaning import is_web_url
from webtools._internal.text.dates import read_date
from webtools._internal.text.narrowing import is_list, is_mapping
from webtools._internal.text.quoting import hint
from webtools.errors import InputError
from webtools.inputs.argument_values import (
    CATEGORIES,
    LONGEST_SHOWN,
    SAFE_SEARCH,
    Category,
    Country,
    Domain,
    Language,
    Moment,
    Query,
    Question,
    ResultLanguage,
    SafeSearch,
    Strings,
    UnfitError,
    Url,
    as_command,
    as_days,
    as_one,
    distinct,
    is_after,
    is_left_out,
    shown,
    up_to,
    url_like,
)

MAX_QUERIES = 20
MAX_URLS = 100
MAX_LIMIT = 100
MAX_PAGE = 10  # of results
MAX_SOURCES = 10  # of one research call
MAX_RECENCY_DAYS = 3650
MAX_TEXT_CHARACTERS = 1_000_000  # of a fetched page

MAX_ARGUMENTS = 100  # names in one call; a call with more is refused without an explanation

_MAX_EXPLAINED_NAMES = 20  # unknown arguments
_MOST_TOLD = 10  # of values with the same fault
_STAND_IN = "https://example.com/"  # for what a call is about, where only the rest is checked
_snake = lru_cache(maxsize=256)(to_snake)
Input = TypeVar("Input", bound="ToolInput")


def _both(first: Any, second: Any) -> Any:
    """Join what came under two names; neither is lost, and an empty one counts as absent."""
    for one, other in ((first, second), (second, first)):
        if one is None or (isinstance(one, (str, list, tuple)) and not one):
            return other
    return [*(first if is_list(first) else [first]), *(second if is_list(second) else [second])]


def _field_name(key: Any) -> Any:
    return _snake(key) if isinstance(key, str) and len(key) < LONGEST_SHOWN else key


def _flatten(schema: dict[str, Any], model: type[BaseModel]) -> None:
    """Drop what says nothing to a model, and the defaults: some APIs refuse them."""
    for key in ("title", "description", "additionalProperties"):
        schema.pop(key, None)
    properties = schema.get("properties", {})
    for name in getattr(model, "fixed", ()):
        properties.pop(name, None)
    for field_schema in properties.values():
        field_schema.pop("title", None)
        field_schema.pop("default", None)


class ToolInput(BaseModel):
    """Base of the input models: lenient in spelling, strict in meaning.

    camelCase names and the singular of a list's name are accepted, and null, an empty text and 0
    for what is left out. The JSON schema is flat and without bounds and defaults:
    models in strict mode send every argument, and their APIs refuse those words.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", json_schema_extra=_flatten)
    spellings: ClassVar[dict[str, str]] = {}
    fixed: ClassVar[dict[str, Any]] = {}  # what the developer decided, by argument

    @classmethod
    def open_fields(cls) -> dict[str, FieldInfo]:
        """Return the arguments that a model decides, in order: all but the fixed ones."""
        return {name: each for name, each in cls.model_fields.items() if name not in cls.fixed}

    @model_validator(mode="before")
    @classmethod
    def _spelling(cls, values: Any) -> Any:
        if not is_mapping(values):
            return values
        known = cls.model_fields
        plain = values if values.keys() <= known.keys() else cls._respelled(values)
        first = next(iter(known))  # may not be left out
        given = {
            name: value
            for name, value in plain.items()
            if value is not None and (name == first or name not in known or not is_left_out(value))
        }
        if not cls.fixed:
            return given
        cls._refuse_fixed(given)
        return given | cls.fixed

    @classmethod
    def _respelled(cls, values: Mapping[Any, Any]) -> dict[Any, Any]:
        known = cls.model_fields
        plain = {
            key if key in known or key in cls.spellings else _field_name(key): value
            for key, value in values.items()
            if value is not None
        }
        for other, name in cls.spellings.items():
            if other in plain:
                value = plain.pop(other)
                plain[name] = _both(plain[name], value) if name in plain else value
        return plain

    @classmethod
    def _refuse_fixed(cls, given: Mapping[str, Any]) -> None:
        for name in cls.fixed.keys() & given.keys():
            if given[name] != cls.fixed[name]:
                message = f"{name} is fixed to {shown(cls.fixed[name])} here; leave it out"
                raise ValueError(message)


class SearchInput(ToolInput):
    """Input of web_search."""

    spellings = {"query": "queries", "q": "queries"}

    queries: Annotated[Strings[Query], distinct(MAX_QUERIES)] = Field(
        description="Search queries; several run at once."
    )
    limit: Annotated[int, up_to(MAX_LIMIT)] = Field(
        default=0,
        description=f"Most results per query, 1 to {MAX_LIMIT}. Default: the configured number.",
    )
    include_domains: Annotated[Strings[Domain], distinct()] = Field(
        default_factory=list[str],  # without a factory pydantic copies the list deeply, in 1 us
        description="Only from these domains, e.g. docs.python.org. Leave out, or empty, for any.",
    )
    exclude_domains: Annotated[Strings[Domain], distinct()] = Field(
        default_factory=list[str], description="Not from these domains."
    )
    start_published_date: Moment = Field(
        default="", description="Earliest date of publication, YYYY-MM-DD."
    )
    end_published_date: Moment = Field(
        default="", description="Latest date of publication, YYYY-MM-DD."
    )
    category: Category = Field(
        default="",
        description=f"Kind of page: {', '.join(CATEGORIES)}. Leave out, or empty, for any.",
    )
    country: Country = Field(default="", description="Country of the results, e.g. DE.")
    language: ResultLanguage = Field(default="", description="Language of the results, e.g. de.")
    safe_search: SafeSearch = Field(default="", description=f"{', '.join(SAFE_SEARCH)}.")
    page: Annotated[int, up_to(MAX_PAGE)] = Field(
        default=0, description=f"Page of results, 1 to {MAX_PAGE}."
    )
    content: bool = Field(default=False, description="Return the pages' content too.")
    similar: bool = Field(default=False, description="The queries are URLs: find similar pages.")
    provider: str = Field(
        default="",
        description="Name of a configured provider. Leave out, or empty, for the default.",
    )

    @model_validator(mode="after")
    def _makes_sense(self) -> Self:
        if self.similar:
            self._check_pages()
        if self.start_published_date and self.end_published_date:
            self._check_dates()
        return self

    def _check_pages(self) -> None:
        odd = [text for text in self.queries if not is_web_url(text)]
        if odd:
            message = f"similar takes URLs, and {shown(odd[0])} is none; write {url_like(odd[0])}"
            raise ValueError(message)

    def _check_dates(self) -> None:
        start = read_date(self.start_published_date)
        end = read_date(self.end_published_date)
        if start is not None and end is not None and is_after(start, end):
            message = (
                f'start_published_date "{start}" is after end_published_date "{end}"; swap them'
            )
            raise ValueError(message)


class FetchInput(ToolInput):
    """Input of web_fetch."""

    spellings = {"url": "urls"}

    urls: Annotated[Strings[Url], distinct(MAX_URLS)] = Field(description="URLs to read.")
    question: Question = Field(
        default="",
        description="A question about the pages: of long ones only the best passages are returned. "
        "Leave out, or empty, for the text.",
    )
    text: bool = Field(default=False, description="Return the text, as when nothing is chosen.")
    highlights: bool = Field(default=False, description="Return the best extracts.")
    summary: bool = Field(default=False, description="Return a summary.")
    text_max_characters: Annotated[int, up_to(MAX_TEXT_CHARACTERS)] = Field(
        default=0,
        description=f"Most characters per page, 1 to {MAX_TEXT_CHARACTERS}. "
        "Default: the configured number.",
    )
    provider: str = Field(
        default="",
        description="Name of a configured provider. Leave out, or empty, for the default.",
    )


class SummarizeInput(ToolInput):
    """Input of summarize."""

    spellings = {"urls": "url"}

    url: Annotated[Url, BeforeValidator(as_one)] = Field(description="The URL to summarize.")
    summary_type: Literal["summary", "takeaway"] = Field(
        default="summary",
        description='"summary" (default): prose; "takeaway": key points.',
    )
    engine: Literal["cecil", "agnes"] = Field(
        default="cecil",
        description='"cecil" (default): general; "agnes": technical.',
    )
    target_language: Language = Field(
        default="",
        description='Language of the output, e.g. "EN". Leave out, or empty, for the page\'s own.',
    )
    provider: str = Field(
        default="",
        description="Name of a configured provider. Leave out, or empty, for the default.",
    )


class ResearchInput(ToolInput):
    """Input of web_research."""

    spellings = {"q": "query", "queries": "query", "question": "query"}

    query: Annotated[Query, BeforeValidator(as_one)] = Field(description="The question.")
    command: Annotated[Command, BeforeValidator(as_command)] = Field(
        default="web",
        description=(
            '"web" (default): top links; "web-deep": read pages and answer; '
            '"web-news": recent news; "web-docs": library documentation.'
        ),
    )
    limit: Annotated[int, up_to(MAX_SOURCES)] = Field(
        default=0,
        description=f"Most sources, 1 to {MAX_SOURCES}. Default: the configured number.",
    )
    recency_days: Annotated[int, BeforeValidator(as_days)] = Field(
        default=0,
        description=f"Days for which a source counts as recent, 1 to {MAX_RECENCY_DAYS}. "
        "Leave out, or give 0, to let the question decide.",
    )
    synthesis: str = Field(
        default="",
        description='How to write the answer: "extractive", "perplexity", or "none". Leave out, '
        "or empty, for the configured way.",
    )


def with_fixed(model: type[Input], values: Mapping[str, Any]) -> type[Input]:
    """Return an input model in which some arguments are decided already.

    They vanish from its JSON schema, and are refused if a model sends another value.

    Args:
        model: The input model of a tool.
        values: The arguments by name; None, "", 0 and an empty list leave one open, False
            decides.

    Raises:
        InputError: A value makes no sense, or is what the call is about.
    """
    first = next(iter(model.model_fields))
    names = [*values, *map(_field_name, values)]
    if first in {model.spellings.get(name, name) for name in names}:
        message = f"{first} is what a call is about; it cannot be fixed."
        raise InputError(message)
    checked = read_input(model, {first: _STAND_IN, **values})
    chosen = checked.model_fields_set - {first}
    fixed = {name: value for name, value in vars(checked).items() if name in chosen and value}
    declined = [_field_name(name) for name, value in values.items() if value is False]
    fixed |= {name: False for name in declined if model.model_fields[name].annotation is bool}
    narrowed = type(model.__name__, (model,), {"__doc__": model.__doc__, "fixed": fixed})
    return cast("type[Input]", narrowed)


def read_input(model: type[Input], arguments: Any) -> Input:
    """Check a tool's arguments before anything is sent.

    Raises:
        InputError: They make no sense; the message names the value and the remedy.
    """
    if is_mapping(arguments) and len(arguments) > MAX_ARGUMENTS:
        known = ", ".join(model.open_fields())
        raise InputError(
            f"the call has {len(arguments)} arguments; give at most {MAX_ARGUMENTS}: use {known}."
        )
    try:
        return model.model_validate(arguments)
    except ValidationError as error:
        faults = _explained(error.errors(), model)
    # Outside the handler: the original error holds all arguments.
    raise InputError("; ".join(faults) + ".")


def _explained(items: Sequence[ErrorDetails], model: type[ToolInput]) -> list[str]:
    """Explain each fault in a clause; values with the same fault share one."""
    alike: dict[str, dict[str, str]] = {}
    unknown = [item for item in items if item["type"] == "extra_forbidden"]
    others = [item for item in items if item["type"] != "extra_forbidden"]
    for item in [*others, *unknown[:_MAX_EXPLAINED_NAMES]]:
        error = item.get("ctx", {}).get("error")
        if isinstance(error, UnfitError):
            alike.setdefault(error.wanted, {})[shown(error.text)] = error.example
        else:
            alike[_explain(item, model)] = {}
    faults = [
        _refusal(list(values), fault + next(iter(values.values()), ""))
        for fault, values in alike.items()
    ]
    unexplained = len(unknown) - _MAX_EXPLAINED_NAMES
    return [*faults, f"{unexplained} more are not arguments"] if unexplained > 0 else faults


def _refusal(values: list[str], fault: str) -> str:
    if len(values) > 1:
        more = f" and {len(values) - _MOST_TOLD} more" if len(values) > _MOST_TOLD else ""
        return f"{', '.join(values[:_MOST_TOLD])}{more}: none of these is {fault}"
    return f"{values[0]} is not {fault}" if values else fault


def _explain(item: ErrorDetails, model: type[ToolInput]) -> str:
    """Explain in one clause what is wrong with an argument, its value and the remedy."""
    name = str(item["loc"][0]) if item["loc"] else "arguments"
    facts = item.get("ctx", {})
    if item["type"] == "value_error":  # from the checks above
        return str(facts["error"])
    if item["type"] == "missing":
        return f"{name} is missing or empty; give at least one value"
    known = ", ".join(model.open_fields())
    if item["type"] == "extra_forbidden":
        is_short = len(name) <= LONGEST_SHOWN
        near = hint(name, [*model.open_fields(), *model.spellings]) if is_short else ""
        return f"{shown(name)} is not an argument{near}; use {known}"
    remedies = {
        "literal_error": f"use {facts.get('expected')}",
        "int_parsing": "give a whole number",
        "int_parsing_size": "give a smaller number",
        "int_from_float": "give a whole number",
        "model_type": f"give an object with {known}",
    }
    remedy = remedies.get(item["type"], item["msg"][:1].lower() + item["msg"][1:])
    return f"{name} {shown(item['input'])} is not possible; {remedy}"
