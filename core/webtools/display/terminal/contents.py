"""The lines of an outline: a blank one stands between facts, answer, sources and notes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import singledispatch
from itertools import chain
from typing import Any

from rich.text import Text

from webtools.display.outline import (
    Answer,
    Clip,
    Document,
    Extracts,
    Fact,
    Listing,
    Note,
    Outline,
    Prose,
    Source,
)
from webtools.display.terminal.block import Line, line, url_text
from webtools.display.terminal.markup import MarkedUp
from webtools.display.terminal.styles import BAD, GOOD, MUTED, TITLE, TONES, WARN
from webtools.display.text import count
from webtools.output.formatting import NO_RESULTS

_INDENT = "    "


def head(shown: Outline, *, brief: bool, seconds: float | None = None) -> Text:
    """Return what is known in a few words, on one line."""
    facts = shown.head(brief=brief)
    if seconds is not None:
        facts.append(Fact(f"{seconds:.1f} s"))
    words = [Text(fact.text, TONES.get(fact.tone, "")) for fact in facts]
    return Text(" · ").join(words)


def body(shown: Outline, *, brief: bool) -> list[Line]:
    """Return what follows the head.

    Args:
        shown: What there is to be shown.
        brief: Whether an agent's log is the place: of pages it gets no more than titles.
    """
    pages = [part for part in shown.parts if brief and isinstance(part, Document)]
    titles = [each for page in pages for each in (*_titled(page), *_clip(page.passages))]
    groups = [titles, *([*_part(part)] for part in shown.parts if part not in pages)]
    groups += [[line(shown.hidden, MUTED)] if shown.hidden else [], [*map(_note, shown.notes)]]
    return spaced(groups)


def spaced(groups: Iterable[list[Line]]) -> list[Line]:
    """Put a blank line before each group that is not empty."""
    return [*chain.from_iterable([line(""), *group] for group in groups if group)]


def _note(note: Note) -> Line:
    style = BAD if note.bad else WARN
    label = "" if note.label in {"", "Warning"} else f"{note.label}: "
    return Line(Text(f"{label}{note.text}", style), Text("✗ " if note.bad else "! ", style))


def _more(number: int, what: str) -> list[Line]:
    return [line(f"… and {count(number, f'more {what}')}", MUTED)] if number > 0 else []


@singledispatch
def _part(part: Any) -> Iterable[Line]:
    raise TypeError(type(part).__name__)


@_part.register
def _(part: Listing) -> Iterator[Line]:
    if part.title:
        yield line(f"{part.title}:", MUTED)
    for query, found in part.groups:
        if query:
            yield line(f'"{query}"', MUTED)
        for each in found:
            yield from _source(each)
        if not found:
            yield line(NO_RESULTS, "", _INDENT)
    yield from _more(part.hidden, "result")


def _source(found: Source) -> Iterator[Line]:
    mark = Text(f"{found.rank:>2}. ")
    if found.title == found.place.shown:
        yield Line(url_text(found.place), mark)
    else:
        yield Line(Text(found.title, TITLE), mark)
        yield Line(url_text(found.place), Text(_INDENT))
    if found.snippet:
        yield line(found.snippet, "", _INDENT)
    if known := " · ".join(filter(None, (found.day, found.author))):
        yield line(known, MUTED, _INDENT)


@_part.register
def _(part: Answer) -> Iterator[Line]:
    for number, claim in enumerate(part.statements):
        if number:
            yield line("")
        yield from _clip(Clip(claim.cited, claim.text.missing))
        if claim.status.text not in {"", "quoted"}:
            quotations = "".join(f" “{text}”" for text in claim.quotations)
            yield Line(
                Text(claim.status.text, TONES.get(claim.status.tone, "")).append(quotations, MUTED),
                Text("  "),
            )


@_part.register
def _(part: Extracts) -> Iterator[Line]:
    if part.folded:
        total = len(part.items) + part.hidden
        yield line(f"… and {count(total, 'passage')} of these pages", MUTED)
        return
    yield line(f"{part.title}:", MUTED)
    for each in part.items:
        yield line("")
        mark = f"[{each.number}] " if each.number else ""
        yield from [line(each.heading, TITLE, mark)] if mark or each.heading else []
        yield from _clip(each.text)


@_part.register
def _(part: Document) -> Iterator[Line]:
    yield from _titled(part)
    if part.error:
        return
    if part.facts:
        yield line(" · ".join(part.facts), MUTED, "  ")
    highlights = Clip("\n".join(f"- {text}" for text in part.highlights))
    texts = [_clip(each) for each in (part.summary, highlights, part.passages)]
    yield from spaced([*texts, _clip(part.text, is_page=True)])


def _titled(part: Document) -> Iterator[Line]:
    yield Line(url_text(part.place), Text("✗ ", BAD) if part.error else Text("✓ ", GOOD))
    if part.error:
        yield line(part.error, BAD, "  ")
        return
    if part.title != part.place.shown:
        yield line(part.title, TITLE, "  ")


@_part.register
def _(part: Prose) -> Iterator[Line]:
    if part.verbatim:
        yield from (line(text) for text in part.text.text.split("\n"))
        yield from [line(part.text.missing, MUTED)] if part.text.missing else []
    else:
        yield from _clip(part.text)


def _clip(clip: Clip, *, is_page: bool = False) -> list[Line]:
    lines = [Line(MarkedUp(clip.text, is_page=is_page))] if clip.text else []
    return lines + ([line(clip.missing, MUTED)] if clip.missing else [])
