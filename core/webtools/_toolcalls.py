"""Tool calls as flows: arguments in, text and details out, and no failure raised."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from webtools import formatting
from webtools._flow import Flow, Offload
from webtools._spill import save
from webtools.errors import WebToolsError
from webtools.results import FetchResponse, ResearchEnvelope, SearchResponse, SummaryResponse
from webtools.tools import Tool, ToolResult
from webtools.truncation import MAX_BYTES, MAX_LINES, Truncation, fit, fit_sections, notice

_SEPARATOR = "\n\n"
_SURELY_FITS = MAX_BYTES // 4  # characters: none has more than 4 bytes
_FOOTER_BYTES = 8 * 1024  # most that errors and warnings may take of the budget
_FOOTER_LINES = 100


def present(tool: Tool, work: Flow[Any]) -> Flow[ToolResult]:
    """Show what a tool's work brings."""
    response = yield from work
    return (yield from PRESENTERS[tool.name](response))


def present_search(response: SearchResponse) -> Flow[ToolResult]:
    """Show results as a numbered list, then what failed and the warnings."""
    details = response.model_dump(mode="json")
    details["result_count"] = len(response.results)
    text = formatting.search_text(response.results)
    return (yield from _one_text(text, formatting.search_footer(response), details))


def present_summary(response: SummaryResponse) -> Flow[ToolResult]:
    """Show the summary alone."""
    details = response.model_dump(mode="json", exclude={"text"})
    details |= {"results": [], "result_count": 0}
    return (yield from _one_text(response.text, formatting.footer((), response.warnings), details))


def present_pages(response: FetchResponse) -> Flow[ToolResult]:
    """Show one section per page, which share the budget fairly."""
    details = response.model_dump(mode="json")
    details["results"] = details.pop("pages")
    failed = sum(page.error is not None for page in response.pages)
    fetched = len(response.pages) - failed
    details |= {"result_count": fetched, "fetched_count": fetched, "failed_count": failed}
    sections = formatting.page_sections(response)
    foot = _fitted_footer(formatting.footer((), response.warnings))
    shown, cuts = fit_sections(sections, _SEPARATOR, *_room(foot))
    if not any(cut.truncated for cut in cuts):
        return _result(shown, foot, details, None, None)
    whole = _SEPARATOR.join(sections)
    path = yield Offload(lambda: save(whole))
    return _result(shown, foot, details, _cut_of(shown, whole), path)


def present_research(envelope: ResearchEnvelope) -> Flow[ToolResult]:
    """Show the answer, the sources that it cites, the other ones, and how sure one may be."""
    details = envelope.model_dump(mode="json")
    meta = envelope.meta
    details |= {
        "provider": meta.provider_used,
        "result_count": len(envelope.results),
        "warnings": meta.warnings,
        "cost_usd": meta.cost_usd,
        "cost_is_estimate": False,
    }
    text, foot = formatting.research_text(envelope), formatting.research_footer(envelope)
    return (yield from _one_text(text, foot, details))


def present_error(error: WebToolsError) -> Flow[ToolResult]:
    """Show an error as the text; the details say the same as data."""
    details = error_details(error)
    shown = yield from _one_text(str(error), "", details)
    details["error"] = error.to_details()
    return replace(shown, is_error=True)


def error_details(error: WebToolsError) -> dict[str, Any]:
    """Give the details of a call that failed."""
    details: dict[str, Any] = {"provider": error.provider, "results": [], "warnings": []}
    details |= {"result_count": 0, "cost_usd": None, "cost_is_estimate": False}
    return details | {"truncation": None, "full_output_path": None, "error": error.to_details()}


def answer(flow: Flow[ToolResult]) -> Flow[ToolResult]:
    """Turn the errors of a tool call into its result."""
    try:
        return (yield from flow)
    except WebToolsError as error:
        failed = error
    return (yield from present_error(failed))


def _one_text(text: str, footer: str, details: dict[str, Any]) -> Flow[ToolResult]:
    if not footer and len(text) <= _SURELY_FITS and text.count("\n") < MAX_LINES:
        return _result(text, "", details, None, None)
    foot = _fitted_footer(footer)
    cut = fit(text, *_room(foot))
    if not cut.truncated:
        return _result(text, foot, details, None, None)
    path = yield Offload(lambda: save(text))
    return _result(cut.content, foot, details, cut, path)


def _fitted_footer(footer: str) -> str:
    cut = fit(footer, _FOOTER_LINES, _FOOTER_BYTES)
    left_out = cut.total_lines - cut.output_lines
    return f"{cut.content}\n… and {left_out} more" if left_out else cut.content


def _room(footer: str) -> tuple[int, int]:
    """Lines and bytes left for the text above a footer."""
    if not footer:
        return MAX_LINES, MAX_BYTES
    return (
        MAX_LINES - footer.count("\n") - 1 - _SEPARATOR.count("\n"),
        MAX_BYTES - len(footer.encode("utf-8", "surrogatepass")) - len(_SEPARATOR),
    )


def _result(
    text: str,
    footer: str,
    details: dict[str, Any],
    cut: Truncation | None,
    path: str | None,
) -> ToolResult:
    parts = [text]
    if cut is not None:
        parts.append(
            notice(cut.output_lines, cut.total_lines, cut.output_bytes, cut.total_bytes, path)
        )
    if footer:
        parts.append(footer)
    details["truncation"] = cut.to_details() if cut is not None else None
    details["full_output_path"] = path
    details["error"] = None
    return ToolResult(_SEPARATOR.join(parts), details)


def cut_facts(truncation: dict[str, Any]) -> dict[str, int]:
    """Give the sizes before and after a cut, for the log."""
    return {
        "shown_bytes": truncation["output_bytes"],
        "total_bytes": truncation["total_bytes"],
        "shown_lines": truncation["output_lines"],
        "total_lines": truncation["total_lines"],
    }


def _cut_of(shown: str, whole: str) -> Truncation:
    """Describe what sharing the budget left of the whole text."""
    kept, total = fit(shown, MAX_LINES, MAX_BYTES), fit(whole, MAX_LINES, MAX_BYTES)
    return Truncation(
        content=shown,
        truncated=True,
        truncated_by=total.truncated_by or "bytes",
        total_lines=total.total_lines,
        total_bytes=total.total_bytes,
        output_lines=kept.total_lines,
        output_bytes=kept.total_bytes,
        last_line_partial=False,
        first_line_exceeds_limit=False,
        max_lines=MAX_LINES,
        max_bytes=MAX_BYTES,
    )


Presenter = Callable[[Any], Flow[ToolResult]]
PRESENTERS: dict[str, Presenter] = {
    "web_search": present_search,
    "web_fetch": present_pages,
    "summarize": present_summary,
    "web_research": present_research,
}
