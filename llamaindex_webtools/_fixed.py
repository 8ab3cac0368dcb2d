"""Tools with arguments that the developer has decided: a model neither sees nor changes them."""

from collections.abc import Mapping, Sequence
from copy import deepcopy
from types import MethodType
from typing import Any, Literal, TypedDict

from llamaindex_webtools._building import WebFunctionTool, describe, functions
from llamaindex_webtools._spec import WebToolsSpec
from webtools._internal.text.choices import Command
from webtools.tools import TOOLS


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


class FixedTool(WebFunctionTool):
    """A tool with some arguments decided.

    Args:
        spec: What carries out the calls.
        tool: The name of the tool in `webtools.tools`.
        name: What the model calls it.
        fixed: The arguments by name.

    Raises:
        InputError: The name is one that model APIs refuse, or a value makes no sense.
    """

    def __init__(self, spec: WebToolsSpec, tool: str, name: str, fixed: Mapping[str, Any]) -> None:
        narrowed = TOOLS[tool].with_fixed(fixed)
        # Agents that write code call them by their own names.
        run, arun = (MethodType(each, spec) for each in functions(narrowed, name.replace("-", "_")))
        super().__init__(fn=run, async_fn=arun, metadata=describe(narrowed, name))
        self._made_of = (spec, tool, name, deepcopy(dict(fixed)))  # lists may change later

    def __reduce__(self) -> tuple[Any, ...]:
        """Make it anew in a copy or from a pickle: no module has its schema and functions."""
        return FixedTool, self._made_of
