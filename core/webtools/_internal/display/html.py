"""Draw responses as one HTML fragment that runs nothing and fetches nothing.

Foreign text in it is escaped, shortened, and without control, direction and invisible characters.
Pages and answers are drawn from Markdown in which HTML is text.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from functools import cache, singledispatch
from pathlib import Path
from typing import Any

from webtools._internal.display.contents import outline_of
from webtools._internal.display.elements import (
    Html,
    address_line,
    div,
    escape,
    fold,
    join,
    link,
    span,
    table,
    tag,
)
from webtools._internal.display.outline import (
    WHOLE,
    Address,
    Answer,
    Clip,
    Document,
    Extracts,
    Fact,
    Grid,
    Listing,
    Note,
    Outline,
    Prose,
    Source,
    Statement,
)
from webtools._internal.display.short_texts import count, more
from webtools.formatting import NO_RESULTS

_STYLE = Path(__file__).with_name("style.css")
_HEADS = ("#", "Result", "Date", "Source")
_CITATION = re.compile(r"(?<![^\s\]])\[(\d{1,3})\]")  # not an index, such as `argv[1]`
# Notebooks typeset formulas in outputs, and a formula can hold a link that runs a script.
_CLASSES = "webtools-shown tex2jax_ignore mathjax_ignore"


def draw(response: Any) -> str:
    """Draw a response: its errors, its content, and its warnings folded below."""
    outline = outline_of(response, WHOLE)
    # The anchors of two outputs in one notebook must differ.
    identity = f"{outline.subject}\n{outline.facts}".encode(errors="replace")
    anchor = f"webtools-{hashlib.sha256(identity).hexdigest()[:8]}"
    parts = [_part(part, anchor) for part in outline.parts]
    errors = [_note(note) for note in outline.notes if note.is_error]
    warnings = [_note(note) for note in outline.notes if not note.is_error]
    children = [
        _head(outline),
        *errors,
        *parts,
        div("more", outline.hidden),
        fold(_labels(outline.notes), *warnings),
    ]
    return wrapped(*children)


def wrapped(*children: str) -> str:
    """Return an output: its style, and its parts."""
    return str(tag("div", tag("style", _style()), *children, class_=_CLASSES))


@cache
def _style() -> Html:
    rules = _STYLE.read_text(encoding="utf-8").partition("*/")[2]
    return Html(" ".join(rules.replace("&", ".webtools-shown" * 2).split()))


def _head(outline: Outline) -> Html:
    is_url = outline.subject.startswith(("http:", "https:"))  # shown as a link below
    subject = tag("bdi", f"“{outline.subject}”") if outline.subject and not is_url else Html()
    title = div("head", join([span("kind", outline.kind), subject], " "))
    return join([title, div("facts", join(map(_fact, outline.head()), " · "))])


def _fact(fact: Fact) -> Html:
    text = tag("bdi", fact.text)
    return tag("span", text, class_=f"wt-pill wt-{fact.tone}") if fact.tone else text


def _labels(notes: list[Note]) -> Html:
    """Return the labels of the folded notes, and the number of warnings."""
    labels = [
        note.label for note in notes if not note.is_error and note.label not in {"", "Warning"}
    ]
    warnings = sum(note.label == "Warning" for note in notes)
    return join([*labels, count(warnings, "warning") if warnings else ""], " · ")


def _note(note: Note) -> Html:
    kind = "note wt-bad" if note.is_error else "note"
    label = f"{note.label}:" if note.label else ""
    return div(kind, join([span("label", label), tag("bdi", note.text)], " "))


@singledispatch
def _part(part: Any, _anchor: str) -> Html:
    raise TypeError(type(part).__name__)


@_part.register
def draw_listing(part: Listing, anchor: str) -> Html:
    row_anchor = anchor if part.title else ""
    rows = [row for query, sources in part.groups for row in _group(query, sources, row_anchor)]
    return join([table("results", _HEADS, rows), div("more", more(part.hidden, "result"))])


def _group(query: str, sources: list[Source], anchor: str) -> Iterator[Html]:
    if query:
        heading = tag("th", tag("bdi", f"“{query}”"), colspan="4", scope="colgroup")
        yield tag("tr", heading, class_="wt-group")
        if not sources:
            yield tag("tr", tag("td", NO_RESULTS, colspan="4"))
    yield from (_row(source, anchor) for source in sources)


def _row(source: Source, anchor: str) -> Html:
    title = div("title", link(source.title, source.address))
    snippet = div("snippet", tag("bdi", source.snippet) if source.snippet else "")
    cells = [
        tag("td", str(source.rank), class_="wt-rank"),
        tag("td", title, address_line(source.address), div("url", source.final_host), snippet),
        tag("td", source.day, class_="wt-day"),
        tag("td", source.provider, class_="wt-source"),
    ]
    return tag("tr", join(cells, " "), id=f"{anchor}-{source.rank}" if anchor else "")


@_part.register
def draw_answer(part: Answer, anchor: str) -> Html:
    return div(
        "answer", *(_statement(claim, anchor, len(part.sources)) for claim in part.statements)
    )


def _statement(claim: Statement, anchor: str, sources: int) -> Html:
    text = _draw_markdown(claim.cited, citations=(anchor, sources))
    quotations = [tag("blockquote", tag("bdi", text)) for text in claim.quotations]
    reasons = [div("reasons", claim.reasons)] if claim.reasons else []
    status = fold(_fact(claim.status), *reasons, *quotations) if claim.status.text else Html()
    return join([text, div("more", claim.text.missing), status])


@_part.register
def draw_extracts(part: Extracts, _anchor: str) -> Html:
    shown = [
        join([div("title", _heading(extract.number, extract.heading)), _clip(extract.text)])
        for extract in part.items
    ]
    parts = [*shown, div("more", more(part.hidden, "passage"))]
    if part.is_folded:
        return fold(f"{part.title} ({len(shown) + part.hidden})", *parts)
    return join([div("head", part.title), *parts])


def _heading(number: int, heading: str) -> Html:
    return join([f"[{number}]" if number else "", tag("bdi", heading) if heading else ""], " ")


@_part.register
def draw_document(part: Document, _anchor: str) -> Html:
    if part.error:
        label = span("label", "Failed:")
        return div("note wt-bad", link(part.title, part.address), " ", label, " ", part.error)
    facts = div("facts", join((tag("bdi", fact) for fact in part.facts), " · "))
    items = tag("ul", *(tag("li", tag("bdi", text)) for text in part.highlights))
    inside = [
        _clip(part.summary),
        items if part.highlights else "",
        _clip(part.passages),
        _clip(part.text, is_page=True),
    ]
    if part.is_alone:
        title = div("title", link(part.title, part.address) if part.title else "")
        where = address_line(part.address) if part.address.shown != part.title else ""
        return join([title, where, facts, div("alone", *inside)])
    head = join([span("title", tag("bdi", part.title)), facts])
    return fold(head, address_line(part.address), *inside)


@_part.register
def draw_prose(part: Prose, _anchor: str) -> Html:
    if not part.is_verbatim:
        return join([address_line(part.address) if part.address else "", _clip(part.text)])
    text = tag("pre", part.text.text, dir="auto") if part.text.text else Html()
    shown = join([text, div("more", part.text.missing)])
    return fold(span("title", part.title), shown) if part.title else shown


@_part.register
def draw_grid(part: Grid, _anchor: str) -> Html:
    cells = [
        [tag("td", text, class_=f"wt-{kind}") for kind, text in zip(part.kinds, row, strict=True)]
        for row in part.rows
    ]
    return table("plan", part.heads, (tag("tr", *row) for row in cells))


def _clip(clip: Clip, *, is_page: bool = False) -> Html:
    shown = _draw_markdown(clip.text, is_page=is_page) if clip.text else Html()
    return join([shown, div("more", clip.missing)])


def _draw_markdown(
    text: str, *, is_page: bool = False, citations: tuple[str, int] = ("", 0)
) -> Html:
    """Draw Markdown; `[n]` becomes a link to the n-th source, if there is one."""
    try:
        from webtools._internal.display.prose_markup import tokens  # noqa: PLC0415  markdown-it is optional
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "markdown_it":
            raise
        return div("text wt-plain", _link_citations(text, *citations), dir="auto")
    return div("text", _draw_tokens(tokens(text, is_page=is_page), citations), dir="auto")


def _link_citations(text: str, anchor: str, sources: int) -> Html:
    def cite(match: re.Match[str]) -> str:
        if not 0 < int(match[1]) <= sources:
            return match[0]
        return tag("a", match[0], href=f"#{anchor}-{int(match[1])}")

    return Html(_CITATION.sub(cite, escape(text)))


def _draw_tokens(tokens: list[Any], citations: tuple[str, int]) -> Html:
    return Html("".join(_element(token, citations) for token in tokens))


def _element(token: Any, citations: tuple[str, int]) -> str:
    """Draw a token. Only element names are copied from it unescaped."""
    if token.children is not None:
        return _draw_tokens(token.children, citations)
    if token.type in {"fence", "code_block"}:
        return tag("pre", tag("code", token.content.rstrip("\n")))
    if token.type == "code_inline":
        return tag("code", token.content)
    if token.type == "text":
        return _link_citations(token.content, *citations)
    if token.type in {"softbreak", "hardbreak"}:
        return "\n" if token.type == "softbreak" else "<br>"
    return _boundary(token)


def _boundary(token: Any) -> str:
    """Draw a start or end tag; paragraphs of tight lists have none."""
    if token.hidden:
        return ""
    if token.nesting < 0:
        return f"</{token.tag}>"
    if token.type == "link_open":
        return str(link("", Address("", token.attrs["href"]))).removesuffix("<bdi></bdi></a>")
    start = token.attrs.get("start")
    return f'<ol start="{int(start)}">' if start else f"<{token.tag}>"
