"""Tools with fixed arguments, which a model neither sees nor changes."""

from collections.abc import Mapping, Sequence
from copy import deepcopy
from types import MethodType
from typing import Any, Literal, TypedDict

from llamaindex_webtools._function_tools import WebFunctionTool, tool_metadata, tool_methods
from llamaindex_webtools._spec import WebToolsSpec
from webtools.choices import Command
from webtools.tools import ALL_TOOLS


class FixedSearch(TypedDict, total=False):
    """Arguments of `web_search_tool` that go with every call; None leaves one to the model."""

    limit: int | None
    include_domains: str | Sequence[str]
    exclude_domains: str | Sequence[str]
    start_published_date: str | None
    end_published_date: str | None
    category: str | None
    country: str | None
    language: str | None
    safe_search: Literal["off", "moderate", "strict"] | None
    page: int | None
    content: bool | None
    similar: bool | None
    provider: str | None


class FixedFetch(TypedDict, total=False):
    """Arguments of `web_fetch_tool` that go with every call; None leaves one to the model."""

    question: str | None
    text: bool | None
    highlights: bool | None
    summary: bool | None
    text_max_characters: int | None
    whole: bool | None
    pages: str | None
    provider: str | None


class FixedSummary(TypedDict, total=False):
    """Arguments of `summarize_tool` that go with every call; None leaves one to the model."""

    summary_type: Literal["summary", "takeaway"] | None
    engine: Literal["cecil", "agnes"] | None
    target_language: str | None
    provider: str | None


class FixedResearch(TypedDict, total=False):
    """Arguments of `web_research_tool` that go with every call; None leaves one to the model."""

    command: Command | None
    limit: int | None
    recency_days: int | None
    synthesis: str | None


class FixedMap(TypedDict, total=False):
    """Arguments of `web_map_tool` that go with every call; None leaves one to the model."""

    find: str | None
    limit: int | None


class FixedTool(WebFunctionTool):
    """A tool with some fixed arguments.

    Args:
        spec: Carries out the calls.
        tool: The name of the tool in `webtools.tools`.
        name: The name that the model calls.
        fixed: The arguments by name.

    Raises:
        InputError: Model APIs refuse the name, or a value is not valid.
    """

    def __init__(self, spec: WebToolsSpec, tool: str, name: str, fixed: Mapping[str, Any]) -> None:
        fixed_tool = ALL_TOOLS[tool].with_fixed(fixed)
        # Agents that write code call the functions by their names.
        run, arun = tool_methods(fixed_tool, name.replace("-", "_"))
        super().__init__(
            fn=MethodType(run, spec),
            async_fn=MethodType(arun, spec),
            metadata=tool_metadata(fixed_tool, name),
        )
        self._arguments = (spec, tool, name, deepcopy(dict(fixed)))  # lists may change later

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy and pickle by construction: pickle cannot import the schema and the functions."""
        return FixedTool, self._arguments
