# ruff: noqa: RUF001  signs of other scripts are what this reads
"""The quotable units of a passage: sentences, definitions, rows, and code with its introduction.

Headings, lead-ins of lists and truncated sentences are not quotable.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from webtools._internal.grounding.blocks import REFERENCES, Block, heading_text, is_worded
from webtools._internal.grounding.evidence import normalize
from webtools._internal.grounding.segmentation import Span
from webtools._internal.grounding.sentences import is_whole, sentence_spans

_LONGEST = 700  # characters of a sentence or definition
_LONGEST_CODE = 900
_SHORTEST = 20
_SHORTEST_CJK = 6
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")
_MIN_WORDS = 0.4  # share of a sentence; lists of names, links and signatures have less
_RULE = re.compile(r"[|\s:-]*$")
_MARK = re.compile(r"(?::|[-*+•]|\d{1,3}[.)])\s+|#{1,6}\s+")
# Beginnings of sentences that depend on the sentence before.
LEANING = re.compile(
    r"[\s:#*>-]{0,9}(?:it|its|this|that|these|those|they|he|she|his|her|however|but"
    r"|and|also|such|then|therefore|thus|otherwise|instead|for example)\b",
    re.IGNORECASE,
)
_LEAD_IN = (":", "：", "::")
_SIGNATURE = re.compile(r"`[^`\n]+`[^\n]*|[\w.]+ ?\([^\n]*\)[^\n]*")  # on its own line
_LONGEST_SIGNATURE = 160
_LONGEST_JOINED = 400  # characters of sentences to quote together


_BARE_URL = re.compile(r"(?<!\]\()(?<!\w)https?://\S")
_LOWER_CASE = re.compile(r"[^\W\d_A-Z]+(?=[\s,])")


@dataclass(frozen=True, slots=True)
class Unit:
    """A slice of a text that can be quoted by itself.

    Attributes:
        span: The slice, with the headings and terms above it; its lead is its signature.
        kind: `sentence`, `definition`, `row` or `code`.
    """

    span: Span
    kind: str


def units_of(text: str, passage: Span) -> Iterator[Unit]:
    """Return the quotable units of a passage, in order."""
    return _Quotable(text, passage).read()


class _Quotable:
    """Reads a passage; `_path` has the headings and terms above the current block."""

    def __init__(self, text: str, passage: Span) -> None:
        self._text = text
        self._passage = passage
        self._path = passage.path
        self._terms: list[Block] = []

    def read(self) -> Iterator[Unit]:
        blocks = self._passage.blocks
        for number, block in enumerate(blocks):
            if block.kind == "heading":
                self._path = (*self._path, heading_text(self._text, block))
            elif block.kind == "term":
                self._terms.append(block)
            else:
                if self._terms:
                    self._path = (*self._path, heading_text(self._text, self._terms[-1]))
                next_block = blocks[number + 1] if number + 1 < len(blocks) else None
                path = self._path
                if block.kind == "prose" and number and self._is_signature(blocks[number - 1]):
                    self._path = (*path, heading_text(self._text, blocks[number - 1]))
                yield from self._block_units(block, next_block)
                self._path = path
                self._terms = []

    def _is_signature(self, block: Block) -> bool:
        """Return whether a paragraph is the signature of what the next one describes."""
        text = self._text[block.start : block.end]
        return (
            block.kind == "prose"
            and len(text) <= _LONGEST_SIGNATURE
            and not text.endswith((".", *_LEAD_IN))
            and _SIGNATURE.fullmatch(text) is not None
        )

    def _block_units(self, block: Block, next_block: Block | None) -> Iterator[Unit]:
        """Return the quotable units of a block."""
        if block.kind == "code" or any(map(REFERENCES.fullmatch, self._path)):
            return
        if block.kind == "row":
            yield from self._row(block)
            return
        if next_block is not None and next_block.kind == "code":
            yield from self._code(block, next_block)
        spans = sentence_spans(self._text, block.start + _mark_length(self._text, block), block.end)
        for number, (start, end) in enumerate(self._join(spans)):
            if self._terms and not number and end - self._terms[0].start <= _LONGEST:
                yield self._definition(end)
            elif is_sentence(self._text[start:end]):
                yield self._unit(start, end, "sentence")

    def _join(self, spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
        """Join sentences that depend on the one before, and those that describe a term."""
        joined: list[tuple[int, int]] = []
        for start, end in spans:
            previous = joined[-1] if joined else None
            is_leaning = self._terms or LEANING.match(self._text, start, end)
            if (
                previous
                and is_leaning
                and end - previous[0] <= _LONGEST_JOINED
                and is_sentence(self._text[slice(*previous)])
                and is_sentence(self._text[start:end])
            ):
                joined[-1] = previous[0], end
            else:
                joined.append((start, end))
        return joined

    def _row(self, block: Block) -> Iterator[Unit]:
        """Return a row without its outer bars, unless it is a rule or a header."""
        row = self._text[block.start : block.end]
        if _RULE.match(row) or not _SHORTEST <= len(row) <= _LONGEST:
            return
        below = self._text[block.end : block.end + 200].lstrip("\n").partition("\n")[0]
        if "-" in below and _RULE.match(below):
            return
        start = block.start + len(row) - len(row.lstrip("| "))
        end = block.end - (len(row) - len(row.rstrip("| ")))
        if start < end:
            yield self._unit(start, end, "row")

    def _code(self, block: Block, code: Block) -> Iterator[Unit]:
        """Return code with the sentence before it."""
        spans = sentence_spans(self._text, block.start + _mark_length(self._text, block), block.end)
        if spans and code.end - spans[-1][0] <= _LONGEST_CODE:
            yield self._unit(spans[-1][0], code.end, "code")

    def _definition(self, end: int) -> Unit:
        """Return a signature with its first sentence."""
        first, last = self._terms[0].start, self._terms[-1].end
        return Unit(Span(first, end, self._path[:-1], last, "term"), "definition")

    def _unit(self, start: int, end: int, kind: str) -> Unit:
        return Unit(Span(start, end, self._path, start, kind, self._passage.header), kind)


def is_sentence(text: str) -> bool:
    """Return whether a text is one whole sentence in words."""
    is_cjk = _CJK.search(text) is not None
    shortest = _SHORTEST_CJK if is_cjk else _SHORTEST
    if not shortest <= len(text) <= _LONGEST or text.endswith(_LEAD_IN):
        return False
    first = _LOWER_CASE.match(text)
    if (first and first[0].islower()) or _BARE_URL.search(text):
        return False
    return is_whole(text) and (is_cjk or is_worded(text, _MIN_WORDS))


def _mark_length(text: str, block: Block) -> int:
    """Return the length of the mark that begins an item or a definition."""
    match = _MARK.match(text, block.start, block.end)
    return match.end() - block.start if match else 0


def readable(text: str, kind: str) -> str:
    """Return a quotation on one line, without link addresses and footnotes; code as it is."""
    if kind == "code":
        return text
    return normalize(re.sub(r"\s*\n\s*:\s+", ": ", text))
