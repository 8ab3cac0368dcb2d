"""Show the result of a tool, and return its exit code."""

from __future__ import annotations

import re
import sys
from argparse import Namespace
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from webtools import formatting
from webtools._internal.display.short_texts import subject
from webtools._internal.late_imports import resolve
from webtools.cli.printing import (
    FAILED,
    NOTHING,
    SUCCESS,
    USAGE,
    USER_ERRORS,
    command,
    complain,
    note,
    print_json,
    tell,
)
from webtools.cli.terminal_output import draw
from webtools.fencing import remove_fences
from webtools.results import SearchResponse
from webtools.tools import ToolResult
from webtools.truncation import MAX_BYTES, MAX_LINES, fit, fit_sections, notice

_SEARCHES = {"web_search", "web_research"}
_MAX_URLS = 5
_ENVELOPE = ("results", "meta", "synthesis")
_UNCUT = {"truncation": None, "read_handle": None, "full_output_path": None}
_FOOTER = "\n\nConfidence: "
_SEPARATOR = "\n\n"


def show(tool: str, result: ToolResult, options: Namespace, seconds: float | None = None) -> int:
    """Show a tool's result as the options say, and return its exit code."""
    display_result = replace(result, text=_text_for_people(tool, result))
    _note_failed_pages(tool, result)
    if options.json:
        is_envelope = tool == "web_research" and not result.is_error
        names = _ENVELOPE if is_envelope else result.details
        print_json({name: result.details[name] for name in names})
    elif not result.is_error:
        if options.plain or not draw(tool, display_result, seconds):
            if result.details.get("passages") and not getattr(options, "passages", False):
                result = _without_passages(result)
                display_result = replace(result, text=_text_for_people(tool, result))
            print(display_result.text) if options.plain else tell(display_result.text)
        _show_read_command(result, options)
    if not result.is_error:
        return NOTHING if _is_empty(tool, result.details) else SUCCESS
    complain(display_result.text)
    fault = result.details["error"]
    code = USAGE if fault["type"] in USER_ERRORS and not fault["retryable"] else FAILED
    if result.call_id and code == FAILED:  # for user errors it would repeat the message
        note(f"`{command(options, 'explain', result.call_id)}` shows what happened.")
    return code


def _note_failed_pages(tool: str, result: ToolResult) -> None:
    if tool != "web_fetch" or result.is_error or not result.details["failed_count"]:
        return
    pages = result.details["results"]
    failed_urls = [page["url"] for page in pages if page["error"]]
    count = len(failed_urls)
    more = f" and {count - _MAX_URLS} more" if count > _MAX_URLS else ""
    urls = ", ".join(failed_urls[:_MAX_URLS])
    note(f"{count} of {len(pages)} pages failed: {urls}{more}.")


def _is_empty(tool: str, details: Mapping[str, Any]) -> bool:
    if tool == "web_read":
        return bool(details["find"]) and details["found_at"] is None
    return tool in _SEARCHES and details["results"] == []


def _show_read_command(result: ToolResult, options: Namespace) -> None:
    """Print the command for the rest of an output, on stderr too if stdout is not a terminal."""
    handle = result.details["read_handle"]
    if handle is None and result.details["truncation"] is None:
        return
    message = "the output was truncated"
    if handle is not None:
        match = re.search(_handle_pattern(handle), result.text)
        offset = ["--offset", match[1]] if match and match[1] != "0" else []
        read_command = command(options, "read", handle, *offset)
        print(f"[Read on: {read_command}]")
        message += f". For the rest, run `{read_command}`"
    if not sys.stdout.isatty():
        note(f"{message}.")


def _handle_pattern(handle: str) -> str:
    return rf"\n\[Read on with web_read: handle {re.escape(handle)}, offset (\d+)\.\]"


def _text_for_people(tool: str, result: ToolResult) -> str:
    """Return the text without the parts for models: the fence, and how to call `web_read`."""
    if tool == "web_search" and len(result.details.get("queries", ())) > 1:
        return _by_query(result.details)
    text = remove_fences(result.text)
    handle = result.details["read_handle"]
    return text if handle is None else re.sub(_handle_pattern(handle), "", text)


def uncut(result: ToolResult, text: str) -> ToolResult:
    """Return a result with another text, which is not truncated."""
    return replace(result, text=text, details={**result.details, **_UNCUT})


def _without_passages(result: ToolResult) -> ToolResult:
    """Return a result of `web-deep` whose text has the answer and its sources only."""
    fields = {name: result.details[name] for name in _ENVELOPE}
    text = formatting.research_text(resolve("results:ResearchEnvelope").model_validate(fields))
    _, start, footer = result.text.rpartition(_FOOTER)
    return uncut(result, f"{text}{start}{footer}")


# --- several queries ---------------------------------------------------------------------------


def _by_query(details: Mapping[str, Any]) -> str:
    """Return the text of a search. If the model's text was cut, cut each query fairly."""
    fields = {name: details[name] for name in SearchResponse.model_fields}
    response = SearchResponse.model_validate(fields)
    text = _SEPARATOR.join(_blocks(response))
    if details["truncation"] is not None:
        text = _within_limits(response, text, details["full_output_path"])
    return _SEPARATOR.join(
        filter(None, [text, formatting.footer(response.errors, response.warnings)])
    )


def _within_limits(response: SearchResponse, text: str, path: str | None) -> str:
    brief = response.model_copy(update={"results": formatting.brief(response.results)})
    text_cut, _ = fit_sections(_blocks(brief), _SEPARATOR, MAX_LINES, MAX_BYTES)
    part, full = fit(text_cut, MAX_LINES, MAX_BYTES), fit(text, MAX_LINES, MAX_BYTES)
    lines, sizes = (part.total_lines, full.total_lines), (part.total_bytes, full.total_bytes)
    return _SEPARATOR.join([text_cut, notice(*lines, *sizes, path)])


def _blocks(response: SearchResponse) -> list[str]:
    """Return a block per query, with results numbered from 1."""
    return [
        f'"{subject(query)}":\n\n{formatting.search_text(results)}'
        for query, results in formatting.by_query(response).items()
    ]
