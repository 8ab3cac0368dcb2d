"""Tool results, including failures: text for a model, and details for programs.

The setting `fence` decides which text from the web is fenced (`webtools.fencing`). "pages": the
contents of pages, including those in search results, summaries, research answers and parts of
stored outputs. "all": also search results and errors of providers. Our own text is outside the
fence: notices, confidence, warnings. In text from the web that is not fenced, fence marks are
defused.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from webtools import fencing, formatting
from webtools._internal.io.runtime import IO
from webtools._internal.late_imports import resolve
from webtools._internal.operations.search_filters import removed_warning
from webtools._internal.pages.usage import merge
from webtools._internal.pipeline.tool_call import Call
from webtools.choices import Fence
from webtools.config.accounts import output_owner
from webtools.errors import URL_NOT_SEEN, ProviderError, RequestError, WebToolsError
from webtools.fencing import fence_function
from webtools.formatting import BriefPage, NumberOf
from webtools.outputs import allow_reader, claim_output, handle_of, save_output
from webtools.results import (
    FetchResponse,
    Page,
    ReadResponse,
    SearchResponse,
    SiteMap,
    SummaryResponse,
)
from webtools.tools import ALL_TOOLS, ToolResult
from webtools.truncation import MAX_BYTES, MAX_LINES, Truncation, fit, fit_sections, notice

if TYPE_CHECKING:
    from webtools.results import ResearchEnvelope

_SEPARATOR = "\n\n"
_ALWAYS_FITS = (MAX_BYTES - fencing.OVERHEAD) // 4  # characters, which have up to 4 bytes each
_ALWAYS_FITTING_LINES = MAX_LINES - fencing.OVERHEAD_LINES
_FOOTER_BYTES = 8 * 1024  # share of errors and warnings in the budget
_FOOTER_LINES = 100
_UNCUT_DETAILS: dict[str, Any] = {
    "truncation": None,
    "full_output_path": None,
    "read_handle": None,
    "error": None,
}


async def present(outcome: Any, call: Call | None, io: IO) -> ToolResult:
    """Present the response of a tool or its `WebToolsError`. A cut is logged."""
    if call is None:  # it failed before it began
        return await present_error(outcome, io)
    fence = call.accounts.config.fence
    if isinstance(outcome, WebToolsError):
        result = await present_error(outcome, call.io, fence)
    else:
        result = await resolve(ALL_TOOLS[call.tool].presenter)(
            outcome, call.io, fence, call.number_of
        )
    path, truncation = result.details["full_output_path"], result.details["truncation"]
    if path:
        await call.io.call_blocking(lambda: _mark_output(path, call))
    if truncation:
        call.log(
            "truncation",
            shown_bytes=truncation["output_bytes"],
            total_bytes=truncation["total_bytes"],
            shown_lines=truncation["output_lines"],
            total_lines=truncation["total_lines"],
            path=path,
        )
        call.write_log()
    return ToolResult(result.text, result.details, result.is_error, call.id)


async def present_search(
    response: SearchResponse, io: IO, fence: Fence = "pages", number_of: NumberOf | None = None
) -> ToolResult:
    """Show results as a numbered list, then errors and warnings."""
    details = response.model_dump(mode="json")
    details["result_count"] = len(response.results)
    text = formatting.search_text(response.results, number_of=number_of)
    brief = partial(_brief_search, response, number_of)
    warnings = response.warnings
    if not response.results:  # then the filters are part of the answer
        reasons = removed_warning(response.removed)
        text = " ".join([text, *reasons])
        warnings = [warning for warning in warnings if warning not in reasons]
    has_pages = any(result.content for result in response.results)
    if (fence == "all" and (response.results or response.errors)) or (fence != "off" and has_pages):
        output = _Output(
            text,
            fencing.add_fence,
            inner_footer=formatting.footer(response.errors, ()),
            footer=formatting.footer((), warnings),
            brief=brief,
        )
    else:
        wrap = str if fence == "off" else fencing.defuse
        footer = formatting.footer(response.errors, warnings)
        output = _Output(text, wrap, footer=footer, brief=brief)
    return await _fit_text(output, details, io)


def _brief_search(response: SearchResponse, number_of: NumberOf | None) -> str:
    return formatting.search_text(formatting.brief(response.results), number_of=number_of)


def _brief_research(envelope: ResearchEnvelope, number_of: NumberOf | None) -> str:
    results = formatting.brief(envelope.results)
    return formatting.research_text(envelope.model_copy(update={"results": results}), number_of)


async def present_summary(
    response: SummaryResponse, io: IO, fence: Fence = "pages", number_of: NumberOf | None = None
) -> ToolResult:
    """Show the summary, then warnings."""
    details = response.model_dump(mode="json", exclude={"text"})
    details |= {"results": [], "result_count": 0}
    source = f"Source: [{number_of(response.url)}]" if number_of else ""
    warnings = formatting.footer((), response.warnings, [response.url])
    footer = "\n".join(filter(None, [source, warnings]))
    output = _Output(response.text, fence_function(fence, is_page=True), footer=footer)
    return await _fit_text(output, details, io)


async def present_pages(
    response: FetchResponse, io: IO, fence: Fence = "pages", number_of: NumberOf | None = None
) -> ToolResult:
    """Show one section per page. If they do not fit, the pages get fair shares of the space."""
    details = response.model_dump(mode="json")
    details["results"] = details.pop("pages")
    failed = sum(page.error is not None for page in response.pages)
    fetched = len(response.pages) - failed
    details |= {"result_count": fetched, "fetched_count": fetched, "failed_count": failed}
    details["usage"] = merge(*(page.usage for page in response.pages))
    shown = response if number_of is None else _numbered(response, number_of)
    full_sections = formatting.page_sections(shown)
    full_text = _SEPARATOR.join(full_sections)
    urls = [page.url for page in response.pages]
    footer = _fit_footer(formatting.footer((), response.warnings, urls))
    output = _Output(full_text, fence_function(fence, is_page=True), footer=footer)
    if not fit(full_text, *output.room()).truncated:
        return _result(output, details)
    text, cut = _share_pages(shown.pages, full_sections, output.room())
    path = await io.call_blocking(lambda: save_output(full_text))
    return _result(replace(output, text=text), details, replace(cut, path=path))


def _mark_output(path: str, call: Call) -> None:
    claim_output(path, output_owner(call.accounts))
    if call.reader:
        allow_reader(path, call.reader)


def _numbered(response: FetchResponse, number_of: NumberOf) -> FetchResponse:
    """Put the numbers of the pages before their titles, and quote no URL that was refused."""
    return response.model_copy(
        update={"pages": [_numbered_page(page, number_of) for page in response.pages]}
    )


def _numbered_page(page: Page, number_of: NumberOf) -> Page:
    if page.error is None:
        title = f"[{number_of(page.url)}] {page.title or page.url}"
        return page.model_copy(update={"title": title})
    return page.model_copy(update={"url": ""}) if page.error_code == URL_NOT_SEEN else page


async def present_research(
    envelope: ResearchEnvelope,
    io: IO,
    fence: Fence = "pages",
    number_of: NumberOf | None = None,
) -> ToolResult:
    """Show the answer, the sources that it cites, other sources, and the confidence."""
    details = envelope.model_dump(mode="json")
    meta = envelope.meta
    details |= {
        "provider": meta.provider_used,
        "result_count": len(envelope.results),
        "warnings": meta.warnings,
        "cost_usd": meta.cost_usd,
        "cost_is_estimate": meta.cost_is_estimate,
    }
    wrap = fence_function(fence if envelope.results else "off", is_page=True)
    text = formatting.research_text(envelope, number_of)
    footer = formatting.research_footer(envelope)
    brief = partial(_brief_research, envelope, number_of)
    return await _fit_text(_Output(text, wrap, footer=footer, brief=brief), details, io)


async def present_part(
    response: ReadResponse, io: IO, fence: Fence = "pages", _: NumberOf | None = None
) -> ToolResult:
    """Show a part of a stored output. It was cut to fit."""
    details = response.model_dump(mode="json")
    details |= {"characters": len(response.content), "results": [], "result_count": 0}
    details |= {"provider": None, "cost_usd": None, "cost_is_estimate": False}
    wrap, footer = fence_function(fence, is_page=True), formatting.part_footer(response)
    result = await _fit_text(_Output(response.content, wrap, footer=footer), details, io)
    details["read_handle"] = None if response.next_offset is None else response.handle
    return result


async def present_map(
    response: SiteMap, io: IO, fence: Fence = "pages", number_of: NumberOf | None = None
) -> ToolResult:
    """Show the pages of a site as a numbered list, then their number and warnings."""
    details = response.model_dump(mode="json", by_alias=True)
    details["results"] = details.pop("entries")
    details["result_count"] = len(response.entries)
    text = formatting.map_text(response.entries, is_numbered=number_of is None)
    footer = formatting.map_footer(response)
    output = _Output(text, fence_function(fence, is_page=True), footer=footer)
    return await _fit_text(output, details, io)


async def present_error(error: WebToolsError, io: IO, fence: Fence = "pages") -> ToolResult:
    """Show an error as text. The details have the same facts as data."""
    details = error_details(error)
    is_external = isinstance(error, (ProviderError, RequestError))
    wrap = fence_function(fence if is_external or fence == "off" else "pages", is_page=False)
    result = await _fit_text(_Output(str(error), wrap), details, io)
    details["error"] = error.to_details()
    return replace(result, is_error=True)


def error_details(error: WebToolsError) -> dict[str, Any]:
    """Return the details of a call that failed."""
    details: dict[str, Any] = {"provider": error.provider, "results": [], "warnings": []}
    details |= {"result_count": 0, "cost_usd": None, "cost_is_estimate": False}
    return details | _UNCUT_DETAILS | {"error": error.to_details()}


# --- within the budget -------------------------------------------------------------------------


@dataclass(slots=True)
class _Output:
    """Text for a model.

    Attributes:
        text: The text from the web, which can be cut.
        wrap: Fences, or defuses, text from the web.
        inner_footer: Text from the web below `text`, in the same fence. It is not cut.
        footer: Our own text, below the fence.
        brief: Returns a shorter text to cut if `text` does not fit. Default: `text` itself is cut.
    """

    text: str
    wrap: Callable[[str], str] = str
    inner_footer: str = ""
    footer: str = ""
    brief: Callable[[], str] | None = None

    def room(self) -> tuple[int, int]:
        """Return how many lines and bytes the text may have."""
        lines, size = MAX_LINES, MAX_BYTES
        for text in filter(None, (self.inner_footer, self.footer)):
            lines -= text.count("\n") + 1 + _SEPARATOR.count("\n")
            size -= len(text.encode("utf-8", "surrogatepass")) + len(_SEPARATOR)
        if self.wrap is fencing.add_fence:
            return lines - fencing.OVERHEAD_LINES, size - fencing.OVERHEAD
        return lines, size


@dataclass(frozen=True, slots=True)
class _Cut:
    """A cut.

    Attributes:
        facts: The sizes before and after.
        path: The file with the full text.
        offset: The first character that is not shown.
        left_out: Names the pages that are not shown at all.
    """

    facts: Truncation
    path: str | None
    offset: int
    left_out: str = ""

    def notice(self) -> str:
        facts = self.facts
        lines = facts.output_lines, facts.total_lines
        notice_line = notice(*lines, facts.output_bytes, facts.total_bytes, self.path)
        handle = handle_of(self.path)
        pointer = formatting.pointer(handle, self.offset) if handle else ""
        return "\n".join(filter(None, [notice_line, pointer, self.left_out]))


async def _fit_text(output: _Output, details: dict[str, Any], io: IO) -> ToolResult:
    text = output.text
    is_alone = not (output.inner_footer or output.footer)
    if is_alone and len(text) <= _ALWAYS_FITS and text.count("\n") < _ALWAYS_FITTING_LINES:
        return _result(output, details)
    output = replace(
        output, inner_footer=_fit_footer(output.inner_footer), footer=_fit_footer(output.footer)
    )
    cut = fit(text, *output.room())
    if not cut.truncated:
        return _result(output, details)
    offset = len(cut.content)
    if output.brief is not None and (brief := output.brief()) != text:
        brief_cut = fit(brief, *output.room())
        is_partial = brief_cut.last_line_partial or not text.startswith(brief_cut.content)
        cut, offset = _describe_cut(brief_cut.content, text, is_partial=is_partial), 0
    path = await io.call_blocking(lambda: save_output(text))
    output = replace(output, text=cut.content)
    return _result(output, details, _Cut(cut, path, offset))


def _share_pages(
    pages: Sequence[Page], full_sections: Sequence[str], room: tuple[int, int]
) -> tuple[str, _Cut]:
    """Show the heads of all pages in full, and cut their contents to fair shares."""
    sections = formatting.brief_pages(pages, room[1])
    cuts = _share_contents(sections, *room)
    parts = zip((section.head for section in sections), (cut.content for cut in cuts), strict=True)
    text = _SEPARATOR.join([_SEPARATOR.join(filter(None, part)) for part in parts])
    is_partial = any(section.is_cut for section in sections) or any(
        cut.last_line_partial for cut in cuts
    )
    full_text = _SEPARATOR.join(full_sections)
    offset = _first_cut(full_sections, sections, cuts)
    missing = len(pages) - len(sections)
    left_out = formatting.pages_left_out(missing, len(pages)) if missing else ""
    return text, _Cut(_describe_cut(text, full_text, is_partial=is_partial), None, offset, left_out)


def _first_cut(
    full_sections: Sequence[str], sections: Sequence[BriefPage], cuts: Sequence[Truncation]
) -> int:
    """Return where the first text that is not shown begins; 0 if only heads of pages are cut."""
    start = 0
    for full_section, section, cut in zip(full_sections, sections, cuts, strict=False):
        if cut.truncated:
            return start + len(full_section) - len(section.content) + len(cut.content)
        start += len(full_section) + len(_SEPARATOR)
    return start if len(sections) < len(full_sections) else 0


def _share_contents(
    sections: Sequence[BriefPage], max_lines: int, max_bytes: int
) -> list[Truncation]:
    heads = [section.head + _SEPARATOR if section.content else section.head for section in sections]
    frame = fit(_SEPARATOR.join(heads), max_lines, max_bytes)
    count = len(sections)
    # The frame includes the lines on which contents begin, and what separates them. So nothing is
    # spent on the line feed that `fit_sections` puts between sections.
    lines = max_lines - frame.total_lines + count
    size = max_bytes - frame.total_bytes + count - 1
    return fit_sections([section.content for section in sections], "\n", lines, size)[1]


def _fit_footer(footer: str) -> str:
    cut = fit(footer, _FOOTER_LINES, _FOOTER_BYTES)
    left_out = cut.total_lines - cut.output_lines
    return f"{cut.content}\n… and {left_out} more" if left_out else cut.content


def _result(output: _Output, details: dict[str, Any], cut: _Cut | None = None) -> ToolResult:
    body = _SEPARATOR.join(filter(None, [output.text, output.inner_footer]))
    parts = [output.wrap(body)] if body else []
    if cut is not None:
        parts.append(cut.notice())
    if output.footer:
        parts.append(output.footer)
    details |= _UNCUT_DETAILS
    if cut is not None:
        details["truncation"], details["full_output_path"] = cut.facts.to_details(), cut.path
        details["read_handle"] = handle_of(cut.path) if cut.path else None
    return ToolResult(_SEPARATOR.join(parts), details)


def _describe_cut(text: str, full_text: str, *, is_partial: bool) -> Truncation:
    """Describe a text that was made by cutting parts of the full text."""
    cut, total = fit(text, MAX_LINES, MAX_BYTES), fit(full_text, MAX_LINES, MAX_BYTES)
    return Truncation(
        content=text,
        truncated=True,
        truncated_by=total.truncated_by or "bytes",
        total_lines=total.total_lines,
        total_bytes=total.total_bytes,
        output_lines=cut.total_lines,
        output_bytes=cut.total_bytes,
        last_line_partial=is_partial,
        first_line_exceeds_limit=total.first_line_exceeds_limit,
        max_lines=MAX_LINES,
        max_bytes=MAX_BYTES,
    )
