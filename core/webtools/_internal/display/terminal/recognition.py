"""Recognize calls of our tools, and read the response in their details."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ValidationError

from webtools._internal.late_imports import resolve
from webtools.fencing import remove_fences
from webtools.tools import ALL_TOOLS, ToolResult

READ = "web_read"
UNKNOWN = "web tool"

_NOTICE = "\n\n[Output truncated: "
_COMMON_KEYS = ("results", "truncation", "full_output_path", "error")


def tool_called(name: str, description: str = "") -> str | None:
    """Return the tool of ours that an agent is about to call, or None.

    Args:
        name: The agent's name for it; names with `web_…` may have a prefix or suffix.
        description: The tool's description for the model.
    """
    if name in ALL_TOOLS:
        return name
    for tool in ALL_TOOLS.values():
        if description and description in {tool.description, tool.paragraph}:
            return tool.name
    # Only distinctive names: `summarize_mail` is not ours.
    for known in ALL_TOOLS:
        if known.startswith("web_") and re.search(rf"(^|[_-]){known}([_-]|$)", name):
            return known
    return None


def tool_behind(details: Any) -> str | None:
    """Return the tool of ours that returned these details, or None.

    A failed call looks the same for all tools: the result is then "web tool".
    """
    if not isinstance(details, Mapping) or any(key not in details for key in _COMMON_KEYS):
        return None
    return next((tool.name for tool in ALL_TOOLS.values() if tool.details_key in details), UNKNOWN)


def response_of(tool: str, result: ToolResult) -> BaseModel | None:
    """Read the response from a tool's details; None if they are not details of that tool."""
    if tool not in ALL_TOOLS or ALL_TOOLS[tool].details_key not in result.details:
        return None
    model: type[BaseModel] = resolve(ALL_TOOLS[tool].response)
    values = {
        "provider": "",
        "queries": [""],
        "text": _own_text(result),
        "pages": result.details.get("results"),
        "entries": result.details.get("results"),
    } | result.details
    try:
        return model.model_validate(values)
    except ValidationError:
        return None


def _own_text(result: ToolResult) -> str:
    """Return the text without the notes for the model below it."""
    full_text = remove_fences(result.text)
    text, _, below = full_text.rpartition(_NOTICE)
    if below and result.details.get("truncation"):
        return text
    start = full_text.rfind("\n\nWarning: ") if result.details.get("warnings") else -1
    return full_text if start < 0 else full_text[:start]
