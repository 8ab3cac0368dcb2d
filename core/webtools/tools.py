"""The tools as models see them: descriptions and input models, the same for every framework."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, get_args, get_origin

from webtools._internal.representation import Drawn
from webtools._internal.text.quoting import hint
from webtools.choices import Capability
from webtools.errors import InputError
from webtools.inputs.argument_values import (
    CATEGORIES,
    MAX_QUERY_CHARACTERS,
    SUMMARY_LANGUAGES,
    shown,
)
from webtools.inputs.map import MapInput
from webtools.inputs.read import MAX_FIND_CHARACTERS, MAX_OFFSET, ReadInput
from webtools.inputs.tool_inputs import (
    MAX_LIMIT,
    MAX_QUERIES,
    MAX_RECENCY_DAYS,
    MAX_SOURCES,
    MAX_URLS,
    FetchInput,
    ResearchInput,
    SearchInput,
    SummarizeInput,
    ToolInput,
    read_input,
    with_fixed,
)

__all__ = [
    "ALL_TOOLS",
    "CATEGORIES",
    "FETCH",
    "MAP",
    "MAX_FIND_CHARACTERS",
    "MAX_LIMIT",
    "MAX_OFFSET",
    "MAX_QUERIES",
    "MAX_QUERY_CHARACTERS",
    "MAX_RECENCY_DAYS",
    "MAX_SOURCES",
    "MAX_URLS",
    "READ",
    "RESEARCH",
    "SEARCH",
    "SUMMARIZE",
    "SUMMARY_LANGUAGES",
    "TOOLS",
    "FetchInput",
    "MapInput",
    "ReadInput",
    "ResearchInput",
    "SearchInput",
    "SummarizeInput",
    "Tool",
    "ToolInput",
    "ToolResult",
    "no_such_tool",
    "read_input",
    "shown",
    "tool_of",
]


@dataclass(frozen=True, slots=True, repr=False)
class ToolResult(Drawn):
    """The result of a tool call.

    Attributes:
        text: The text for the model, within the output budget of 51,200 bytes and 2,000 lines.
        details: The result as plain JSON data, for programs.
        is_error: Whether the call failed. `text` then says why, and what to do.
        call_id: ID of the call, as in the log and in its progress.
    """

    text: str
    details: dict[str, Any] = field(default_factory=dict[str, Any])
    is_error: bool = False
    call_id: str = field(default="", compare=False)

    def __str__(self) -> str:
        """Return the text alone."""
        return self.text


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool: what a model sees of it, and what serves it.

    Functions and classes are named as `module:name` below `webtools` and imported at the first use
    (`resolve`), so that a search does not import research.

    Attributes:
        name: Name of the tool.
        description: What the tool does and when to use it, on several lines. At most 1,000
            characters: model APIs refuse requests with more than 1,024.
        input_model: Pydantic model of the arguments. Its JSON schema is flat.
        url_argument: The argument whose values are URLs to open; empty if it opens none. Sessions
            check it.
        url_switch: The argument that makes them URLs; empty if they always are.
        title: Its title in lists of tools for people.
        method: Name of the method of `WebTools`.
        capabilities: What a provider must be able to do to serve it; any one is enough. Empty if
            it needs no provider.
        operation: The function that runs it, with its arguments and the call.
        presenter: The function that presents its response as a `ToolResult`.
        response: The class of its response.
        details: The class of the details of its results.
        details_key: A key that the details of no other tool have.
    """

    name: str
    description: str
    input_model: type[ToolInput]
    url_argument: str = ""
    url_switch: str = ""
    title: str = ""
    method: str = ""
    capabilities: tuple[Capability, ...] = ()
    operation: str = ""
    presenter: str = ""
    response: str = ""
    details: str = ""
    details_key: str = ""

    def with_fixed(self, values: Mapping[str, Any]) -> Tool:
        """Return this tool with fixed arguments, which a model does not see.

        Args:
            values: The arguments by name. None, "", 0 and [] leave an argument to the model. False
                fixes it.

        Raises:
            InputError: A value is invalid, or the argument is the subject of the call, such as
                `queries`.
        """
        return replace(self, input_model=with_fixed(self.input_model, values))

    @property
    def fixed(self) -> dict[str, Any]:
        """The fixed arguments by name, as the tool reads them, such as lists of domains."""
        return dict(self.input_model.fixed)

    @property
    def takes_urls(self) -> bool:
        """Whether a model passes URLs to it."""
        return bool(self.url_argument) and not self.url_switch

    @property
    def paragraph(self) -> str:
        """The description on one line, for LlamaIndex."""
        return " ".join(self.description.split())

    @property
    def first_field(self) -> str:
        """Name of the argument that a plain string sets, such as `queries`."""
        return next(iter(self.input_model.model_fields))

    @property
    def parameters(self) -> list[inspect.Parameter]:
        """The arguments that a model can set, as the parameters of a Python function."""
        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
        return [
            inspect.Parameter(
                name,
                kind,
                default=inspect.Parameter.empty
                if info.is_required()
                else info.get_default(call_default_factory=True),
                annotation=_plain_type(info.annotation),
            )
            for name, info in self.input_model.open_fields().items()
        ]

    def bind(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments of a call of such a function by name.

        Raises:
            TypeError: There are too many positional arguments, or one is passed by name too.
        """
        names = [*self.input_model.open_fields()]
        if len(args) > len(names):
            raise TypeError(f"{self.name} takes {len(names)} arguments but {len(args)} were given")
        return dict(**kwargs, **dict(zip(names, args, strict=False)))


def _plain_type(annotation: Any) -> Any:
    """Return the type without its validators."""
    if get_origin(annotation) is Annotated:
        return _plain_type(get_args(annotation)[0])
    return list[str] if get_origin(annotation) is list else annotation


SEARCH = Tool(
    "web_search",
    """\
Search the web for real-time information using one or more queries. Returns ranked results with \
titles, URLs, and any snippets.

When to use:
- Looking up documentation, APIs, libraries, or error messages you're unsure about
- Answering questions about recent events, releases, or data beyond your training cutoff
- Verifying assumptions or checking for updated best practices

When not to use: you know the answer, or made a similar search (read a result).

Tips for effective queries:
- Write concise, keyword-focused queries — include the current year for time-sensitive topics
- Use multiple queries to cover different angles of a broad question
- Prefer specific technical terms over natural language when searching for code or docs
- Narrow by domains, dates or category

Put [Title](URL) right after each claim.

After using search results in your response, include a "Sources" section listing the URLs you \
referenced as markdown links, e.g.:
Sources:
- [Page Title](https://example.com)""",
    SearchInput,
    url_argument="queries",
    url_switch="similar",
    title="Search the web",
    method="search",
    capabilities=("search",),
    operation="_internal.operations.search:run_search",
    presenter="_internal.call.present:present_search",
    response="results:SearchResponse",
    details="mcp.outputs:SearchDetails",
    details_key="filters",
)

FETCH = Tool(
    "web_fetch",
    """\
Read one or more web pages by URL. Returns the text of each page as Markdown, in the same order, \
or the reason why it failed.

When to use:
- Reading a page that a search found, before relying on its snippet
- Reading documentation, release notes or articles whose URL you know
- Comparing several pages: pass all URLs in one call

When not to use: you already read the page, or its URL is a guess.

Pass a question to get only the best passages of long pages. Choose highlights for the most \
relevant extracts, or summary for a short version of each page. Long output is truncated, with \
equal room for each page. Get the rest with web_read, lower text_max_characters, or fetch fewer \
pages.""",
    FetchInput,
    url_argument="urls",
    title="Read web pages",
    method="fetch",
    capabilities=("fetch",),
    operation="_internal.operations.fetch:run_fetch",
    presenter="_internal.call.present:present_pages",
    response="results:FetchResponse",
    details="mcp.outputs:FetchDetails",
    details_key="fetched_count",
)

SUMMARIZE = Tool(
    "summarize",
    """\
Summarize content from a URL. Works with web pages, PDFs, videos, podcasts, and other document \
types. Returns a concise summary to avoid consuming excessive context on long documents.

When to use:
- Digesting long documentation pages, release notes, or changelogs
- Getting key points from a video or podcast transcript
- Summarizing a PDF or technical paper
- Understanding a lengthy discussion thread or blog post

Parameters:
- url (required): The URL to summarize
- summary_type (optional): "summary" for paragraph prose (default), or "takeaway" for a bulleted \
list of key points
- engine (optional): Summarization engine — "cecil" (default) for fast general-purpose summaries, \
"agnes" for formal, technical, analytical summaries. Use agnes for technical docs, papers, and \
specs.
- target_language (optional): Language code for the output (e.g., "EN", "DE", "JA"). Defaults to \
the document's language.""",
    SummarizeInput,
    url_argument="url",
    title="Summarize a document",
    method="summarize",
    capabilities=("summarize",),
    operation="_internal.operations.summarize:run_summarize",
    presenter="_internal.call.present:present_summary",
    response="results:SummaryResponse",
    details="mcp.outputs:SummaryDetails",
    details_key="summary_type",
)

RESEARCH = Tool(
    "web_research",
    """\
Research a question on the web. Returns sources and how far you can trust the result.

When to use:
- A question that needs several sources, or an answer with a citation for every claim (web-deep)
- Recent events, where the age of the sources matters (web-news)
- How a software library works, from its own documentation (web-docs)
- Top links for a question (web)

When not to use: one search is enough, or the conversation has the answer.

Cite a URL from the result for every claim that you take from it. State the uncertainty if \
confidence is low or the result names one. Cite only URLs that the result lists.""",
    ResearchInput,
    title="Research a question",
    method="research",
    capabilities=("search", "docs"),
    operation="_internal.operations.research.flow:research",
    presenter="_internal.call.present:present_research",
    response="results:ResearchEnvelope",
    details="mcp.outputs:ResearchDetails",
    details_key="meta",
)

READ = Tool(
    "web_read",
    """\
Read the rest of an output of another web tool that was truncated, or find a passage in it. \
Outputs are kept for a day.

When to use:
- A result ends in "[Read on with web_read: handle ..., offset ...]" and you need the rest
- You need one passage of a long page: pass words of it as find

Each call returns one part, and the offset of the next part if there is one.""",
    ReadInput,
    title="Read the rest of an output",
    method="read",
    operation="_internal.operations.read_output:read_stored_output",
    presenter="_internal.call.present:present_part",
    response="results:ReadResponse",
    details="mcp.outputs:ReadDetails",
    details_key="total_characters",
)

MAP = Tool(
    "web_map",
    """\
List the pages of a web site: titles and URLs from its llms.txt, its sitemaps and the links of its \
start page.

When to use:
- Finding the right page of a site that you know, such as the documentation of a library
- Seeing what a site has before reading it

When not to use: you know the URL of the page, or do not know the site (search).

Pass find to rank the pages by words of their titles and URLs. Read the pages with web_fetch.""",
    MapInput,
    url_argument="url",
    title="List the pages of a site",
    method="map",
    operation="_internal.operations.site_map:map_site",
    presenter="_internal.call.present:present_map",
    response="results:SiteMap",
    details="mcp.outputs:MapDetails",
    details_key="total",
)

TOOLS: dict[str, Tool] = {tool.name: tool for tool in (SEARCH, FETCH, SUMMARIZE, RESEARCH, READ)}
ALL_TOOLS: dict[str, Tool] = {**TOOLS, MAP.name: MAP}  # with those that are offered only by name


def tool_of(tool: Tool | str) -> Tool:
    """Return a tool, which may be given by its name.

    Raises:
        InputError: There is no such tool.
    """
    if isinstance(tool, Tool):
        return tool
    if not isinstance(tool, str) or tool not in ALL_TOOLS:  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InputError(no_such_tool(tool))
    return ALL_TOOLS[tool]


def no_such_tool(name: Any) -> str:
    """Return the message for an unknown tool name, with the nearest one."""
    near = hint(name, ALL_TOOLS) if isinstance(name, str) else ""
    return f"{shown(name)} is not a tool{near}; use one of {', '.join(ALL_TOOLS)}."
