# ruff: noqa: RUF001  signs of other scripts are what this reads
"""Cut a page into passages along its structure.

A heading or signature stays with the text under it, code with the sentence that introduces it, an
item with its list's lead-in, table rows with the table's header.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from webtools._internal.grounding.blocks import Block, heading_text, read_blocks
from webtools._internal.grounding.sentences import sentence_spans

MOST = 600  # characters of a passage, code and single rows aside
MOST_CODE = 6000  # characters of code that stay in one passage
_TERM_LEVEL = 10  # terms stand below all headings, by their indentation
_RULE_SIGNS = frozenset("|-: \t+=")


@dataclass(frozen=True, slots=True)
class Span:
    """A passage as a slice of its page.

    Attributes:
        start: Where it begins.
        end: Where it ends.
        path: Headings and terms above it, outermost first; its own lead is not among them.
        lead_end: Where its own heading or signature ends; `start` when it has none.
        kind: Kind of its last block, or `term` when it begins with one.
        header: Where the header of its table stands, when it does not hold that itself.
        blocks: What it is made of.
    """

    start: int
    end: int
    path: tuple[str, ...]
    lead_end: int
    kind: str
    header: tuple[int, int] | None = None
    blocks: tuple[Block, ...] = field(default=(), repr=False)


def cut(text: str, most: int = MOST) -> list[Span]:
    """Return the passages of a page in order; none is empty."""
    return _Cutter(text, most).cut(read_blocks(text))


class _Cutter:
    def __init__(self, text: str, most: int) -> None:
        self._text = text
        self._most = most
        self._path: list[tuple[int, str]] = []
        self._lead: list[Block] = []  # headings or terms that wait for their text
        self._held: list[Block] = []  # blocks of the passage under way
        self._above: tuple[str, ...] = ()
        self._spans: list[Span] = []
        self._header: tuple[int, int] | None = None

    def cut(self, blocks: Sequence[Block]) -> list[Span]:
        for number, block in enumerate(blocks):
            if block.kind == "heading":
                self._take_heading(block)
            elif block.kind == "term":
                self._take_term(block)
            elif block.kind == "row":
                self._take_row(block, blocks, number)
            else:
                if not (block.kind == "code" and self._held):  # code goes on with what it is under
                    self._leave_terms(block.indent)
                self._take(block)
        self._flush()
        return self._spans

    def _take_heading(self, block: Block) -> None:
        self._flush()
        self._enter(block.level, heading_text(self._text, block))
        self._lead = [block]

    def _take_term(self, block: Block) -> None:
        if self._held or not self._lead or self._lead[-1].kind != "term":
            self._flush()
            self._leave_terms(block.indent)
        self._enter(_TERM_LEVEL + block.indent, heading_text(self._text, block))
        self._lead.append(block)

    def _enter(self, level: int, words: str) -> None:
        """Go under a heading or term; what the passage stands under are those above it."""
        self._path = [each for each in self._path if each[0] < level]
        if not self._lead:
            self._above = tuple(words for _, words in self._path)
        self._path.append((level, words))

    def _leave_terms(self, indent: int) -> None:
        """Leave the terms that hold nothing of this indentation."""
        if self._path and self._path[-1][0] >= _TERM_LEVEL + indent:
            self._flush()
            self._path = [each for each in self._path if each[0] < _TERM_LEVEL + indent]

    def _take(self, block: Block) -> None:
        size = block.end - self._start(block)
        if self._held and size > self._most:
            self._flush_but_introduction(block)
        if not self._held and not self._lead:
            self._above = tuple(words for _, words in self._path)
        self._held.append(block)
        size = block.end - self._start(block)
        if size > (MOST_CODE if block.kind == "code" else self._most):
            self._flush_long()

    def _start(self, block: Block) -> int:
        first = self._lead or self._held
        return first[0].start if first else block.start

    def _flush_but_introduction(self, block: Block) -> None:
        """End the passage, but keep the paragraph that introduces the code or the list."""
        last = self._held[-1]
        introduces = self._text[last.start : last.end].rstrip("*_ ").endswith((":", "："))
        keep = last.kind in {"prose", "item"} and (
            block.kind == "code" or (introduces and block.kind == "item")
        )
        if not keep:
            self._flush()
        elif len(self._held) > 1:
            self._held.pop()
            self._flush()
            self._above = tuple(words for _, words in self._path)
            self._held = [last]

    def _flush_long(self) -> None:
        """Cut a long block at the ends of its sentences, or of its lines and words."""
        block = self._held.pop()
        first = at = self._start(block)
        for end in _ends(self._text, block, self._most):
            if end - first > self._most and at > first:
                self._held = [replace(block, start=max(first, block.start), end=at)]
                self._flush()
                first = at + _blank(self._text, at)
                self._above = tuple(words for _, words in self._path)
            at = end
        self._held = [replace(block, start=max(first, block.start))]
        self._flush()

    def _take_row(self, block: Block, blocks: Sequence[Block], number: int) -> None:
        """Fill rows into a passage; a later one is told where the header stands."""
        before = blocks[number - 1] if number else None
        if before is None or before.kind != "row" or not self._is_next(before, block):
            self._leave_terms(block.indent)
            self._header = None
            following = blocks[number + 1] if number + 1 < len(blocks) else None
            if following and following.kind == "row" and self._is_rule(following):
                self._header = (block.start, following.end)
            if block.end - self._start(block) > self._most:
                self._flush()
        elif self._held and block.end - self._start(block) > self._most:
            self._flush()
        if not self._held and not self._lead:
            self._above = tuple(words for _, words in self._path)
        self._held.append(block)

    def _is_next(self, before: Block, block: Block) -> bool:
        return self._text.count("\n", before.end, block.start) == 1

    def _is_rule(self, block: Block) -> bool:
        row = self._text[block.start : block.end]
        return "-" in row and _RULE_SIGNS.issuperset(row)

    def _flush(self) -> None:
        """End the passage under way; a heading that holds nothing is none."""
        held, lead = self._held, self._lead
        self._held, self._lead = [], []
        if not held and not (lead and lead[-1].kind == "term"):
            return
        start = (lead or held)[0].start
        end = (held or lead)[-1].end
        lead_end = lead[-1].end if lead else start
        kind = "term" if lead and lead[-1].kind == "term" else held[-1].kind
        header = self._header if held and held[0].kind == "row" else None
        if header and header[0] >= start:
            header = None
        blocks = (*lead, *held)
        self._spans.append(Span(start, end, self._above, lead_end, kind, header, blocks))


def _ends(text: str, block: Block, most: int) -> Iterator[int]:
    """Return where a long block may be cut: after sentences, in long ones after lines and words."""
    if block.kind == "code":
        parts = [(block.start, block.end)]
    else:
        parts = sentence_spans(text, block.start, block.end)
    for first, end in parts:
        at = first
        while end - at > most:
            stop = at + most
            cuts = (text.rfind(sign, at + most // 2, stop) for sign in ("\n", " "))
            at = next((cut for cut in cuts if cut > 0), stop)
            yield at
        yield end


def _blank(text: str, at: int) -> int:
    """Count the white space from a place on."""
    return len(text[at : at + 200]) - len(text[at : at + 200].lstrip())
