"""What of a passage can be quoted: whole sentences, definitions, rows, and code with its introduction.

Headings, lead-ins of lists and sentences that are cut off are none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from webtools.grounding.blocks import Block, heading_text, read_blocks
from webtools.grounding.segmentation import Span
from webtools.grounding.sentences import is_whole, sentence_spans

_LONGEST = 700  # characters of a sentence or definition
_LONGEST_CODE = 900
_SHORTEST = 20
_SHORTEST_CJK = 6
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")
_LETTERS = 0.4  # of what is prose
_RULE = re.compile(r"[|\s:-]*$")
_MARK = re.compile(r"(?::|[-*+•]|\d{1,3}[.)])\s+|#{1,6}\s+")
_LINK = re.compile(r"!?\[([^\[\]]{0,300})\]\([^()\s]{0,500}(?:\s[^()]{0,300})?\)")
_LEAD_IN = (":", "：", "::")


@dataclass(frozen=True, slots=True)
class Unit:
    """A slice of a text that may be quoted by itself.

    Attributes:
        span: The slice, under its headings and terms; its lead is a signature it holds.
        kind: `sentence`, `definition`, `row` or `code`.
    """

    span: Span
    kind: str


def units_of(text: str, passage: Span) -> Iterator[Unit]:
    """Return what can be quoted of a passage, in order."""
    slice_ = text[passage.start : passage.end]
    blocks = read_blocks(slice_)
    path = passage.path
    terms: list[Block] = []
    for block, following in pairwise([*blocks, None]):
        assert block is not None  # noqa: S101  only the last is None, and it leads no pair
        if block.kind == "heading":
            path = (*path, heading_text(slice_, block))
            continue
        if block.kind == "term":
            terms.append(block)
            continue
        if terms:
            path = (*path, heading_text(slice_, terms[-1]))
        yield from _units(slice_, passage, block, following, terms, path)
        terms = []


def _units(
    text: str,
    passage: Span,
    block: Block,
    following: Block | None,
    terms: list[Block],
    path: tuple[str, ...],
) -> Iterator[Unit]:
    """Return what can be quoted of one block."""
    if block.kind == "code":
        return
    if block.kind == "row":
        yield from _row(text, passage, block, path)
        return
    if following is not None and following.kind == "code":
        yield from _code(text, passage, block, following, path)
    spans = sentence_spans(text, block.start + _mark(text, block), block.end)
    for number, (start, end) in enumerate(spans):
        if terms and not number and end - terms[0].start <= _LONGEST:
            yield _unit(passage, terms[0].start, end, path[:-1], terms[-1].end, "definition")
        elif is_sentence(text[start:end]):
            yield _unit(passage, start, end, path, start, "sentence")


def is_sentence(text: str) -> bool:
    """Tell whether a text is one whole sentence in words."""
    shortest = _SHORTEST_CJK if _CJK.search(text) else _SHORTEST
    if not shortest <= len(text) <= _LONGEST or text.endswith(_LEAD_IN):
        return False
    return is_whole(text) and sum(map(str.isalpha, text)) >= _LETTERS * len(text)


def _mark(text: str, block: Block) -> int:
    """Return the length of the mark that begins an item or a definition."""
    match = _MARK.match(text, block.start, block.end)
    return match.end() - block.start if match else 0


def _row(text: str, passage: Span, block: Block, path: tuple[str, ...]) -> Iterator[Unit]:
    """Return a row between its outer bars; a rule or a header is none."""
    row = text[block.start : block.end]
    if _RULE.match(row) or len(row) > _LONGEST or len(row) < _SHORTEST:
        return
    below = text[block.end : block.end + 200].lstrip("\n").partition("\n")[0]
    if below and "-" in below and _RULE.match(below):
        return
    start = block.start + len(row) - len(row.lstrip("| "))
    end = block.end - (len(row) - len(row.rstrip("| ")))
    if start < end:
        yield _unit(passage, start, end, path, start, "row")


def _code(
    text: str, passage: Span, block: Block, code: Block, path: tuple[str, ...]
) -> Iterator[Unit]:
    """Return code with the sentence before it."""
    start = sentence_spans(text, block.start + _mark(text, block), block.end)[-1:]
    if start and code.end - start[0][0] <= _LONGEST_CODE:
        yield _unit(passage, start[0][0], code.end, path, start[0][0], "code")


def _unit(
    passage: Span, start: int, end: int, path: tuple[str, ...], lead_end: int, kind: str
) -> Unit:
    at = passage.start
    shape = "term" if kind == "definition" else kind
    return Unit(Span(at + start, at + end, path, at + lead_end, shape, passage.header), kind)


def readable(text: str, kind: str) -> str:
    """Return a quotation as it is shown: one line, without the marks of Markdown; code as it is."""
    if kind == "code":
        return text
    text = re.sub(r"\s*\n\s*:\s+", ": ", text)
    return " ".join(_LINK.sub(r"\1", text).split())
