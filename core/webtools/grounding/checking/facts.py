# ruff: noqa: RUF001  signs of other scripts are what this reads
"""What a text says that can be compared: words, numbers, dates, what it denies, what it opposes."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from webtools.grounding.checking import lexicon
from webtools.grounding.checking.quantities import Number, Quantities, quantities, ungrouped

_BREAK = re.compile(r"[,;:.!?—–()\n。，；：！？、]")
_CLAUSE = re.compile(
    r"[,;:—–，；：]|\b(?:and|but|or|while|whereas|because|although|though|which|who|so)\b",
    re.IGNORECASE,
)
_STOP = re.compile(r"[.!?。！？]")
_EMPHASIS = re.compile(r"\*{1,3}|(?<!\w)_{1,2}(?=\w)|(?<=\w)_{1,2}(?!\w)")
_LINK = re.compile(r"!?\[([^\[\]]{0,500})\]\([^()\s]{0,2000}(?:\s\"[^\"]{0,200}\")?\)")
# Footnote numbers that pages carry; one after a letter may be an index, as in `argv[0]`.
_FOOTNOTE = re.compile(r"(?<=[\s.,;:)!?\"”’\d])\[\d{1,3}\]")
_SCOPE = 3  # words that a negation reaches
_NEAR = 2  # words on either side that a word or a number is bound to
_DENIED_AFTER = re.compile("[不没沒未无無非别別]")
_DENIED_BEFORE = re.compile("ない|なかっ|なく|ません|않|없|못")


def plain(text: str) -> str:
    """Take the Markdown of a line and the footnote numbers out, and fold its blanks."""
    if not text.isascii():
        text = text.translate(_QUOTES)
    if "``" in text:
        text = text.replace("``", "`")
    if "[" in text:
        text = _FOOTNOTE.sub("", _LINK.sub(r"\1", text))
    if "*" in text or "_" in text:
        text = _EMPHASIS.sub("", text)
    return " ".join(text.split())


_QUOTES = str.maketrans({"‘": "'", "’": "'", "“": '"', "”": '"', "\u00ad": "", "\u200b": ""})


@dataclass(frozen=True, slots=True)
class Opposed:
    """A word on one side of an opposition, and the words next to it."""

    word: str
    group: int
    side: int
    near: frozenset[str]


@dataclass(frozen=True)
class Facts:
    """A text, and lazily what it says; the text is plain, without Markdown."""

    source: str

    @cached_property
    def text(self) -> str:
        """The text with signs and contractions spelled out."""
        text = ungrouped(self.source)
        if not text.isascii():
            text = unicodedata.normalize("NFKC", text)
        return lexicon.spelled_out(text)

    @cached_property
    def spans(self) -> list[tuple[int, int, str]]:
        """The words in lower case, with their places."""
        return lexicon.word_spans(self.text)

    @cached_property
    def words(self) -> str:
        """The words in order with one blank around each, for finding names in."""
        return f" {' '.join(word for _, _, word in self.spans)} "

    @cached_property
    def stems(self) -> list[str]:
        """The stems of the words, in order."""
        return [lexicon.stem(word) for _, _, word in self.spans]

    def word(self, stemmed: str) -> str:
        """Give a word that has a stem, for showing it."""
        found = (word for _, _, word in self.spans if lexicon.stem(word) == stemmed)
        return next(found, stemmed)

    @cached_property
    def content(self) -> frozenset[str]:
        """The stems that carry meaning."""
        return frozenset(filter(lexicon.carries_meaning, self.stems))

    @cached_property
    def all_stems(self) -> frozenset[str]:
        """All stems, words of grammar included."""
        return frozenset(self.stems)

    @cached_property
    def quantities(self) -> Quantities:
        """The numbers and dates."""
        return quantities(self.text)

    @cached_property
    def sequence(self) -> list[str]:
        """The stems in order, with `#value` in place of the words of each number."""
        inside = {at: number for number in self.quantities.numbers for at in self._places(number)}
        found: list[str] = []
        stop = 0
        for index, stemmed in enumerate(self.stems):
            start, number = self.spans[index][0], inside.get(index)
            if number is None:
                found.append(stemmed)
            elif start >= stop:
                found.append(f"#{number.value}")
                stop = number.stop
        return found

    @cached_property
    def clauses(self) -> list[list[str]]:
        """The stems that carry meaning, clause by clause."""
        parts = _CLAUSE.split(self.text)
        return [list(filter(lexicon.carries_meaning, lexicon.stems(part))) for part in parts]

    @cached_property
    def denied(self) -> list[frozenset[str]]:
        """What each negation denies: the next words that are no grammar."""
        found = [
            self._reach(index)
            for index, (_, _, word) in enumerate(self.spans)
            if word in lexicon.NEGATIONS and not self._denies_nothing(index)
        ]
        if lexicon.is_cjk(self.text):
            found += _denied_signs(self.text)
        return [reach for reach in found if reach]

    @cached_property
    def opposed(self) -> list[Opposed]:
        """The words that have an opposite."""
        return [
            Opposed(self.spans[index][2], group, side, self.near(index, index))
            for index, stemmed in enumerate(self.stems)
            for group, side in lexicon.sides(stemmed)
        ]

    @cached_property
    def sentence_of(self) -> list[int]:
        """The number of the sentence that each word stands in."""
        found: list[int] = []
        number = stop = 0
        for start, end, _ in self.spans:
            number += _STOP.search(self.text, stop, start) is not None
            found.append(number)
            stop = end
        return found

    def near(self, first: int, last: int, most: int = _NEAR) -> frozenset[str]:
        """Give the words next to those from `first` to `last` in their sentence, but no grammar."""
        before = self._some(range(first - 1, -1, -1), self.sentence_of[first], most)
        after = self._some(range(last + 1, len(self.stems)), self.sentence_of[last], most)
        return frozenset((*before, *after))

    def near_number(self, number: Number, most: int = _NEAR) -> frozenset[str]:
        """Give the words next to a number."""
        key = number.place, most
        if key not in self._near_numbers:
            inside = self._places(number)
            near = self.near(inside[0], inside[-1], most) if inside else frozenset[str]()
            self._near_numbers[key] = near
        return self._near_numbers[key]

    @cached_property
    def numbers(self) -> list[Number]:
        """The numbers, each once with the same words next to it."""
        near = self.near_number
        found = {(each.value, each.unit, near(each)): each for each in self.quantities.numbers}
        return list(found.values())

    @cached_property
    def _near_numbers(self) -> dict[tuple[int, int], frozenset[str]]:
        return {}

    @cached_property
    def _ends(self) -> tuple[list[int], list[int]]:
        return [start for start, _, _ in self.spans], [stop for _, stop, _ in self.spans]

    def _places(self, number: Number) -> range:
        """Give the indexes of the words of a number."""
        starts, stops = self._ends
        return range(bisect_right(stops, number.place), bisect_left(starts, number.stop))

    def near_name(self, name: str) -> list[frozenset[str]]:
        """Give the words next to a name, once for each place where it stands."""
        parts = name.split(" ")
        plain_words = [word for _, _, word in self.spans]
        return [
            self.near(index, index + len(parts) - 1)
            for index, word in enumerate(plain_words)
            if word == parts[0] and plain_words[index : index + len(parts)] == parts
        ]

    def _some(self, indexes: Iterable[int], sentence: int, most: int) -> Iterator[str]:
        left = most
        for index in indexes:
            if not left or self.sentence_of[index] != sentence:
                return
            if not lexicon.is_grammar(self.stems[index]) and not self.stems[index].isdecimal():
                yield self.stems[index]
                left -= 1

    def _denies_nothing(self, index: int) -> bool:
        following = self.spans[index + 1][2] if index + 1 < len(self.spans) else ""
        return following in lexicon.UNDENIED or (
            self.spans[index][2] == "no" and following.isdigit()
        )

    def _reach(self, index: int) -> frozenset[str]:
        """Follow a negation up to the end of its clause; without a word there, look back."""
        found: list[str] = []
        for at in range(index + 1, len(self.stems)):
            gap = self.text[self.spans[at - 1][1] : self.spans[at][0]]
            if _BREAK.search(gap) or len(found) == _SCOPE:
                break
            if not lexicon.is_grammar(self.stems[at]):
                found.append(self.stems[at])
        if not found:
            before = (self.stems[at] for at in reversed(range(index)))
            found = [each for each in before if not lexicon.is_grammar(each)][:2]
        return frozenset(found)


def _denied_signs(text: str) -> Iterator[frozenset[str]]:
    """Find what Chinese and Japanese negations deny: the pair of signs beside them."""
    for match in _DENIED_AFTER.finditer(text):
        yield _pair(text[match.end() : match.end() + 2])
    for match in _DENIED_BEFORE.finditer(text):
        yield _pair(text[max(0, match.start() - 2) : match.start()].strip())


def _pair(signs: str) -> frozenset[str]:
    return frozenset({signs}) if len(signs) == 2 and lexicon.is_cjk(signs) else frozenset()  # noqa: PLR2004
