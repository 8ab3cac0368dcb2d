# ruff: noqa: RUF001  signs of other scripts are what this reads
"""Reads a page's Markdown: its blocks, and the sentences in them. Every step is linear."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

Kind: TypeAlias = Literal["prose", "item", "heading", "code", "row"]

_FENCE = re.compile(r"[ ]{0,3}(`{3,}|~{3,})")
_HEADING = re.compile(r"[ ]{0,3}#{1,6}(?=\s|$)")
_ITEM = re.compile(r"\s{0,40}(?:[-*+•‣]|\d{1,3}[.)])(?=\s)")
_BULLETS = "-*+•‣"
_RULE = re.compile(r"\s{0,9}[-=_*~|:\s+]{3,}$")
_RULING = "-=_*~|:+"
_PROMPTS = (">>> ", "... ", "$ ")
_LONGEST_LINE = 20_000
_CODE_INDENT = 4

# A sign that may end a sentence, with what closes after it and the marks of citations.
_MARKS = "(?P<marks>\\s?\ue000\\d{1,6}\ue001){0,99}"
_END = re.compile(r"(?<![.!?…])[.!?…]{1,200}[\"'”’»)\]*_]{0,20}" + _MARKS + r"(?=\s|$)")
_CJK_END = re.compile(r"(?<![。！？｡])[。！？｡]{1,200}[」』）”’\"]{0,20}" + _MARKS)
_LAST_WORD = re.compile(r"[^\s(\[\"'“‘]{1,20}$")
_ABBREVIATIONS = frozenset(
    str.split("""
    e.g i.e eg ie etc vs cf ca approx dr mr mrs ms prof st no nos fig figs eq eqs sec secs ch pp p
    vol ed eds al inc ltd co corp jr sr dept gov gen col sgt capt rev hon messrs mt ft est min max
    u.s u.k u.n e.u d.c a.m p.m b.c a.d ph.d m.sc b.sc jan feb mar apr jun jul aug sep sept oct nov
    dec mon tue wed thu fri sat sun resp incl excl avg ver v z.b d.h u.a bzw usw nr bspw
""")
)
# Of these a sentence may well end: it does, when the next one begins with a capital.
_ENDING = frozenset({"etc", "inc", "ltd", "co", "corp", "a.m", "p.m", "u.s", "u.k", "al", "jr"})


@dataclass(frozen=True, slots=True)
class Block:
    """A part of a page: a paragraph, an item of a list, a heading, a line of code or a table.

    Attributes:
        kind: What it is.
        text: Its words, without the Markdown of the line.
        heading: The heading it stands under, or nothing.
    """

    kind: Kind
    text: str
    heading: str


class _Reader:
    """Takes lines one by one and gives the blocks that are complete."""

    def __init__(self) -> None:
        self.heading = ""
        self._kind: Kind = "prose"
        self._lines: list[str] = []
        self._fence = ""
        self._after_blank = True

    def take(self, line: str) -> Iterator[Block]:
        fence = _FENCE.match(line) if "```" in line or "~~~" in line else None
        if self._fence:
            yield from self._code_line(line, fence)
        elif fence:
            yield from self.flush()
            self._fence = fence[1]
        else:
            yield from self._text_line(line)
        self._after_blank = not line.strip()

    def flush(self) -> Iterator[Block]:
        if self._lines:
            yield Block(self._kind, " ".join(self._lines), self.heading)
            self._lines = []
        self._kind = "prose"

    def _code_line(self, line: str, fence: re.Match[str] | None) -> Iterator[Block]:
        if fence and fence[1].startswith(self._fence):
            self._fence = ""
        elif line.strip():
            yield Block("code", line.strip(), self.heading)

    def _text_line(self, line: str) -> Iterator[Block]:
        bare = line.strip()
        first = bare[:1]
        if not bare or (first in _RULING and _RULE.match(line)):
            yield from self.flush()
        elif first == "#" and (head := _HEADING.match(line)):
            yield from self.flush()
            self.heading = line[head.end() :].strip().rstrip("#").strip()
            yield Block("heading", self.heading, "")
        elif self._is_code(line, bare):
            yield from self.flush()
            yield Block("code", bare, self.heading)
        elif first == "|":
            yield from self.flush()
            yield Block("row", bare.strip("|").replace("|", ";"), self.heading)
        else:
            yield from self._prose_line(line, bare.lstrip("> ") if first == ">" else bare)

    def _prose_line(self, line: str, bare: str) -> Iterator[Block]:
        if (bare[:1] in _BULLETS or bare[:1].isdecimal()) and (item := _ITEM.match(line)):
            yield from self.flush()
            self._kind, bare = "item", line[item.end() :].strip()
        self._lines.append(bare)

    def _is_code(self, line: str, bare: str) -> bool:
        if bare.startswith(_PROMPTS):
            return True
        indented = self._after_blank and line[:_CODE_INDENT].isspace()
        return indented and not _ITEM.match(line)


def blocks(text: str) -> Iterator[Block]:
    """Read the blocks of a page; lines that are wrapped are one paragraph."""
    reader = _Reader()
    for line in text.splitlines():
        yield from reader.take(line[:_LONGEST_LINE])
    yield from reader.flush()


def sentence_ends(text: str) -> list[int]:
    """Give the places where sentences end, the marks of citations after them included.

    Marks are numbers between U+E000 and U+E001, which stand for what was there.
    """
    ends = _END.finditer(text)
    found = [match.end() for match in ends if match["marks"] or _ends_here(text, match)]
    if not text.isascii():
        found = sorted({*found, *(match.end() for match in _CJK_END.finditer(text))})
    return found


def _ends_here(text: str, match: re.Match[str]) -> bool:
    """Tell a full stop from the dot of an abbreviation; what goes on in lower case is one too."""
    after = text[match.end() : match.end() + 12].lstrip()
    following = after.lstrip("\"'“‘«([*_`")[:1]
    if not following:
        return True
    if after[:1].islower():
        return False
    if match[0][0] != "." or match[0].startswith(".."):
        return True
    last = _LAST_WORD.search(text, max(0, match.start() - 20), match.start())
    word = last[0].lower().strip("*_`") if last else ""
    if word in _ABBREVIATIONS:
        return word in _ENDING and not following.isdigit()
    return not (len(word) == 1 and word.isalpha() and last is not None and last[0].isupper())


def sentences(text: str) -> list[str]:
    """Cut a paragraph into its sentences."""
    starts = [0, *sentence_ends(text)]
    stops = [*starts[1:], len(text)]
    parts = (text[start:stop].strip() for start, stop in zip(starts, stops, strict=True))
    return [part for part in parts if part]
