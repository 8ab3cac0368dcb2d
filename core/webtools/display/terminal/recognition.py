"""Which of our tools a call is of, under whatever name an agent knows it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from webtools.tools import TOOLS

READ = "web_read"
UNKNOWN = "web tool"

_OF_ALL = ("results", "truncation", "full_output_path", "error")
_BY_DETAIL = {
    "fetched_count": "web_fetch",
    "summary_type": "summarize",
    "total_characters": READ,
    "filters": "web_search",
    "meta": "web_research",
}


def tool_called(name: str, description: str = "") -> str | None:
    """Name the tool that an agent is about to call; None when it is none of ours.

    Args:
        name: What the agent calls it: our name, alone or with a prefix or a suffix of `web_…`.
        description: What the model is told about it.
    """
    if name in TOOLS or name == READ:
        return name
    for tool in TOOLS.values():
        if description and description in {tool.description, tool.paragraph}:
            return tool.name
    return next((own for own in (*TOOLS, READ) if _is_renamed(name, own)), None)


def _is_renamed(name: str, own: str) -> bool:
    # Only names that are unlikely to be anybody else's: `summarize_mail` is not ours.
    if not own.startswith("web_"):
        return False
    return name.endswith((f"_{own}", f"-{own}")) or name.startswith((f"{own}_", f"{own}-"))


def tool_behind(details: Any) -> str | None:
    """Name the tool that gave these details; None when none of ours did.

    A failed call looks the same for all tools: its name is then "web tool".
    """
    if not isinstance(details, Mapping) or any(key not in details for key in _OF_ALL):
        return None
    return next((tool for key, tool in _BY_DETAIL.items() if key in details), UNKNOWN)
