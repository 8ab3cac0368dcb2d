"""The input models of the tools: lenient in spelling, strict in meaning."""

from collections.abc import Mapping, Sequence
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

from webtools._internal.text.dates import read_date
from webtools._internal.text.domains import Site, covered
from webtools._internal.text.narrowing import is_list, is_mapping
from webtools._internal.text.page_numbers import normalized_pages
from webtools._internal.text.quoting import hint
from webtools._internal.text.web_urls import is_web_url
from webtools.choices import Command
from webtools.errors import InputError
from webtools.inputs.argument_values import (
    CATEGORIES,
    LONGEST_SHOWN,
    SAFE_SEARCH,
    Category,
    Country,
    Domains,
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
    bounded_number,
    check_login,
    distinct,
    is_after,
    is_left_out,
    shown,
    url_like,
)
from webtools.inputs.written_values import arguments_of_call, read_keywords, read_object

MAX_QUERIES = 20
MAX_URLS = 100
MAX_LIMIT = 100
MAX_PAGE = 10  # of results
MAX_SOURCES = 10  # of one research call
MAX_RECENCY_DAYS = 3650
MAX_TEXT_CHARACTERS = 1_000_000  # of a fetched page

MAX_ARGUMENTS = 100  # of one call
# Names of arguments in other libraries.
_FOREIGN_NAMES: dict[str, str] = dict.fromkeys(
    ("max_results", "num_results", "k", "top_k"), "limit"
)

# Fields with the arguments in a call as agents and APIs write it, and fields that may be beside it.
_WRAPPERS = frozenset(
    {"input", "arguments", "args", "kwargs", "parameters", "params", "tool_input", "action_input"}
    | {"function", "tool_call", "__arg1"}
)
_BESIDE_WRAPPERS = frozenset({"action", "name", "tool", "tool_name", "type", "id"})
_MAX_EXPLAINED_NAMES = 20  # unknown arguments
_MAX_LISTED_VALUES = 10  # with the same fault
_EXAMPLE_SUBJECT = "https://example.com/"  # to check the other arguments
Input = TypeVar("Input", bound="ToolInput")


def _merge(value: Any, alias_value: Any) -> Any:
    """Merge the values of an argument and its alias. Ignore an empty one."""
    if _is_empty(value):
        return alias_value
    if _is_empty(alias_value):
        return value
    lists = (item if is_list(item) else [item] for item in (value, alias_value))
    return [item for items in lists for item in items]


def _is_empty(value: Any) -> bool:
    return value is None or (isinstance(value, (str, list, tuple)) and not value)


def _unwrapped(values: Mapping[Any, Any], subject: str) -> Mapping[Any, Any]:
    """Return the arguments in the object of a call, which may also name the tool."""
    wrappers = values.keys() & _WRAPPERS
    if len(wrappers) != 1 or not values.keys() <= wrappers | _BESIDE_WRAPPERS:
        return values
    value = values[wrappers.pop()]
    inner = read_object(value)
    return {subject: value} if inner is None else _unwrapped(inner, subject)


def _field_name(key: Any) -> Any:
    return to_snake(key) if isinstance(key, str) and len(key) < LONGEST_SHOWN else key


def _flatten(schema: dict[str, Any], model: type[BaseModel]) -> None:
    """Remove keywords that models do not need, and defaults, which some APIs refuse."""
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

    They accept camelCase names, the singular of a list's name, the whole object as text, and null,
    "", 0 and words such as "None" for "no value". The text may also be a call in Python.
    The JSON schema is flat, without bounds and defaults: models in strict mode send every argument,
    and their APIs refuse these keywords.
    """

    model_config = ConfigDict(
        frozen=True, extra="forbid", json_schema_extra=_flatten, defer_build=True
    )
    tool_name: ClassVar[str] = ""
    spellings: ClassVar[dict[str, str]] = {}
    free_texts: ClassVar[frozenset[str]] = frozenset()  # "none" is a value of these
    fixed: ClassVar[dict[str, Any]] = {}  # values that the developer set

    @classmethod
    def open_fields(cls) -> dict[str, FieldInfo]:
        """Return the arguments that a model can set: all but the fixed ones."""
        return {name: field for name, field in cls.model_fields.items() if name not in cls.fixed}

    @model_validator(mode="before")
    @classmethod
    def _spelling(cls, values: Any) -> Any:
        values = (cls._read_text(values) or values) if isinstance(values, str) else values
        if not is_mapping(values):
            return values
        fields = cls.model_fields
        subject = next(iter(fields))  # is required
        values = _unwrapped(values, subject)
        plain = values if values.keys() <= fields.keys() else cls._with_field_names(values)
        plain = cls._with_written_arguments(plain, subject)
        arguments = {
            name: value
            for name, value in plain.items()
            if value is not None and (name == subject or not cls._is_left_out(name, value))
        }
        cls._check_fixed(arguments)
        return arguments | cls.fixed

    @classmethod
    def _is_left_out(cls, name: str, value: Any) -> bool:
        """Return whether a value means "no value".

        Raises:
            ValueError: It is true or false, and the argument is a number.
        """
        if name not in cls.model_fields:
            return False
        if not isinstance(value, bool):
            return is_left_out(value, is_text=name in cls.free_texts)
        if cls.model_fields[name].annotation is int:
            raise ValueError(f"{name} {shown(value)} is invalid; use a whole number")
        return not value

    @classmethod
    def _with_written_arguments(cls, values: Mapping[Any, Any], subject: str) -> Mapping[Any, Any]:
        """Return the arguments that the subject's text writes, if it is all of them and no more.

        Agents that can pass only one text send all arguments in it. Arguments outside override it.
        """
        inner = cls._read_text(as_one(values.get(subject)))
        if inner is None:
            return values
        inner = cls._with_field_names(_unwrapped(inner, subject))
        if subject not in inner or len(inner) > MAX_ARGUMENTS:
            return values
        return inner | {name: value for name, value in values.items() if name != subject}

    @classmethod
    def _read_text(cls, text: Any) -> dict[Any, Any] | None:
        """Return the arguments that a text writes as an object, a call or keywords, or None."""
        values = read_object(text)
        if values is not None or not isinstance(text, str):
            return values
        arguments = arguments_of_call(text, cls.tool_name)
        if arguments is not None:
            subject = next(iter(cls.model_fields))
            return read_keywords(arguments) or read_keywords(f"{subject}={arguments}")
        values = read_keywords(text)
        if values and cls._with_field_names(values).keys() <= cls.model_fields.keys():
            return values
        return None

    @classmethod
    def _with_field_names(cls, values: Mapping[Any, Any]) -> dict[Any, Any]:
        fields = cls.model_fields
        plain = {
            key if key in fields or key in cls.spellings else _field_name(key): value
            for key, value in values.items()
            if value is not None
        }
        for alias, name in cls.spellings.items():
            if alias in plain:
                value = plain.pop(alias)
                plain[name] = _merge(plain[name], value) if name in plain else value
        return plain

    @classmethod
    def _check_fixed(cls, arguments: Mapping[str, Any]) -> None:
        for name in cls.fixed.keys() & arguments.keys():
            if arguments[name] != cls.fixed[name]:
                message = f"{name} is fixed to {shown(cls.fixed[name])} here; leave it out"
                raise ValueError(message)


class SearchInput(ToolInput):
    """Input of web_search."""

    tool_name = "web_search"
    spellings = {"query": "queries", "q": "queries", "search_query": "queries"}

    queries: Annotated[Strings[Query], distinct(MAX_QUERIES)] = Field(
        description="Search queries; several run at once."
    )
    limit: Annotated[int, bounded_number(MAX_LIMIT)] = Field(
        default=0,
        description=f"Maximum number of results per query, 1 to {MAX_LIMIT}. "
        "Default, or 0: the configured limit.",
    )
    include_domains: Domains = Field(
        default_factory=list[str],
        description="Only from these domains, e.g. docs.python.org or .gov. Default: any.",
    )
    exclude_domains: Domains = Field(
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
        description=f"Kind of page: {', '.join(CATEGORIES)}. Default: any.",
    )
    country: Country = Field(default="", description="Country of the results, e.g. DE.")
    language: ResultLanguage = Field(default="", description="Language of the results, e.g. de.")
    safe_search: SafeSearch = Field(
        default="", description=f"Filter for adult content: {', '.join(SAFE_SEARCH)}."
    )
    page: Annotated[int, bounded_number(MAX_PAGE)] = Field(
        default=0, description=f"Page of results, 1 to {MAX_PAGE}."
    )
    content: bool = Field(default=False, description="Return the pages' content too.")
    similar: bool = Field(default=False, description="The queries are URLs: find similar pages.")
    provider: str = Field(
        default="",
        description="Name of a configured provider. Default: chosen automatically.",
    )

    @classmethod
    def _is_left_out(cls, name: str, value: Any) -> bool:
        is_choice = name == "safe_search" and value is False  # means "off"
        return not is_choice and super()._is_left_out(name, value)

    @model_validator(mode="after")
    def _check_combinations(self) -> Self:
        if self.similar:
            self._check_pages()
        if self.start_published_date and self.end_published_date:
            self._check_dates()
        if self.include_domains and self.exclude_domains:
            self._check_domains()
        return self

    def _check_domains(self) -> None:
        include, exclude = map(Site, self.include_domains), map(Site, self.exclude_domains)
        if site := covered(include, exclude):
            message = f"{shown(site.host)} is in both include_domains and exclude_domains"
            raise ValueError(f"{message}; remove it from one of them")

    def _check_pages(self) -> None:
        for text in self.queries:
            if not is_web_url(text):
                message = (
                    f"similar needs URLs, but {shown(text)} is not a URL; write {url_like(text)}"
                )
                raise ValueError(message)
            check_login(text)

    def _check_dates(self) -> None:
        start = read_date(self.start_published_date)
        end = read_date(self.end_published_date)
        if start is not None and end is not None and is_after(start, end):
            message = (
                f'start_published_date "{start}" is after end_published_date "{end}"; swap them'
            )
            raise ValueError(message)


def _page_choice(value: object) -> object:
    is_number = isinstance(value, int) and not isinstance(value, bool)
    return normalized_pages(str(value)) if is_number or isinstance(value, str) else value


class FetchInput(ToolInput):
    """Input of web_fetch."""

    tool_name = "web_fetch"
    spellings = {"url": "urls"}
    free_texts = frozenset({"question"})

    urls: Annotated[Strings[Url], distinct(MAX_URLS)] = Field(description="URLs to read.")
    question: Question = Field(
        default="",
        description="A question about the pages. Long pages are cut to their best passages. "
        "Default: the full text.",
    )
    text: bool = Field(
        default=False, description="Return the text. Default if no other content is chosen."
    )
    highlights: bool = Field(default=False, description="Return the best extracts.")
    summary: bool = Field(default=False, description="Return a summary.")
    text_max_characters: Annotated[int, bounded_number(MAX_TEXT_CHARACTERS)] = Field(
        default=0,
        description=f"Maximum characters per page, 1 to {MAX_TEXT_CHARACTERS}. "
        "Default, or 0: the configured limit.",
    )
    whole: bool = Field(
        default=False, description="Return the whole page, also menus, comments and the like."
    )
    pages: Annotated[str, BeforeValidator(_page_choice)] = Field(
        default="", description='Pages of PDF files to read, such as "3-7". Default: all.'
    )
    provider: str = Field(
        default="",
        description="Name of a configured provider. Default: chosen automatically.",
    )


class SummarizeInput(ToolInput):
    """Input of summarize."""

    tool_name = "summarize"
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
        description='Language of the output, e.g. "EN". Default: the page\'s language.',
    )
    provider: str = Field(
        default="",
        description="Name of a configured provider. Default: chosen automatically.",
    )


class ResearchInput(ToolInput):
    """Input of web_research."""

    tool_name = "web_research"
    spellings = dict.fromkeys(("q", "queries", "question", "search_query"), "query")
    free_texts = frozenset({"synthesis"})

    query: Annotated[Query, BeforeValidator(as_one)] = Field(description="The question.")
    command: Annotated[Command, BeforeValidator(as_command)] = Field(
        default="web",
        description=(
            '"web" (default): top links; "web-deep": read pages and answer; '
            '"web-news": recent news; "web-docs": library documentation.'
        ),
    )
    limit: Annotated[int, bounded_number(MAX_SOURCES)] = Field(
        default=0,
        description=f"Maximum number of sources, 1 to {MAX_SOURCES}. "
        "Default, or 0: the configured limit.",
    )
    recency_days: Annotated[int, BeforeValidator(as_days)] = Field(
        default=0,
        description=f"Maximum age in days of a recent source, 1 to {MAX_RECENCY_DAYS}. "
        "Default, or 0: depends on the question.",
    )
    synthesis: str = Field(
        default="",
        description='How to write the answer: "extractive", "perplexity", or "none". '
        "Default: the configured method.",
    )


def with_fixed(model: type[Input], values: Mapping[str, Any]) -> type[Input]:
    """Return an input model with fixed arguments.

    They are not in its JSON schema, and other values for them are refused.

    Args:
        model: The input model of a tool.
        values: The arguments by name. None, "", 0 and [] fix nothing; False does.

    Raises:
        InputError: A value is invalid, or is the subject of the call.
    """
    subject = next(iter(model.model_fields))
    names = [*values, *map(_field_name, values)]
    if subject in {model.spellings.get(name, name) for name in names}:
        message = f"{subject} cannot be fixed: every call needs its own."
        raise InputError(message)
    checked = read_input(model, {subject: _EXAMPLE_SUBJECT, **values})
    names_set = checked.model_fields_set - {subject}
    fixed = {name: value for name, value in vars(checked).items() if name in names_set and value}
    false_names = [_field_name(name) for name, value in values.items() if value is False]
    fixed |= {name: False for name in false_names if model.model_fields[name].annotation is bool}
    narrowed = type(model.__name__, (model,), {"__doc__": model.__doc__, "fixed": fixed})
    return cast("type[Input]", narrowed)


def read_input(model: type[Input], arguments: Any) -> Input:
    """Check a tool's arguments before anything is sent.

    Raises:
        InputError: They are invalid. The message names the value and the remedy.
    """
    if is_mapping(arguments) and len(arguments) > MAX_ARGUMENTS:
        names = ", ".join(model.open_fields())
        raise InputError(
            f"the call has {len(arguments)} arguments; pass at most {MAX_ARGUMENTS}: use {names}."
        )
    try:
        return model.model_validate(arguments)
    except ValidationError as error:
        faults = _explain_all(error.errors(), model)
    # Outside the handler, because the original error has all arguments.
    raise InputError("; ".join(faults) + ".")


def _explain_all(items: Sequence[ErrorDetails], model: type[ToolInput]) -> list[str]:
    """Explain each fault in a clause. Values with the same fault share a clause."""
    values_by_fault: dict[str, dict[str, str]] = {}
    unknown = [item for item in items if item["type"] == "extra_forbidden"]
    invalid = [item for item in items if item["type"] != "extra_forbidden"]
    for item in [*invalid, *unknown[:_MAX_EXPLAINED_NAMES]]:
        error = item.get("ctx", {}).get("error")
        if isinstance(error, UnfitError):
            values_by_fault.setdefault(error.expected, {})[shown(error.text)] = error.example
        else:
            values_by_fault[_explain(item, model)] = {}
    faults = [
        _refusal(list(values), fault + next(iter(values.values()), ""))
        for fault, values in values_by_fault.items()
    ]
    unexplained = len(unknown) - _MAX_EXPLAINED_NAMES
    return [*faults, f"{unexplained} more are not arguments"] if unexplained > 0 else faults


def _refusal(values: list[str], fault: str) -> str:
    if len(values) > 1:
        hidden = len(values) - _MAX_LISTED_VALUES
        more = f" and {hidden} more" if hidden > 0 else ""
        return f"{', '.join(values[:_MAX_LISTED_VALUES])}{more}: none of these is {fault}"
    return f"{values[0]} is not {fault}" if values else fault


def _explain(item: ErrorDetails, model: type[ToolInput]) -> str:
    """Explain in one clause what is wrong with an argument, its value and the remedy."""
    name = str(item["loc"][0]) if item["loc"] else "arguments"
    facts = item.get("ctx", {})
    if item["type"] == "value_error":  # from the checks above
        return str(facts["error"])
    if item["type"] == "missing":
        return f"{name} is missing or empty; pass at least one value"
    names = ", ".join(model.open_fields())
    if item["type"] == "extra_forbidden":
        is_short = len(name) <= LONGEST_SHOWN
        known = [*model.open_fields(), *model.spellings]
        near = hint(_FOREIGN_NAMES.get(name, name), known) if is_short else ""
        return f"{shown(name)} is not an argument{near}; use {names}"
    remedies = {
        "literal_error": f"use {facts.get('expected')}",
        "int_parsing": "use a whole number",
        "int_parsing_size": "use a smaller number",
        "int_from_float": "use a whole number",
        "model_type": f"pass an object with {names}",
    }
    remedy = remedies.get(item["type"], item["msg"][:1].lower() + item["msg"][1:])
    return f"{name} {shown(item['input'])} is invalid; {remedy}"
