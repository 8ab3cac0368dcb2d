# ruff: noqa: RUF001  signs of other scripts are what this reads
"""Read a text as evidence: its sentences with their words, and where each word stands.

Words are compared by their stems, numbers as they are written: `0,125` is neither `125` nor
`0.125`, and `10²` is not `102`.
"""

from __future__ import annotations

import math
import re
import time
import unicodedata
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from heapq import nlargest
from itertools import count
from typing import NamedTuple

from webtools.grounding.blocks import Block, heading_text, read_blocks
from webtools.grounding.lexicon import COMPOUND, NUMBER_WORDS, TELLING
from webtools.grounding.sentences import sentence_spans
from webtools.grounding.terms import stem_of
from webtools.grounding.words import FUNCTION_WORDS

_MARK = re.compile(r"(?::|[-*+•‣·]|\d{1,3}[.)])\s+")
_LINK = re.compile(r"(!?)\[([^\[\]]{0,300})\]\([^()\s]{0,500}(?:\s[^()]{0,300})?\)")
_FOOTNOTE = re.compile(r"(?<=[.!?])(?:\[\d{1,3}\])+")
_UNDERLINE = re.compile(r"[ \t]*\n[ \t]*(?:={3,}|-{3,})[ \t]*(?:\n|$)")
_WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)*")
CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_DIGIT = re.compile(r"\d")
_RANGE = re.compile(r"(?<=\d{3})[-–—](?=\d{3})")
_EDGES = ".,;:!?…()[]{}\"'“”‘’«»*_`|"
_DIGITS = re.compile(r"\d+(?:[.,:/]\d+)*")
_GROUPED = re.compile(r"[1-9]\d{0,2}(?:,\d{3})+$")
_LONGEST = 1500  # characters; what is longer is cut there
MOST_CHARACTERS = 1_000_000  # of a text, as of a page that is read
MOST_SENTENCES = 20_000  # of a text; a page of 1 MB of prose has half as many


class Word(NamedTuple):
    """A word or number of a sentence.

    Attributes:
        raw: As it is written.
        key: What it is compared by: the stem, or a number as it is written.
        kind: `word`, `name`, `number` or `function`.
        unit: Of a number, the word that follows it; else empty.
    """

    raw: str
    key: str
    kind: str
    unit: str = ""

    @property
    def tells(self) -> bool:
        """Whether it carries meaning of its own."""
        return self.kind != "function"


@dataclass(slots=True)
class Sentence:
    """A sentence, heading, row or piece of code of a text.

    Attributes:
        number: Its place among the sentences of the text.
        start: Where it begins in the text.
        end: Where it ends.
        block: Where its block begins.
        kind: Of its block: `prose`, `item`, `heading`, `term`, `row` or `code`.
        path: The headings above it.
        text: What it says.
        keys: What its words that carry meaning are compared by.
    """

    number: int
    start: int
    end: int
    block: int
    kind: str
    path: tuple[str, ...]
    text: str = field(repr=False)
    keys: frozenset[str] = field(repr=False)

    @property
    def words(self) -> tuple[Word, ...]:
        """Its words in order, read anew: millions of them would hold up the garbage collector."""
        return words_of(self.text)


class Evidence:
    """A text, cut into sentences, with an index of its words.

    Attributes:
        text: The text.
        sentences: In the order of the text.
        digits: The digits of all its numbers; `1,000` stands for `1000` too.
        is_cut: Whether the text goes on behind the last of the sentences.
    """

    def __init__(self, text: str, until: float = math.inf) -> None:
        """Read a text, up to `until` on the monotonic clock."""
        self.text = text
        self.sentences: list[Sentence] = []
        self.is_cut = False
        self._written: dict[str, list[Sentence]] | None = None
        self._places: dict[str, list[int]] = {}
        digits: set[str] = set()
        for sentence, words in _sentences(text[:MOST_CHARACTERS]):
            self.is_cut = sentence.number == MOST_SENTENCES or time.monotonic() > until
            if self.is_cut:
                break
            self.sentences.append(sentence)
            digits.update(digits_of(each.key) for each in words if each.kind == "number")
            for key in sentence.keys:
                self._places.setdefault(key, []).append(sentence.number)
        self.digits = frozenset(digits)
        self.is_cut = self.is_cut or len(text) > MOST_CHARACTERS

    def __contains__(self, key: str) -> bool:
        """Return whether a word stands anywhere."""
        return key in self._places

    def alike(self, written: str) -> list[Sentence]:
        """Return the sentences that are written so, in the form of `normal`."""
        if self._written is None:
            self._written = {}
            for each in self.sentences:
                form = normal(self.text[each.start : each.end])
                self._written.setdefault(form, []).append(each)
        return self._written.get(written, [])

    def said(self, number: int) -> str:
        """Return the text of a sentence; empty before the first and after the last."""
        if not 0 <= number < len(self.sentences):
            return ""
        return self.text[self.sentences[number].start : self.sentences[number].end]

    def weight(self, key: str) -> float:
        """Return how rare a word is here; the highest is that of one that stands nowhere."""
        return math.log(1.5 + len(self.sentences) / (1 + len(self._places.get(key, ()))))

    def near(self, weights: dict[str, float], most: int) -> list[int]:
        """Return the numbers of the sentences that have most of some words, the best first."""
        scores: dict[int, float] = defaultdict(float)
        for key, weight in weights.items():
            for place in self._places.get(key, ()):
                scores[place] += weight
        return nlargest(most, scores, key=lambda place: (scores[place], -place))


def _sentences(text: str) -> Iterator[tuple[Sentence, tuple[Word, ...]]]:
    path: list[tuple[int, str]] = []
    plain = _FOOTNOTE.sub(lambda match: " " * len(match[0]), text)
    numbers = count()
    for block in read_blocks(text):
        if block.kind == "heading":
            path = [each for each in path if each[0] < block.level]
        names = tuple(name for _, name in path)
        if block.kind == "heading":
            path.append((block.level, heading_text(text, block)))
        is_underlined = block.kind == "prose" and _UNDERLINE.match(text, block.end)
        kind = "heading" if is_underlined else block.kind
        for start, end in _spans(plain, block):
            said = text[start:end]
            words = words_of(said)
            keys = frozenset(each.key for each in words if each.tells)
            yield Sentence(next(numbers), start, end, block.start, kind, names, said, keys), words


def _spans(text: str, block: Block) -> Iterator[tuple[int, int]]:
    spans = [(block.start, block.end)]
    if block.kind in {"prose", "item"}:
        mark = _MARK.match(text, block.start, block.end)
        spans = sentence_spans(text, mark.end() if mark else block.start, block.end)
    for start, end in spans:
        for at in range(start, end, _LONGEST):
            yield at, min(end, at + _LONGEST)


def normal(text: str) -> str:
    """Return a text in NFC on one line; of links the words."""
    if "](" in text:
        text = _LINK.sub(r"\1\2", text)
    return " ".join(unicodedata.normalize("NFC", text).split())


def words_of(text: str) -> tuple[Word, ...]:
    """Return the words and numbers of a sentence in order."""
    found = list(_raw_words(normal(text).replace("’", "'")))
    lower = ["", *(raw.lower() for raw, _ in found), ""]
    words: list[Word] = []
    for place, (raw, is_number) in enumerate(found, 1):
        before, word, after = lower[place - 1 : place + 2]
        if is_number:
            unit = found[place][0] if place < len(found) and not found[place][1] else ""
            words.append(Word(raw, raw, "number", unit))
        elif word in NUMBER_WORDS and not (_is_number(before) or _is_number(after)):
            words.append(Word(raw, NUMBER_WORDS[word], "number"))
        else:
            words.append(_word(raw))
    return tuple(words)


@lru_cache(4096)
def _word(raw: str) -> Word:
    """Read a word that is no number."""
    word = raw.lower()
    is_acronym = raw.isupper() and len(raw) > 1
    if word in FUNCTION_WORDS and word not in TELLING and not is_acronym:
        return Word(raw, word, "function")
    return Word(raw, stem_of(word), "name" if raw[0].isupper() else "word")


def _is_number(word: str) -> bool:
    return word in NUMBER_WORDS or word in COMPOUND


def _raw_words(text: str) -> Iterator[tuple[str, bool]]:
    """Return words, and what has digits as it is written; each with whether it has."""
    for chunk in text.split() if _DIGIT.search(text) else [text]:  # most sentences have none
        if _DIGIT.search(chunk):
            for part in _RANGE.split(chunk):
                if bare := part.strip(_EDGES).removesuffix("'s"):
                    yield bare, True
        else:
            for word in _WORD.findall(chunk):
                if not word.isascii() and CJK.search(word):
                    yield from ((word[at : at + 2], False) for at in range(len(word)))
                else:
                    yield word.removesuffix("'s"), False


def digits_of(number: str) -> str:
    """Return the digits of a number without its signs; `1,000` is `1000`, and `0,125` itself."""
    found = _DIGITS.findall(number)
    return " ".join(each.replace(",", "") if _GROUPED.match(each) else each for each in found)
