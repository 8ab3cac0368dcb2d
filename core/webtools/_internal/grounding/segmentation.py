# ruff: noqa: RUF001  signs of other scripts are what this reads
"""Cut a page into passages along its structure.

A heading or signature stays with the text under it, code with the sentence that introduces it, an
item with its list's lead-in, table rows with the table's header.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from webtools._internal.grounding.blocks import Block, heading_text, read_blocks
from webtools._internal.grounding.sentences import sentence_spans

MAX_PASSAGE = 600  # characters of a passage, except code and single rows
MAX_CODE = 6000  # characters of code that stay in one passage
_TERM_LEVEL = 10  # terms are below all headings, ordered by indentation
_RULE_SIGNS = frozenset("|-: \t+=")


@dataclass(frozen=True, slots=True)
class Span:
    """A passage as a slice of its page.

    Attributes:
        start: Start in the page.
        end: End.
        path: Headings and terms above it, outermost first, without its own.
        lead_end: End of its own heading or signature; `start` if it has none.
        header: Position of the header of its table, if that is in an earlier passage.
        blocks: Its blocks; empty for a unit of a passage.
        is_code: Whether it is a unit of code with its introduction.
    """

    start: int
    end: int
    path: tuple[str, ...]
    lead_end: int
    header: tuple[int, int] | None = None
    blocks: tuple[Block, ...] = field(default=(), repr=False)
    is_code: bool = False


def cut(text: str, limit: int = MAX_PASSAGE) -> list[Span]:
    """Return the passages of a page in order; none is empty."""
    return _Cutter(text, limit).cut()


class _Cutter:
    def __init__(self, text: str, limit: int) -> None:
        self._text = text
        self._limit = limit
        self._path: list[tuple[int, str]] = []
        self._lead: list[Block] = []  # headings or terms before their text
        self._blocks: list[Block] = []  # blocks of the current passage
        self._outer_path: tuple[str, ...] = ()  # path of the current passage
        self._spans: list[Span] = []
        self._header: tuple[int, int] | None = None

    def cut(self) -> list[Span]:
        blocks = read_blocks(self._text)
        for above, block, below in zip((None, *blocks), blocks, (*blocks[1:], None), strict=False):
            if block.kind == "heading":
                self._take_heading(block)
            elif block.kind == "term":
                self._take_term(block)
            elif block.kind == "row":
                self._take_row(block, above, below)
            else:
                if not (block.kind == "code" and self._blocks):  # code belongs to the block above
                    self._leave_terms(block.indent)
                self._take(block)
        self._flush()
        return self._spans

    def _take_heading(self, block: Block) -> None:
        self._flush()
        self._enter(block.level, heading_text(self._text, block))
        self._lead = [block]

    def _take_term(self, block: Block) -> None:
        if self._blocks or not self._lead or self._lead[-1].kind != "term":
            self._flush()
            self._leave_terms(block.indent)
        self._enter(_TERM_LEVEL + block.indent, heading_text(self._text, block))
        self._lead.append(block)

    def _enter(self, level: int, words: str) -> None:
        """Add a heading or term to the path; the path of the passage has those above it."""
        self._path = [each for each in self._path if each[0] < level]
        if not self._lead:
            self._outer_path = tuple(words for _, words in self._path)
        self._path.append((level, words))

    def _leave_terms(self, indent: int) -> None:
        """Leave the terms that do not contain this indentation."""
        if self._path and self._path[-1][0] >= _TERM_LEVEL + indent:
            self._flush()
            self._path = [each for each in self._path if each[0] < _TERM_LEVEL + indent]

    def _take(self, block: Block) -> None:
        if self._blocks and self._size_with(block) > self._limit:
            self._flush_except_introduction(block)
        if self._size_with(block) > (MAX_CODE if block.kind == "code" else self._limit):
            self._append_parts(block)
        else:
            self._append(block)

    def _append(self, block: Block) -> None:
        """Append a block to the current passage, or begin one."""
        if not self._blocks and not self._lead:
            self._outer_path = tuple(words for _, words in self._path)
        self._blocks.append(block)

    def _size_with(self, block: Block) -> int:
        """Return the size of the current passage with one more block."""
        return block.end - (self._lead or self._blocks or [block])[0].start

    def _flush_except_introduction(self, block: Block) -> None:
        """End the passage, except the paragraph that introduces the code or the list."""
        last = self._blocks[-1]
        introduces = self._text[last.start : last.end].rstrip("*_ ").endswith((":", "："))
        keep = last.kind in {"prose", "item"} and (
            block.kind == "code" or (introduces and block.kind == "item")
        )
        if not keep:
            self._flush()
        elif len(self._blocks) > 1:
            self._blocks.pop()
            self._flush()
            self._append(last)

    def _append_parts(self, block: Block) -> None:
        """Cut a long block after sentences, or else after lines and words."""
        first = position = block.end - self._size_with(block)
        start = block.start
        for end in _cut_positions(self._text, block, self._limit):
            if end - first > self._limit and position > first:
                self._append(replace(block, start=start, end=position))
                self._flush()
                first = start = position + _count_blanks(self._text, position)
            position = end
        self._append(replace(block, start=start))
        self._flush()

    def _take_row(self, block: Block, above: Block | None, below: Block | None) -> None:
        """Add a row to a passage; later passages of a table record the position of its header."""
        is_first = (
            above is None
            or above.kind != "row"
            or self._text.count("\n", above.end, block.start) > 1
        )
        if is_first:
            self._leave_terms(block.indent)
            has_header = below and below.kind == "row" and self._is_rule(below)
            self._header = (block.start, below.end) if below and has_header else None
        if self._size_with(block) > self._limit:
            self._flush()
        self._append(block)

    def _is_rule(self, block: Block) -> bool:
        row = self._text[block.start : block.end]
        return "-" in row and _RULE_SIGNS.issuperset(row)

    def _flush(self) -> None:
        """End the current passage; a heading without text is dropped."""
        held_blocks, lead = self._blocks, self._lead
        self._blocks, self._lead = [], []
        if not held_blocks and not (lead and lead[-1].kind == "term"):
            return
        start = (lead or held_blocks)[0].start
        end = (held_blocks or lead)[-1].end
        lead_end = lead[-1].end if lead else start
        header = self._header if held_blocks and held_blocks[0].kind == "row" else None
        if header and header[0] >= start:
            header = None
        blocks = (*lead, *held_blocks)
        self._spans.append(Span(start, end, self._outer_path, lead_end, header, blocks))


def _cut_positions(text: str, block: Block, limit: int) -> Iterator[int]:
    """Yield where a long block may be cut: after sentences, in long ones after lines and words."""
    if block.kind == "code":
        parts = [(block.start, block.end)]
    else:
        parts = sentence_spans(text, block.start, block.end)
    for first, end in parts:
        position = first
        while end - position > limit:
            stop = position + limit
            cuts = (text.rfind(sign, position + limit // 2, stop) for sign in ("\n", " "))
            position = next((cut for cut in cuts if cut > 0), stop)
            yield position
        yield end


def _count_blanks(text: str, position: int) -> int:
    """Count the white space from a position."""
    return len(text[position : position + 200]) - len(text[position : position + 200].lstrip())
