"""The rows of an outline: plain text joins them, rich colours and wraps them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import singledispatch
from itertools import chain
from typing import Any

from webtools._internal.display.outline import (
    Address,
    Answer,
    Clip,
    Document,
    Extracts,
    Grid,
    Listing,
    Note,
    Outline,
    Prose,
    Source,
)
from webtools._internal.display.short_texts import more
from webtools.formatting import NO_RESULTS

_INDENT = "    "


@dataclass(frozen=True, slots=True)
class Row:
    """One line, or a longer text.

    Attributes:
        text: The text, or the URL.
        style: `title`, `muted`, `good`, `warn`, `bad` or none.
        marker: Text before it, such as a number.
        address: The URL that it shows.
        markup: Format of a longer text: `answer` and `page` are Markdown, `verbatim` is not.
    """

    text: str
    style: str = ""
    marker: str = ""
    address: Address | None = None
    markup: str = ""


def rows_of(outline: Outline, *, brief: bool = False) -> list[Row]:
    """Return the rows below the head, with a blank row before each part.

    Args:
        outline: The outline.
        brief: Whether to show only the titles and passages of pages.
    """
    titles, groups = list[Row](), list[list[Row]]()
    for part in outline.parts:
        if brief and isinstance(part, Document):
            titles += [*_title_rows(part), *_clip(part.passages)]
        else:
            groups.append([*_part(part)])
    notes = [_note(note) for note in outline.notes]
    return _space([titles, *groups, _muted_rows(outline.hidden), notes])


def _space(groups: Iterable[list[Row]]) -> list[Row]:
    return [*chain.from_iterable([Row(""), *group] for group in groups if group)]


def _muted_rows(text: str) -> list[Row]:
    return [Row(text, "muted")] if text else []


def _note(note: Note) -> Row:
    label = "" if note.label in {"", "Warning"} else f"{note.label}: "
    style, marker = ("bad", "✗ ") if note.is_error else ("warn", "! ")
    return Row(f"{label}{note.text}", style, marker)


@singledispatch
def _part(part: Any) -> Iterable[Row]:
    raise TypeError(type(part).__name__)


@_part.register
def listing_rows(part: Listing) -> Iterator[Row]:
    if part.title:
        yield Row(f"{part.title}:", "muted")
    for number, (query, sources) in enumerate(part.groups):
        if number:
            yield Row("")
        if query:
            yield Row(f'"{query}"', "muted")
        for source in sources:
            yield from _source(source)
        if not sources:
            yield Row(NO_RESULTS, marker=_INDENT)
    yield from _muted_rows(more(part.hidden, "result"))


def _source(source: Source) -> Iterator[Row]:
    marker = f"{source.rank:>2}. "
    if source.title != source.address.shown:
        yield Row(source.title, "title", marker)
        marker = _INDENT
    yield Row(source.address.shown, marker=marker, address=source.address)
    if source.snippet:
        yield Row(source.snippet, marker=_INDENT)
    if facts := " · ".join(filter(None, (source.day, source.author, source.final_host))):
        yield Row(facts, "muted", _INDENT)


@_part.register
def answer_rows(part: Answer) -> Iterator[Row]:
    for number, claim in enumerate(part.statements):
        if number:
            yield Row("")
        yield from _clip(Clip(claim.cited, claim.text.missing), "answer")
        if claim.status.text not in {"", "quoted"}:
            quotations = [f"“{' '.join(text.split())}”" for text in claim.quotations]
            words = " ".join(filter(None, [f"{claim.status.text}:", claim.reasons, *quotations]))
            yield Row(words, claim.status.tone or "muted", "  ")


@_part.register
def extract_rows(part: Extracts) -> Iterator[Row]:
    if part.is_folded:  # not shown on a terminal
        return
    yield Row(f"{part.title}:", "muted")
    for extract in part.items:
        mark = f"[{extract.number}] " if extract.number else ""
        yield Row("")
        yield Row(extract.heading, "title", mark)
        yield from _clip(extract.text, "answer")


@_part.register
def document_rows(part: Document) -> Iterator[Row]:
    yield from _title_rows(part)
    if part.error:
        return
    if part.facts:
        yield Row(" · ".join(part.facts), "muted", "  ")
    highlights = Clip("\n".join(f"- {text}" for text in part.highlights))
    texts = [_clip(text, "answer") for text in (part.summary, highlights, part.passages)]
    yield from _space([*texts, _clip(part.text, "page")])


def _title_rows(part: Document) -> Iterator[Row]:
    marker = "" if part.is_alone else "✓ "
    if part.error:
        marker = "✗ "
    url = part.address.shown
    if url:
        yield Row(url, marker=marker, address=part.address)
    if part.error:
        yield Row(part.error, "bad", "  ")
    elif part.title != url:
        yield Row(part.title, "title", "  ")


@_part.register
def prose_rows(part: Prose) -> Iterator[Row]:
    yield from _clip(part.text, "verbatim" if part.is_verbatim else "answer")


@_part.register
def grid_rows(part: Grid) -> Iterator[Row]:
    yield from (Row(" · ".join(row)) for row in part.rows)


def _clip(clip: Clip, markup: str = "answer") -> list[Row]:
    return [*([Row(clip.text, markup=markup)] if clip.text else []), *_muted_rows(clip.missing)]
