"""Responses as Markdown without HTML: foreign text has no effect in it, whatever it holds."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from webtools._internal.display.contents import outline
from webtools._internal.display.outline import Address, Answer, Limits, Outline
from webtools._internal.display.result_rows import Row, rows
from webtools._internal.display.text import prose_and_code

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
_BREAK = "  \n"


def draw(response: Any) -> str:
    """Draw a response: the rows of a terminal, with links."""
    shown = outline(response, _LIMITS)
    sources = [each for part in shown.parts if isinstance(part, Answer) for each in part.sources]
    blocks: list[str] = [_head(shown)]
    for row in rows(shown):
        if row.markup == "" and row.text and blocks[-1] and not blocks[-1].endswith("```"):
            blocks[-1] += _BREAK + _row(row)
        else:
            blocks += _blocks(row, sources) if row.markup else [_row(row)]
    return "\n\n".join(filter(None, blocks))


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
    return " · ".join(
        [f"**{inert(shown.kind)}**{about}", *(inert(fact.text) for fact in shown.head())]
    )


def _row(row: Row) -> str:
    mark = _line(row.marker.strip())
    text = _link(row.address.shown, row.address) if row.address else _line(row.text)
    text = f"**{text}**" if row.style == "title" and text else text
    return " ".join(filter(None, (mark, text)))


def _link(text: str, where: Address) -> str:
    """Link a text to where it leads; without a link it may stand at the start of a line."""
    return f"[{inert(text)}]({where.link.translate(_IN_LINK)})" if where.link else _line(text)


def _blocks(row: Row, sources: Sequence[Address]) -> Iterator[str]:
    """Show what is verbatim as it is, and of an answer the code; `[n]` leads to the n-th source."""
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
    """Put a text in a fence longer than any that it holds."""
    longest = max((len(ticks) for ticks in _TICKS.findall(text)), default=0)
    fence = "`" * max(longest + 1, 3)
    return f"{fence}text\n{text}\n{fence}" if text else ""
