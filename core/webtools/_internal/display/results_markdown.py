"""Draw responses as Markdown without HTML, in which foreign text is inert."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from webtools._internal.display.contents import outline_of
from webtools._internal.display.outline import Address, Answer, Limits, Outline
from webtools._internal.display.result_rows import Row, rows_of
from webtools._internal.display.short_texts import prose_and_code

_LIMITS = Limits(page=4000)
# Characters that begin something in Markdown, or a bare link.
_SPECIAL = re.compile(r"[*_`\[\]<>&|~#{}^@]|:(?=//)|(?<=www)\.", re.IGNORECASE)
_AT_START = re.compile(r"[+=\-\d]")  # a list, a heading, a rule
# A formula may hold a link that runs a script; code is not read as a formula.
_FORMULA = re.compile(r"[$\\]+")
_IN_LINK = str.maketrans(
    {"|": "%7C", "`": "%60", "$": "%24", "(": "%28", ")": "%29", "{": "%7B", "}": "%7D"}
    | {"&": "&amp;", "<": "%3C", ">": "%3E", "\\": "%5C"}
)
# A mark as `inert` writes `[n]`; not an index, such as `argv[1]`.
_CITATION = re.compile(r"(?:(?<!\S)|(?<=&#93;))&#91;(\d{1,3})&#93;")
_TICKS = re.compile(r"`+")
_BREAK = "  \n"


def draw(response: Any) -> str:
    """Draw a response: the rows that a terminal shows, with links."""
    outline = outline_of(response, _LIMITS)
    answers = [part for part in outline.parts if isinstance(part, Answer)]
    sources = [source for answer in answers for source in answer.sources]
    blocks: list[str] = [_head(outline)]
    for row in rows_of(outline):
        if row.markup == "" and row.text and blocks[-1] and not blocks[-1].endswith("```"):
            blocks[-1] += _BREAK + _row(row)
        else:
            blocks += _blocks(row, sources) if row.markup else [_row(row)]
    return "\n\n".join(filter(None, blocks))


def inert(text: str) -> str:
    """Escape a text so that Markdown shows its characters as they are."""
    marked = _SPECIAL.sub(lambda match: f"&#{ord(match[0])};", text)
    return _FORMULA.sub(r"`\g<0>`", marked)


def _line(text: str) -> str:
    """Escape a text at the start of a line."""
    if _AT_START.match(text):
        return f"&#{ord(text[0])};{inert(text[1:])}"
    return inert(text)


def _head(outline: Outline) -> str:
    about = f" “{inert(outline.subject)}”" if outline.subject else ""
    return " · ".join(
        [f"**{inert(outline.kind)}**{about}", *(inert(fact.text) for fact in outline.head())]
    )


def _row(row: Row) -> str:
    marker = _line(row.marker.strip())
    text = _link(row.address.shown, row.address) if row.address else _line(row.text)
    text = f"**{text}**" if row.style == "title" and text else text
    return " ".join(filter(None, (marker, text)))


def _link(text: str, address: Address) -> str:
    """Link a text to an address, if that may be linked."""
    return f"[{inert(text)}]({address.link.translate(_IN_LINK)})" if address.link else _line(text)


def _blocks(row: Row, sources: Sequence[Address]) -> Iterator[str]:
    """Fence pages and code; in the prose of an answer `[n]` links to the n-th source."""
    if row.markup != "answer":
        yield _verbatim(row.text)
        return
    for is_code, text in prose_and_code(row.text):
        yield _verbatim(text) if is_code else _prose(text, sources)


def _prose(text: str, sources: Sequence[Address]) -> str:
    def cite(match: re.Match[str]) -> str:
        number = int(match[1])
        return _link(f"[{number}]", sources[number - 1]) if 0 < number <= len(sources) else match[0]

    lines = [_line(line.strip()) for line in text.split("\n")]
    return "\n".join(f"{_CITATION.sub(cite, line)}  " if line else "" for line in lines).rstrip()


def _verbatim(text: str) -> str:
    """Put a text in a fence that is longer than any fence in it."""
    longest = max((len(ticks) for ticks in _TICKS.findall(text)), default=0)
    fence = "`" * max(longest + 1, 3)
    return f"{fence}text\n{text}\n{fence}" if text else ""
