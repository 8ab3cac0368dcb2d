"""Responses as Markdown without HTML: foreign text has no effect in it, whatever it holds."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import singledispatch
from typing import Any

from webtools.display.contents import outline
from webtools.display.outline import (
    Answer,
    Clip,
    Document,
    Extracts,
    Fact,
    Grid,
    Limits,
    Listing,
    Note,
    Outline,
    Place,
    Prose,
    Source,
)
from webtools.display.text import count, prose_and_code
from webtools.output.formatting import NO_RESULTS

_LIMITS = Limits(page=4000)
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
    shown = outline(response, _LIMITS)
    parts = [text for part in shown.parts for text in _part(part)]
    return "\n\n".join(filter(None, [_head(shown), *parts, shown.hidden, *map(_note, shown.notes)]))


def inert(text: str) -> str:
    """Write a text so that Markdown shows its characters and does nothing else with it."""
    marked = _SPECIAL.sub(lambda match: f"&#{ord(match[0])};", text)
    return _FORMULA.sub(r"`\g<0>`", marked)


def _line(text: str) -> str:
    """Write a text that stands at the start of a line."""
    if _AT_START.match(text):
        return f"&#{ord(text[0])};{inert(text[1:])}"
    return inert(text)


def _head(shown: Outline) -> str:
    about = f" “{inert(shown.subject)}”" if shown.subject else ""
    return f"**{inert(shown.kind)}**{about} · {' · '.join(map(_fact, shown.head()))}"


def _fact(fact: Fact) -> str:
    return f"**{inert(fact.text)}**" if fact.tone else inert(fact.text)


def _note(note: Note) -> str:
    return f"**{inert(note.label) or 'Note'}:** {inert(note.text)}"


@singledispatch
def _part(part: Any) -> Iterator[str]:
    raise TypeError(type(part).__name__)


@_part.register
def _(part: Listing) -> Iterator[str]:
    for query, found in part.groups:
        yield f"**“{inert(query)}”**" if query else ""
        yield _results(found)
    yield _more(part.hidden, "result")


@_part.register
def _(part: Answer) -> Iterator[str]:
    for claim in part.statements:
        for is_code, text in prose_and_code(claim.cited):
            yield from _verbatim(Clip(text)) if is_code else _prose(Clip(text), part.sources)
        yield claim.text.missing
        if claim.status.text not in {"", "quoted"}:
            quotations = "".join(f" “{inert(' '.join(text.split()))}”" for text in claim.quotations)
            yield f"&#40;{inert(claim.status.text)}{quotations}&#41;"


@_part.register
def _(part: Extracts) -> Iterator[str]:
    if part.folded:  # the head counts them
        return
    yield f"**{inert(part.title)}:**"
    for each in part.items:
        yield f"&#91;{each.number}&#93; {inert(each.heading)}"
        yield from _verbatim(each.text)


@_part.register
def _(part: Document) -> Iterator[str]:
    title = _link(part.title, part.place)
    if part.error:
        yield f"**Failed:** {title}: {inert(part.error)}"
        return
    yield f"**{title}**"
    yield from _prose(part.summary)
    yield "\n".join(f"- {_line(mark)}" for mark in part.highlights)
    yield from _verbatim(part.passages)
    yield from _verbatim(part.text)


@_part.register
def _(part: Prose) -> Iterator[str]:
    if part.place:
        yield _link(part.place.shown, part.place)
    yield from _verbatim(part.text) if part.verbatim else _prose(part.text)


@_part.register
def _(part: Grid) -> Iterator[str]:
    yield _table(part.heads, [tuple(map(inert, row)) for row in part.rows])


def _results(found: Iterable[Source]) -> str:
    rows = [(str(one.rank), _result(one), one.day, inert(one.provider)) for one in found]
    return _table(_RESULTS, rows) if rows else NO_RESULTS


def _result(found: Source) -> str:
    title = _link(found.title, found.place)
    shown = f"{title} ({inert(found.place.shown)})" if found.place.link is None else title
    return f"{shown} — {inert(found.snippet)}" if found.snippet else shown


def _link(text: str, where: Place) -> str:
    """Link a text to where it leads; without a link it may stand at the start of a line."""
    return f"[{inert(text)}]({where.link.translate(_IN_LINK)})" if where.link else _line(text)


def _table(heads: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    ruler = ("---",) * len(heads)
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (heads, ruler, *rows))


def _more(number: int, what: str) -> str:
    return f"… and {count(number, f'more {what}')}" if number > 0 else ""


def _prose(clip: Clip, cited: Sequence[Place] = ()) -> Iterator[str]:
    """Show prose; `[n]` becomes a link to the n-th source where there is one."""

    def cite(match: re.Match[str]) -> str:
        number = int(match[1])
        return _link(f"[{number}]", cited[number - 1]) if 0 < number <= len(cited) else match[0]

    lines = [_line(line.strip()) for line in clip.text.split("\n")]
    yield "\n".join(f"{_CITATION.sub(cite, line)}  " if line else "" for line in lines).rstrip()
    yield clip.missing


def _verbatim(clip: Clip) -> Iterator[str]:
    """Show a text as it is, in a fence longer than any that it holds."""
    longest = max((len(ticks) for ticks in _TICKS.findall(clip.text)), default=0)
    fence = "`" * max(longest + 1, 3)
    yield f"{fence}text\n{clip.text}\n{fence}" if clip.text else ""
    yield clip.missing
