"""Which of our tools a call is of, and the response that its details hold."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ValidationError

from webtools._internal.text.fencing import unfenced
from webtools.results import (
    FetchResponse,
    ReadResponse,
    ResearchEnvelope,
    SearchResponse,
    SummaryResponse,
)
from webtools.tools import TOOLS, ToolResult

READ = "web_read"
UNKNOWN = "web tool"

_NOTICE = "\n\n[Output truncated: "
_OF_ALL = ("results", "truncation", "full_output_path", "error")
_RESPONSES: dict[str, tuple[str, type[BaseModel]]] = {  # by what only their details have
    "web_fetch": ("fetched_count", FetchResponse),
    "summarize": ("summary_type", SummaryResponse),
    READ: ("total_characters", ReadResponse),
    "web_search": ("filters", SearchResponse),
    "web_research": ("meta", ResearchEnvelope),
}


def tool_called(name: str, description: str = "") -> str | None:
    """Return the tool that an agent is about to call; None when it is none of ours.

    Args:
        name: What the agent calls it: our name, alone or with a prefix or a suffix of `web_…`.
        description: What the model is told about it.
    """
    names = (*TOOLS, READ)
    if name in names:
        return name
    for tool in TOOLS.values():
        if description and description in {tool.description, tool.paragraph}:
            return tool.name
    # Only names that are unlikely to be anybody else's: `summarize_mail` is not ours.
    own = (each for each in names if each.startswith("web_"))
    return next((each for each in own if re.search(rf"(^|[_-]){each}([_-]|$)", name)), None)


def tool_behind(details: Any) -> str | None:
    """Return the tool that gave these details; None when none of ours did.

    A failed call looks the same for all tools: its name is then "web tool".
    """
    if not isinstance(details, Mapping) or any(key not in details for key in _OF_ALL):
        return None
    return next((tool for tool, (key, _) in _RESPONSES.items() if key in details), UNKNOWN)


def response_of(tool: str, result: ToolResult) -> BaseModel | None:
    """Read the response that a tool's details hold; None when they are not those of the tool."""
    mark, model = _RESPONSES.get(tool, ("", None))
    if model is None or mark not in result.details:
        return None
    facts = {
        "provider": "",
        "queries": [""],
        "text": _own_text(result),
        "pages": result.details.get("results"),
    } | result.details
    try:
        return model.model_validate(facts)
    except ValidationError:
        return None


def _own_text(result: ToolResult) -> str:
    """Return the text without what was put below it for the model: notes show that."""
    whole = unfenced(result.text)
    text, _, below = whole.rpartition(_NOTICE)
    if below and result.details.get("truncation"):
        return text
    start = whole.rfind("\n\nWarning: ") if result.details.get("warnings") else -1
    return whole if start < 0 else whole[:start]
