"""Responses as Markdown without HTML: foreign text has no effect in it, whatever it holds."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import singledispatch
from typing import Any

from webtools.display.outline import (
    LONGEST_SENTENCE,
    LONGEST_TITLE,
    MOST_ROWS,
    Outline,
    Place,
    Source,
    groups,
    name,
    outline,
    place,
    plan_rows,
    source,
)
from webtools.display.text import count, cut, cut_lines, prose_and_code
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

_LONGEST_PAGE = 4000
_LONGEST_SUMMARY = 20_000
_MOST_HIGHLIGHTS = 20
# Characters that begin something in Markdown, or a bare link.
_SPECIAL = re.compile(r"[*_`\[\]<>&|~#{}^@]|:(?=//)|(?<=www)\.", re.IGNORECASE)
_AT_START = re.compile(r"[+=\-\d]")  # a list, a heading, a rule
# A formula may hold a link that runs a script; formulas are not looked for in code.
_FORMULA = re.compile(r"[$\\]+")
_IN_LINK = str.maketrans(
    {"|": "%7C", "`": "%60", "$": "%24", "(": "%28", ")": "%29", "{": "%7B", "}": "%7D"}
    | {"&": "&amp;", "<": "%3C", ">": "%3E", "\\": "%5C"}
)
# A mark as `inert` writes `[n]`; not an index, such as `argv[1]`.
_CITATION = re.compile(r"(?:(?<!\S)|(?<=&#93;))&#91;(\d{1,3})&#93;")
_TICKS = re.compile(r"`+")
_RESULTS = ("#", "Result", "Date", "Source")


def draw(response: Any) -> str:
    """Draw a response."""
    return "\n\n".join([_head(outline(response)), *filter(None, _content(response))])


def inert(text: str) -> str:
    """Write a text so that Markdown shows its characters and does nothing else with it."""
    marked = _SPECIAL.sub(lambda match: f"&#{ord(match[0])};", text)
    return _FORMULA.sub(r"`\g<0>`", marked)


def _line(text: str) -> str:
    """Write a text that stands at the start of a line."""
    if _AT_START.match(text):
        return f"&#{ord(text[0])};{inert(text[1:])}"
    return inert(text)


@singledispatch
def _content(response: Any) -> Iterator[str]:
    raise TypeError(type(response).__name__)


@_content.register
def _(response: SearchResponse) -> Iterator[str]:
    several = len(response.queries) > 1
    for query, found in groups(response):
        if several:
            yield f"**“{inert(query)}”**"
        yield _results(found)
    yield _more(len(response.results), "result")


@_content.register
def _(response: FetchResponse) -> Iterator[str]:
    for page in response.pages[:MOST_ROWS]:
        yield from _page(page)
    yield _more(len(response.pages), "page")


@_content.register
def _(response: SummaryResponse) -> Iterator[str]:
    yield _link(cut(response.url, LONGEST_TITLE), place(response.url))
    yield from _prose(response.text)


@_content.register
def _(response: ReadResponse) -> Iterator[str]:
    yield from _verbatim(response.content, MAX_BYTES)


@_content.register
def _(response: ResearchEnvelope) -> Iterator[str]:
    rule = inert(cut(response.meta.confidence_rule, LONGEST_SENTENCE))
    yield f"**{inert(name(response.meta.confidence))} confidence**{f' · {rule}' if rule else ''}"
    if response.synthesis is not None:
        titles = {result.url: result.title for result in response.results[:MOST_ROWS]}
        urls = response.synthesis.citations[:MOST_ROWS]
        for is_code, part in prose_and_code(response.synthesis.summary[:_LONGEST_SUMMARY]):
            cited = [place(url) for url in urls]
            yield from _verbatim(part, _LONGEST_SUMMARY) if is_code else _prose(part, cited)
        yield "\n".join(
            f"{number}. {_cited(titles.get(url), url)}" for number, url in enumerate(urls, 1)
        )
    yield _results([source(n, item) for n, item in enumerate(response.results[:MOST_ROWS], 1)])
    yield _more(len(response.results), "result")


@_content.register
def _(response: ResearchPlan) -> Iterator[str]:
    rows = [tuple(map(inert, row)) for row in plan_rows(response)]
    yield _table(("Provider", "Type", "Task", "At most", "State"), rows)


@_content.register
def _(response: ToolResult) -> Iterator[str]:
    if not response.is_error:
        yield from _verbatim(response.text, _LONGEST_PAGE)


def _head(head: Outline) -> str:
    about = f" “{inert(head.subject)}”" if head.subject else ""
    facts = " · ".join(inert(fact) for fact in head.facts if fact)
    notes = [f"**{inert(note.label) or 'Note'}:** {inert(note.text)}" for note in head.notes]
    return "\n\n".join([f"**{inert(head.kind)}**{about} · {facts}", *notes])


def _results(found: Iterable[Source]) -> str:
    rows = [(str(one.rank), _result(one), one.day, inert(one.provider)) for one in found]
    return _table(_RESULTS, rows) if rows else "No results found."


def _result(found: Source) -> str:
    title = _link(found.title, found.place)
    shown = f"{title} ({inert(found.place.shown)})" if found.place.link is None else title
    return f"{shown} — {inert(found.snippet)}" if found.snippet else shown


def _cited(title: Any, url: str) -> str:
    return _link(cut(title, LONGEST_TITLE) or cut(url, LONGEST_TITLE), place(url))


def _link(text: str, where: Place) -> str:
    """Link a text to where it leads; without a link it may stand at the start of a line."""
    return f"[{inert(text)}]({where.link.translate(_IN_LINK)})" if where.link else _line(text)


def _table(heads: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    ruler = ("---",) * len(heads)
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (heads, ruler, *rows))


def _more(number: int, what: str) -> str:
    hidden = number - MOST_ROWS
    return f"… and {count(hidden, f'more {what}')}" if hidden > 0 else ""


def _page(page: Page) -> Iterator[str]:
    title = _link(cut(page.title or page.url, LONGEST_TITLE), place(page.url))
    if page.error is not None:
        reason = inert(cut(page.error, LONGEST_SENTENCE)) or "no reason given"
        yield f"**Failed:** {title}: {reason}"
        return
    yield f"**{title}**"
    yield from _prose(page.summary)
    marks = [_line(cut(text, LONGEST_SENTENCE)) for text in page.highlights[:_MOST_HIGHLIGHTS]]
    yield "\n".join(f"- {mark}" for mark in marks)
    yield from _verbatim(passages_section(page), _LONGEST_PAGE)
    yield from _verbatim(page.text, _LONGEST_PAGE)


def _prose(text: Any, cited: Sequence[Place] = ()) -> Iterator[str]:
    """Show prose; `[n]` becomes a link to the n-th source where there is one."""
    shown, missing = cut_lines(text, _LONGEST_SUMMARY)

    def cite(match: re.Match[str]) -> str:
        number = int(match[1])
        return _link(f"[{number}]", cited[number - 1]) if 0 < number <= len(cited) else match[0]

    lines = [_line(line.strip()) for line in shown.split("\n")]
    yield "\n".join(f"{_CITATION.sub(cite, line)}  " if line else "" for line in lines).rstrip()
    yield missing


def _verbatim(raw: str | None, most: int) -> Iterator[str]:
    """Show a text as it is, in a fence longer than any that it holds."""
    text, missing = cut_lines(raw, most)
    longest = max((len(ticks) for ticks in _TICKS.findall(text)), default=0)
    fence = "`" * max(longest + 1, 3)
    yield f"{fence}text\n{text}\n{fence}" if text else ""
    yield missing
