"""Tool results: text for a model and details for programs, for failures too.

Text from the web is fenced as the settings say (`_fencing`): with "pages" what pages say, also
where it comes with results, summaries, answers with their sources, and the parts that are read on;
with "all" also search results and errors of providers. What is ours stands outside: notices, how
sure one may be, warnings. Where these quote the web, and where results and errors are not fenced,
marks of a fence are defused.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from webtools import formatting
from webtools._internal.io.runtime import IO
from webtools._internal.output.stored import claim, handle_of, save
from webtools._internal.pipeline.tool_call import Call
from webtools._internal.text import fencing
from webtools._internal.text.choices import Fence
from webtools._internal.text.fencing import wrapping
from webtools.config.accounts import output_owner
from webtools.errors import ProviderError, RequestError, WebToolsError
from webtools.formatting import BriefPage
from webtools.results import (
    FetchResponse,
    Page,
    ReadResponse,
    ResearchEnvelope,
    SearchResponse,
    SummaryResponse,
)
from webtools.tools import Tool, ToolResult
from webtools.truncation import MAX_BYTES, MAX_LINES, Truncation, fit, fit_sections, notice

_SEPARATOR = "\n\n"
_SURELY_FITS = (MAX_BYTES - fencing.OVERHEAD) // 4  # characters: none has more than 4 bytes
_SURELY_FITTING_LINES = MAX_LINES - fencing.OVERHEAD_LINES
_FOOTER_BYTES = 8 * 1024  # most that errors and warnings may take of the budget
_FOOTER_LINES = 100
_NOT_CUT: dict[str, Any] = {
    "truncation": None,
    "full_output_path": None,
    "read_handle": None,
    "error": None,
}


async def present(tool: Tool, function: Callable[[], Awaitable[Any]], call: Call) -> ToolResult:
    """Show what a tool's work brings; its failure is a result as well. A cut is logged."""
    fence = call.accounts.config.fence
    failed: WebToolsError | None = None
    result: ToolResult | None = None
    try:
        response = await function()
        result = await PRESENTERS[tool.name](response, call.io, fence)
    except WebToolsError as error:
        failed = error
    if failed is not None:
        result = await present_error(failed, call.io, fence)
    assert result is not None  # noqa: S101  # either there is one, or a failure
    if path := result.details["full_output_path"]:
        await call.io.call_blocking(lambda: claim(path, output_owner(call.accounts)))
    if cut := result.details["truncation"]:
        call.log("truncation", **cut_facts(cut), path=result.details["full_output_path"])
        call.write_log()
    return replace(result, call_id=call.id) if call.id else result


async def present_search(response: SearchResponse, io: IO, fence: Fence = "pages") -> ToolResult:
    """Show results as a numbered list, then what failed and the warnings."""
    details = response.model_dump(mode="json")
    details["result_count"] = len(response.results)
    text, brief = formatting.search_text(response.results), partial(_brief_search, response)
    has_pages = any(result.content for result in response.results)
    if (fence == "all" and (response.results or response.errors)) or (fence != "off" and has_pages):
        failed = formatting.footer(response.errors, ())
        warned = formatting.footer((), response.warnings)
        shown = _Shown(text, fencing.fenced, failed, warned, brief)
    else:
        wrap = str if fence == "off" else fencing.defused
        is_odd = response.errors or response.warnings
        below = formatting.footer(response.errors, response.warnings) if is_odd else ""
        shown = _Shown(text, wrap, below=below, brief=brief)
    return await _one_text(shown, details, io)


def _brief_search(response: SearchResponse) -> str:
    return formatting.search_text(formatting.brief(response.results))


def _brief_research(envelope: ResearchEnvelope) -> str:
    results = formatting.brief(envelope.results)
    return formatting.research_text(envelope.model_copy(update={"results": results}))


async def present_summary(response: SummaryResponse, io: IO, fence: Fence = "pages") -> ToolResult:
    """Show the summary alone, and below it the warnings."""
    details = response.model_dump(mode="json", exclude={"text"})
    details |= {"results": [], "result_count": 0}
    below = formatting.footer((), response.warnings, [response.url])
    shown = _Shown(response.text, wrapping(fence, is_page=True), below=below)
    return await _one_text(shown, details, io)


async def present_pages(response: FetchResponse, io: IO, fence: Fence = "pages") -> ToolResult:
    """Show one section per page; where not all of it fits, the contents share the room fairly."""
    details = response.model_dump(mode="json")
    details["results"] = details.pop("pages")
    failed = sum(page.error is not None for page in response.pages)
    fetched = len(response.pages) - failed
    details |= {"result_count": fetched, "fetched_count": fetched, "failed_count": failed}
    whole = _SEPARATOR.join(formatting.page_sections(response))
    asked = [page.url for page in response.pages]
    below = _fitted_footer(formatting.footer((), response.warnings, asked))
    shown = _Shown(whole, wrapping(fence, is_page=True), below=below)
    if not fit(whole, *shown.room()).truncated:
        return _result(shown, details)
    text, cut = _shared(response.pages, whole, shown.room())
    path = await io.call_blocking(lambda: save(whole))
    return _result(replace(shown, text=text), details, replace(cut, path=path))


async def present_research(
    envelope: ResearchEnvelope, io: IO, fence: Fence = "pages"
) -> ToolResult:
    """Show the answer, the sources that it cites, the other ones, and how sure one may be."""
    details = envelope.model_dump(mode="json")
    meta = envelope.meta
    details |= {
        "provider": meta.provider_used,
        "result_count": len(envelope.results),
        "warnings": meta.warnings,
        "cost_usd": meta.cost_usd,
        "cost_is_estimate": meta.cost_is_estimate,
    }
    wrap = wrapping(fence if envelope.results else "off", is_page=True)
    text, below = formatting.research_text(envelope), formatting.research_footer(envelope)
    brief = partial(_brief_research, envelope)
    return await _one_text(_Shown(text, wrap, below=below, brief=brief), details, io)


async def present_part(response: ReadResponse, io: IO, fence: Fence = "pages") -> ToolResult:
    """Show a part of what was cut: exactly the part, for it was made to fit."""
    details = response.model_dump(mode="json")
    details |= {"characters": len(response.content), "results": [], "result_count": 0}
    details |= {"provider": None, "cost_usd": None, "cost_is_estimate": False}
    wrap, below = wrapping(fence, is_page=True), formatting.part_footer(response)
    shown = await _one_text(_Shown(response.content, wrap, below=below), details, io)
    details["read_handle"] = None if response.next_offset is None else response.handle
    return shown


async def present_error(error: WebToolsError, io: IO, fence: Fence = "pages") -> ToolResult:
    """Show an error as the text; the details say the same as data."""
    details = error_details(error)
    is_theirs = isinstance(error, (ProviderError, RequestError))
    wrap = wrapping(fence if is_theirs or fence == "off" else "pages", is_page=False)
    shown = await _one_text(_Shown(str(error), wrap), details, io)
    details["error"] = error.to_details()
    return replace(shown, is_error=True)


def error_details(error: WebToolsError) -> dict[str, Any]:
    """Return the details of a call that failed."""
    details: dict[str, Any] = {"provider": error.provider, "results": [], "warnings": []}
    details |= {"result_count": 0, "cost_usd": None, "cost_is_estimate": False}
    return details | _NOT_CUT | {"error": error.to_details()}


# --- within the budget -------------------------------------------------------------------------


@dataclass(slots=True)
class _Shown:
    """What a model is to read.

    Attributes:
        text: What may be cut.
        wrap: What is done with what came from the web.
        inside: What stands below the text and came from the web too.
        below: What is ours.
        brief: Gives the text to cut where not all of it fits; without, the text itself is cut.
    """

    text: str
    wrap: Callable[[str], str] = str
    inside: str = ""
    below: str = ""
    brief: Callable[[], str] | None = None

    def room(self) -> tuple[int, int]:
        """Return the lines and bytes left for the text."""
        lines, size = MAX_LINES, MAX_BYTES
        for beside in filter(None, (self.inside, self.below)):
            lines -= beside.count("\n") + 1 + _SEPARATOR.count("\n")
            size -= len(beside.encode("utf-8", "surrogatepass")) + len(_SEPARATOR)
        if self.wrap is fencing.fenced:
            return lines - fencing.OVERHEAD_LINES, size - fencing.OVERHEAD
        return lines, size


@dataclass(frozen=True, slots=True)
class _Cut:
    """What was cut, where the whole is, from where on it was not shown, and what is missing."""

    facts: Truncation
    path: str | None
    offset: int
    left_out: str = ""

    def told(self) -> str:
        facts = self.facts
        lines = facts.output_lines, facts.total_lines
        said = notice(*lines, facts.output_bytes, facts.total_bytes, self.path)
        handle = handle_of(self.path)
        pointer = formatting.pointer(handle, self.offset) if handle else ""
        return "\n".join(filter(None, [said, pointer, self.left_out]))


async def _one_text(shown: _Shown, details: dict[str, Any], io: IO) -> ToolResult:
    text = shown.text
    is_alone = not (shown.inside or shown.below)
    if is_alone and len(text) <= _SURELY_FITS and text.count("\n") < _SURELY_FITTING_LINES:
        return _result(shown, details)
    shown = replace(shown, inside=_fitted_footer(shown.inside), below=_fitted_footer(shown.below))
    cut = fit(text, *shown.room())
    if not cut.truncated:
        return _result(shown, details)
    offset = len(cut.content)
    if shown.brief is not None and (brief := shown.brief()) != text:
        kept = fit(brief, *shown.room())
        is_partial = kept.last_line_partial or not text.startswith(kept.content)
        cut, offset = _cut_of(kept.content, text, is_partial=is_partial), 0
    path = await io.call_blocking(lambda: save(text))
    shown = replace(shown, text=cut.content)
    return _result(shown, details, _Cut(cut, path, offset))


def _shared(pages: Sequence[Page], whole: str, room: tuple[int, int]) -> tuple[str, _Cut]:
    """Show the heads whole, and of the contents what fair shares of the rest allow."""
    sections = formatting.brief_pages(pages, room[1])
    cuts = _shared_contents(sections, *room)
    parts = zip((each.head for each in sections), (cut.content for cut in cuts), strict=True)
    text = _SEPARATOR.join([_SEPARATOR.join(filter(None, part)) for part in parts])
    is_partial = any(each.is_cut for each in sections) or any(cut.last_line_partial for cut in cuts)
    offset = 0  # of several pages one cannot say it
    if len(pages) == 1 and cuts and cuts[0].truncated:
        offset = len(whole) - len(sections[0].content) + len(cuts[0].content)
    missing = len(pages) - len(sections)
    left_out = formatting.pages_left_out(missing, len(pages)) if missing else ""
    return text, _Cut(_cut_of(text, whole, is_partial=is_partial), None, offset, left_out)


def _shared_contents(
    sections: Sequence[BriefPage], max_lines: int, max_bytes: int
) -> list[Truncation]:
    heads = [each.head + _SEPARATOR if each.content else each.head for each in sections]
    frame = fit(_SEPARATOR.join(heads), max_lines, max_bytes)
    count = len(sections)
    # The frame has the lines on which contents begin, and all that stands between two of them;
    # the line feed that is said to separate them is not there.
    lines = max_lines - frame.total_lines + count
    size = max_bytes - frame.total_bytes + count - 1
    return fit_sections([each.content for each in sections], "\n", lines, size)[1]


def _fitted_footer(footer: str) -> str:
    cut = fit(footer, _FOOTER_LINES, _FOOTER_BYTES)
    left_out = cut.total_lines - cut.output_lines
    return f"{cut.content}\n… and {left_out} more" if left_out else cut.content


def _result(shown: _Shown, details: dict[str, Any], cut: _Cut | None = None) -> ToolResult:
    body = _SEPARATOR.join(filter(None, [shown.text, shown.inside]))
    parts = [shown.wrap(body)] if body else []
    if cut is not None:
        parts.append(cut.told())
    if shown.below:
        parts.append(shown.below)
    details |= _NOT_CUT
    if cut is not None:
        details["truncation"], details["full_output_path"] = cut.facts.to_details(), cut.path
        details["read_handle"] = handle_of(cut.path) if cut.path else None
    return ToolResult(_SEPARATOR.join(parts), details)


def cut_facts(truncation: dict[str, Any]) -> dict[str, int]:
    """Return the sizes before and after a cut, for the log."""
    return {
        "shown_bytes": truncation["output_bytes"],
        "total_bytes": truncation["total_bytes"],
        "shown_lines": truncation["output_lines"],
        "total_lines": truncation["total_lines"],
    }


def _cut_of(shown: str, whole: str, *, is_partial: bool) -> Truncation:
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
        last_line_partial=is_partial,
        first_line_exceeds_limit=total.first_line_exceeds_limit,
        max_lines=MAX_LINES,
        max_bytes=MAX_BYTES,
    )


Presenter = Callable[[Any, IO, Fence], Awaitable[ToolResult]]
PRESENTERS: dict[str, Presenter] = {
    "web_search": present_search,
    "web_fetch": present_pages,
    "summarize": present_summary,
    "web_research": present_research,
    "web_read": present_part,
}
