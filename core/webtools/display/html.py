"""Responses as one HTML fragment that runs nothing and fetches nothing.

Whatever is foreign in it is plain text: escaped, cut, without control, direction and invisible
characters. A page's text is shown as it was read, never as markup.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from functools import singledispatch
from typing import Any

from webtools.display.elements import Html, address, div, escaped, joined, link, span, table, tag
from webtools.display.outline import (
    LONGEST_SENTENCE,
    LONGEST_TITLE,
    MOST_ROWS,
    Note,
    Outline,
    Source,
    groups,
    outline,
    place,
    plan_rows,
    source,
)
from webtools.display.style import STYLE
from webtools.display.text import count, cut, cut_lines, day, prose_and_code
from webtools.output.formatting import passages_section
from webtools.output.truncation import MAX_BYTES
from webtools.results import (
    FetchResponse,
    Page,
    ReadResponse,
    ResearchEnvelope,
    ResearchPlan,
    SearchResponse,
    SummaryResponse,
)
from webtools.tools import ToolResult

_ALL_PAGES_TEXT = 400_000
_LONGEST_PAGE = 40_000
_LONGEST_SUMMARY = 20_000
_MOST_HIGHLIGHTS = 20
_HEADS = ("#", "Result", "Date", "Source")
_CITATION = re.compile(r"(?<![^\s\]])\[(\d{1,3})\]")  # not an index, such as `argv[1]`
# Notebooks typeset formulas in outputs, and a formula can hold a link that runs a script.
_CLASSES = "webtools-shown tex2jax_ignore mathjax_ignore"


def draw(response: Any) -> str:
    """Draw a response."""
    head = _head(outline(response))
    return str(tag("div", tag("style", Html(STYLE)), head, *_content(response), class_=_CLASSES))


@singledispatch
def _content(response: Any) -> Iterator[Html]:
    raise TypeError(type(response).__name__)


@_content.register
def _(response: SearchResponse) -> Iterator[Html]:
    several = len(response.queries) > 1
    rows = [
        row for query, found in groups(response) for row in _group(query if several else "", found)
    ]
    if response.results or several:
        yield table("results", _HEADS, rows)
    else:
        yield div("text", "No results found.")
    yield _more(len(response.results), "result")


@_content.register
def _(response: FetchResponse) -> Iterator[Html]:
    pages = response.pages[:MOST_ROWS]
    most = min(_LONGEST_PAGE, _ALL_PAGES_TEXT // max(len(pages), 1))
    for page in pages:
        yield _failed_page(page) if page.error is not None else _page(page, most)
    yield _more(len(response.pages), "page")


@_content.register
def _(response: SummaryResponse) -> Iterator[Html]:
    yield address(place(response.url))
    yield _text(response.text)


@_content.register
def _(response: ReadResponse) -> Iterator[Html]:
    yield from _verbatim(response.content, MAX_BYTES)


@_content.register
def _(response: ResearchEnvelope) -> Iterator[Html]:
    anchor = _anchor(response)
    confidence = response.meta.confidence
    pill = tag("span", f"{confidence} confidence", class_=f"wt-pill wt-{confidence}")
    rule = span("fact", cut(response.meta.confidence_rule, LONGEST_SENTENCE))
    yield div("confidence", joined([pill, rule], " "))
    if response.synthesis is not None:
        citations = response.synthesis.citations[:MOST_ROWS]
        for is_code, part in prose_and_code(response.synthesis.summary[:_LONGEST_SUMMARY]):
            code = _verbatim(part, _LONGEST_SUMMARY)
            yield joined(code) if is_code else _text(part, anchor, len(citations))
        yield _cited(response, citations, anchor)
    rows = [_row(source(rank, item)) for rank, item in enumerate(response.results[:MOST_ROWS], 1)]
    yield table("results", _HEADS, rows) if rows else div("text", "No results found.")
    yield _more(len(response.results), "result")


@_content.register
def _(response: ResearchPlan) -> Iterator[Html]:
    kinds = ("name", "type", "task", "price", "state")
    rows = [
        tag(
            "tr",
            *(tag("td", text, class_=f"wt-{kind}") for kind, text in zip(kinds, row, strict=True)),
        )
        for row in plan_rows(response)
    ]
    yield table("plan", ("Provider", "Type", "Task", "At most", "State"), rows)


@_content.register
def _(response: ToolResult) -> Iterator[Html]:
    if not response.is_error:
        head = tag("summary", span("title", "What the model reads"))
        yield tag("details", head, tag("div", *_verbatim(response.text, MAX_BYTES)))


def _head(head: Outline) -> Html:
    subject = tag("bdi", f"“{head.subject}”") if head.subject else Html()
    first = div("head", joined([span("kind", head.kind), subject], " "))
    facts = div("facts", joined((tag("bdi", fact) for fact in head.facts if fact), " · "))
    return joined([first, facts, *map(_note, head.notes)])


def _note(note: Note) -> Html:
    kind = "note wt-bad" if note.bad else "note"
    label = f"{note.label}:" if note.label else ""
    return div(kind, joined([span("label", label), tag("bdi", note.text)], " "))


def _group(query: str, found: list[Source]) -> Iterator[Html]:
    if query:
        heading = tag("th", tag("bdi", f"“{query}”"), colspan="4", scope="colgroup")
        yield tag("tr", heading, class_="wt-group")
    if query and not found:
        yield tag("tr", tag("td", "No results found.", colspan="4"))
    yield from map(_row, found)


def _row(found: Source) -> Html:
    title = div("title", link(found.title, found.place))
    snippet = div("snippet", tag("bdi", found.snippet) if found.snippet else "")
    cells = [
        tag("td", str(found.rank), class_="wt-rank"),
        tag("td", title, address(found.place), snippet),
        tag("td", found.day, class_="wt-day"),
        tag("td", found.provider, class_="wt-source"),
    ]
    return tag("tr", joined(cells, " "))


def _more(number: int, what: str) -> Html:
    hidden = number - MOST_ROWS
    return div("more", f"… and {count(hidden, f'more {what}')}" if hidden > 0 else "")


def _failed_page(page: Page) -> Html:
    reason = cut(page.error, LONGEST_SENTENCE) or "no reason given"
    said = joined([span("label", "Failed:"), tag("bdi", reason)], " ")
    return div("note wt-bad", said, address(place(page.url)))


def _page(page: Page, most: int) -> Html:
    title = cut(page.title, LONGEST_TITLE) or cut(page.url, LONGEST_TITLE)
    length = count(len(page.text), "character") if page.text is not None else ""
    facts = [day(page.published_at), cut(page.author, 100), length]
    head = tag(
        "summary",
        span("title", tag("bdi", title)),
        div("facts", joined((tag("bdi", fact) for fact in facts if fact), " · ")),
    )
    return tag("details", head, tag("div", address(place(page.url)), *_page_parts(page, most)))


def _page_parts(page: Page, most: int) -> Iterator[Html]:
    if page.summary:
        yield _text(page.summary)
    if page.highlights:
        first = page.highlights[:_MOST_HIGHLIGHTS]
        yield tag("ul", *(tag("li", tag("bdi", cut(text, LONGEST_SENTENCE))) for text in first))
    yield from _verbatim(passages_section(page), most)
    yield from _verbatim(page.text, most)
    if not (page.summary or page.highlights or page.text or page.passages is not None):
        yield div("more", "The page has no content.")


def _verbatim(raw: str | None, most: int) -> Iterator[Html]:
    if raw:
        text, missing = cut_lines(raw, most)
        yield tag("pre", text, dir="auto")
        yield div("more", missing)


def _text(text: str, anchor: str = "", citations: int = 0) -> Html:
    """Show prose; `[n]` becomes a link to the n-th source where there is one."""
    shown, missing = cut_lines(text, _LONGEST_SUMMARY)

    def cite(match: re.Match[str]) -> str:
        if not 0 < int(match[1]) <= citations:
            return match[0]
        return tag("a", match[0], href=f"#{anchor}-{int(match[1])}")

    marked = Html(_CITATION.sub(cite, escaped(shown)))
    return joined([div("text", marked, dir="auto"), div("more", missing)])


def _cited(response: ResearchEnvelope, citations: Iterable[str], anchor: str) -> Html:
    titles = {
        result.url: cut(result.title, LONGEST_TITLE) for result in response.results[:MOST_ROWS]
    }
    items = [
        tag(
            "li",
            link(titles.get(url) or cut(url, LONGEST_TITLE), place(url)),
            id=f"{anchor}-{number}",
        )
        for number, url in enumerate(citations, 1)
    ]
    return tag("ol", *items, class_="wt-citations") if items else Html()


def _anchor(response: ResearchEnvelope) -> str:
    """Name the sources so that no other output of the notebook has the same names."""
    told = f"{response.meta.query}\n{response.meta.retrieved_at}".encode(errors="replace")
    return f"webtools-{hashlib.sha256(told).hexdigest()[:8]}"
