# ruff: noqa: RUF001  signs of other scripts are what this reads
"""Read a source as evidence: its whole units, its words, and the passage nearest to a claim."""

from __future__ import annotations

import math
import re
import unicodedata
from collections import defaultdict
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from functools import cached_property, lru_cache
from heapq import nlargest
from itertools import groupby
from textwrap import dedent

from webtools._internal.grounding.blocks import (
    FENCES,
    REFERENCES,
    heading_text,
    link_texts,
    read_blocks,
    sentences_of,
)
from webtools._internal.grounding.sentences import (
    FOOTNOTE,
    LINKED_FOOTNOTE,
    ends_with_abbreviation,
    is_whole,
)
from webtools._internal.grounding.terms import stem_of
from webtools._internal.grounding.words import FUNCTION_WORDS

MAX_CHARACTERS = 1_000_000  # of a text
MAX_PIECES = 20_000  # of a text; a page of 1 MB of prose has half as many
_LONGEST_BLOCK = 20_000  # characters of a paragraph or a block of code to compare
_LONGEST_PASSAGE = 600
_MOST_KEYS, _MOST_PLACES = 12, 200  # words of a claim to look up, and places of each

# Footnotes after the end of a sentence, and linked ones anywhere; `argv[1]` is code.
_FOOTNOTES = re.compile(rf"(?<=[.!?])(?:{FOOTNOTE})+|{LINKED_FOOTNOTE}")
_ELLIPSES = ("...", "…")
_UNDERLINE = re.compile(r"[ \t]*\n[ \t]*(?:={3,}|-{3,})[ \t]*(?:\n|$)")
_WITHIN_NAME = re.compile(r"[ \u00a0]|-|\. ")  # between the words of a name
_CELL = re.compile(r"(?:[^|\\]|\\.)+")
_CJK = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
_WORDS_OF_NUMBERS = str.split("two three four five six seven eight nine ten eleven twelve")
_NUMBERS = dict(zip(_WORDS_OF_NUMBERS, map(str, range(2, 13)), strict=True))
_FACTORS = {
    1_000: "thousand tausend mille mil",
    1_000_000: "million millions millionen mio mill millón millones milhão milhões",
    1_000_000_000: "billion billions bn milliarde milliarden mrd milliard milliards bilhões",
    1_000_000_000_000: "trillion trillions billionen",
}
_FACTOR_OF = {word: factor for factor, words in _FACTORS.items() for word in words.split()}
_FACTOR = rf"(?:[ \u00a0\u202f-](?:{'|'.join(_FACTOR_OF)})(?![^\W_]))"
_TOKEN = re.compile(
    # With digits in groups, which are separated by a blank or an apostrophe, then other numbers.
    rf"(?<![\d.,])\d{{1,3}}(?:[ \u00a0\u2009\u202f'’]\d{{3}})+(?!\d)(?:[.,]\d+)?{_FACTOR}?"
    rf"|\d+(?:[.,:/]\d+)*{_FACTOR}?|\b(?:{'|'.join(_WORDS_OF_NUMBERS)}){_FACTOR}"
    rf"|[{_CJK}]+|[^\W\d_{_CJK}]+(?:['’][^\W\d_{_CJK}]+)*",
    re.IGNORECASE,
)
_GROUPED = re.compile(r"[1-9]\d{0,2}(?:([,. \u00a0\u2009\u202f'’])\d{3})(?:\1\d{3})*")
_DECIMAL = re.compile(r"(\d{1,15})[.,](\d{1,15})")
_DATE = re.compile(r"\b(\d{4})-(\d\d?)-(\d\d?)\b|\b(\d\d?)\.(\d\d?)\.(\d{4})\b")
_MONTHS = [
    "january januar jänner janvier enero janeiro gennaio jan",
    "february februar février febrero fevereiro febbraio feb",
    "march märz mars marzo março",
    "april avril abril aprile apr",
    "may mai mayo maio maggio",
    "june juni juin junio junho giugno jun",
    "july juli juillet julio julho luglio jul",
    "august août agosto aug",
    "september septembre septiembre setembro settembre sep sept",
    "october oktober octobre octubre outubro ottobre oct okt",
    "november novembre noviembre novembro nov",
    "december dezember décembre diciembre dezembro dicembre dec dez",
]
_MONTH_OF = {word: words.split()[0] for words in _MONTHS for word in words.split()}
_HAS_WORD = re.compile(r"[^\W_]")


@dataclass(frozen=True, slots=True)
class Piece:
    """A sentence, heading, term, table row or block of code of a text.

    Attributes:
        number: Index among the pieces of the text.
        start: Start in the text.
        end: End.
        block: Start of its block.
        kind: Kind of its block: `prose`, `item`, `heading`, `term`, `row` or `code`.
        path: The headings above it.
    """

    number: int
    start: int
    end: int
    block: int
    kind: str
    path: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Unit:
    """A whole sentence, list item, table row or cell, or block of code.

    Attributes:
        start: Start in the text.
        end: End.
        first: The piece with its start.
        last: The piece with its end.
    """

    start: int
    end: int
    first: Piece
    last: Piece


class Evidence:
    """The text of a source, cut into pieces.

    Attributes:
        text: The text.
        title: Title of the source.
        pieces: In the order of the text.
        is_cut: Whether text after the last piece was not read.
    """

    def __init__(self, text: str, title: str = "") -> None:
        """Cut a text into pieces; its words are indexed on first use."""
        self.text = text
        self.title = title
        self.pieces: list[Piece] = []
        self.is_cut = len(text) > MAX_CHARACTERS
        for piece in _pieces(text[:MAX_CHARACTERS]):
            if piece.number == MAX_PIECES:
                self.is_cut = True
                break
            self.pieces.append(piece)

    def units(self, claim: str) -> list[Unit]:
        """Return the units that equal a claim."""
        return self._units.get(normalize_code(claim) if is_code(claim) else normalize(claim), [])

    @cached_property
    def _units(self) -> dict[str, list[Unit]]:
        units: dict[str, list[Unit]] = {}
        for form, unit in self.all_units():
            units.setdefault(form, []).append(unit)
        return units

    def text_of(self, number: int) -> str:
        """Return the text of a piece; empty before the first and after the last."""
        if not 0 <= number < len(self.pieces):
            return ""
        return self.text[self.pieces[number].start : self.pieces[number].end]

    def __contains__(self, key: object) -> bool:
        """Return whether the text has a word."""
        return key in self._places

    def nearest(self, keys: frozenset[str]) -> tuple[Piece, float] | None:
        """Return the piece with the most of some words, and its share of their weight."""
        index = self._places
        weights = {  # sorted, so that their sum does not depend on the order of the set
            key: math.log(1.5 + len(self.pieces) / (1 + len(index.get(key, ()))))
            for key in sorted(keys)
        }
        known = [key for key in weights if key in index]
        scores: dict[int, float] = defaultdict(float)
        for key in nlargest(_MOST_KEYS, known, weights.__getitem__):
            for place in index[key][:_MOST_PLACES]:
                scores[place] += weights[key]
        if not scores:
            return None
        best = max(scores, key=lambda n: (scores[n], self.pieces[n].kind != "heading", -n))
        return self.pieces[best], min(1.0, scores[best] / sum(weights.values()))

    def passage(self, piece: Piece) -> tuple[int, int]:
        """Return start and end of the passage around a piece: as much of its block as fits."""
        first = last = piece.number
        for step in (1, -1):
            at = piece.number + step
            while 0 <= at < len(self.pieces) and self.pieces[at].block == piece.block:
                start, end = min(first, at), max(last, at)
                if self.pieces[end].end - self.pieces[start].start > _LONGEST_PASSAGE:
                    break
                first, last, at = start, end, at + step
        return self.pieces[first].start, self.pieces[last].end

    @cached_property
    def _places(self) -> dict[str, list[int]]:
        """The numbers of the pieces with each word."""
        places: dict[str, list[int]] = {}
        for piece in self.pieces:
            for key in keys_of(plain(self.text[piece.start : piece.end])):
                places.setdefault(key, []).append(piece.number)
        return places

    def all_units(self) -> Iterator[tuple[str, Unit]]:
        """Yield the units in the order of the text, each with its normalized text."""
        for _, group in groupby(self.pieces, lambda piece: piece.block):
            pieces = list(group)
            first, last = pieces[0], pieces[-1]
            text = self.text[first.start : last.end]
            if len(text) > _LONGEST_BLOCK or any(map(REFERENCES.fullmatch, first.path)):
                continue
            unit = Unit(first.start, last.end, first, last)
            if first.kind == "code":
                start = self.text.rfind("\n", 0, first.start) + 1
                yield normalize_code(self.text[start : last.end]), unit
            elif first.kind == "row":
                yield from self._cells(first, text)
            elif first.kind in {"prose", "item"}:
                yield from self._sentences(pieces)
                if first.kind == "item" and (is_whole(text) or not self._may_continue(last)):
                    yield normalize(text), unit

    def _may_continue(self, piece: Piece) -> bool:
        """Return whether an item may continue in an indented paragraph, or is truncated."""
        if piece is self.pieces[-1]:
            return True
        next_piece = self.pieces[piece.number + 1]
        return next_piece.kind == "prose" and self.text[next_piece.start - 1] in " \t"

    def _sentences(self, pieces: Sequence[Piece]) -> Iterator[tuple[str, Unit]]:
        for before, piece in zip((None, *pieces), pieces, strict=False):
            text = self.text[piece.start : piece.end]
            is_cut = piece is self.pieces[-1] and ends_with_abbreviation(text)
            is_cut = is_cut or bool(before and self.text_of(before.number).endswith(_ELLIPSES))
            if is_whole(text) and not is_cut:
                yield normalize(text), Unit(piece.start, piece.end, piece, piece)

    def _cells(self, piece: Piece, text: str) -> Iterator[tuple[str, Unit]]:
        """Yield a row of a table, and its cells."""
        cells = [each for each in _CELL.finditer(text) if _HAS_WORD.search(each[0])]
        if cells:
            yield normalize(row_text(text)), Unit(piece.start, piece.end, piece, piece)
        for cell in cells if len(cells) > 1 else ():
            bare = cell[0].strip()
            start = piece.start + cell.start() + cell[0].index(bare)
            yield normalize(bare), Unit(start, start + len(bare), piece, piece)


def _pieces(text: str) -> Iterator[Piece]:
    path: list[tuple[int, str]] = []
    number = 0
    for block in read_blocks(text):
        if block.kind == "heading":
            path = [each for each in path if each[0] < block.level]
        names = tuple(name for _, name in path)
        if block.kind == "heading":
            path.append((block.level, heading_text(text, block)))
        is_underlined = block.kind == "prose" and _UNDERLINE.match(text, block.end)
        kind = "heading" if is_underlined else block.kind
        is_prose = block.kind in {"prose", "item"}
        spans = sentences_of(text, block) if is_prose else [(block.start, block.end)]
        for start, end in spans:
            yield Piece(number, start, end, block.start, kind, names)
            number += 1


# --- normalized texts --------------------------------------------------------------------------


def plain(text: str) -> str:
    """Replace links by their texts, and remove footnote marks."""
    return link_texts(_FOOTNOTES.sub("", text)) if "[" in text else text


def normalize(text: str) -> str:
    """Normalize a text for comparison: NFC, one line, without link addresses."""
    return " ".join(unicodedata.normalize("NFC", plain(text)).split())


def row_text(row: str) -> str:
    """Return the cells of a table row without the outer bars."""
    return " | ".join(each.strip() for each in row.strip().strip("|").split("|"))


def is_code(claim: str) -> bool:
    """Return whether a claim is a block of code."""
    return claim.lstrip().startswith(FENCES)


def normalize_code(code: str) -> str:
    """Normalize code: at the left margin, without its fences."""
    rows = code.expandtabs(4).strip("\n").splitlines()
    inner = rows[1:-1] if is_code(code) else rows
    lines = dedent("\n".join(inner)).strip("\n").splitlines()
    return "\n".join(["```", *(unicodedata.normalize("NFC", line.rstrip()) for line in lines)])


# --- words -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Fact:
    """A number or name of a claim.

    Attributes:
        kind: `number` or `name`.
        text: The number or name.
        keys: Each has the keys of one word of it. A source has the word if it has one of them.
    """

    kind: str
    text: str
    keys: tuple[frozenset[str], ...]

    def is_in(self, known: Container[str]) -> bool:
        """Return whether a source with these keys has all words."""
        return all(any(key in known for key in keys) for keys in self.keys)


def keys_of(text: str) -> frozenset[str]:
    """Return the keys of the content words and numbers of a text."""
    return frozenset().union(*map(_all_keys, tokens_of(text)))


def tokens_of(text: str) -> Iterator[str]:
    """Yield words and numbers, and pairs of signs in scripts without spaces."""
    for match in _TOKEN.finditer(_with_months(text)):
        token = match[0]
        if token[0] >= "\u3040" and len(token) > 1 and not token[0].isdigit():
            yield from (token[at : at + 2] for at in range(len(token) - 1))
        else:
            yield token


def _with_months(text: str) -> str:
    """Write dates such as 2024-05-03 with the name of the month."""
    return _DATE.sub(_date, text) if any(map(str.isdigit, text)) else text


def _date(match: re.Match[str]) -> str:
    year, month, day = match[1] or match[6], match[2] or match[5], match[3] or match[4]
    if not 1 <= int(month) <= len(_MONTHS):
        return match[0]
    return f"{int(day)} {_MONTHS[int(month) - 1].split()[0].title()} {year}"


@lru_cache(16_384)
def _all_keys(token: str) -> frozenset[str]:
    """Return the keys of a token, and those of the words that it consists of."""
    parts = [part for part in re.split(r"[ \u00a0\u2009\u202f]", token) if part != token]
    return keys_at(token).union(*map(keys_at, parts))


@lru_cache(16_384)
def keys_at(token: str) -> frozenset[str]:
    """Return the keys of a number in each way to read it, or the stem of a word.

    It is empty for function words.
    """
    factor = _FACTOR_OF.get(re.split(r"[ \u00a0\u202f-]", token)[-1].lower())
    if factor is not None and token.lower() not in _FACTOR_OF:
        number = re.split(r"[ \u00a0\u202f-](?=[^\W\d_]+$)", token)[0]
        values = [_NUMBERS.get(number.lower(), ""), *_readings(number)]
        return frozenset(_multiplied(value, factor) for value in values if value)
    if token[0].isdigit():
        return frozenset(_readings(token))
    word = token.lower().replace("’", "'").removesuffix("'s")
    is_acronym = token.isupper() and len(token) > 1
    if word in FUNCTION_WORDS and not is_acronym:
        return frozenset()
    return frozenset([_NUMBERS.get(word) or stem_of(_MONTH_OF.get(word, word))])


def _readings(number: str) -> list[str]:
    """Return a number as it may be meant: `10.000` is ten thousand, or ten."""
    readings = [number.lstrip("0") or "0"]
    if _GROUPED.fullmatch(number):
        readings.append(re.sub(r"\D", "", number))
    if decimal := _DECIMAL.fullmatch(number):
        readings.append(f"{decimal[1]}.{decimal[2]}")
    return readings if any(map(str.isdigit, number)) else []


def _multiplied(number: str, factor: int) -> str:
    try:
        value = Decimal(number) * factor
    except InvalidOperation:
        return f"{number} {factor}"
    return str(int(value)) if value == value.to_integral_value() else str(value.normalize())


def facts_of(claim: str) -> Iterator[Fact]:
    """Yield the numbers and names of a claim. Neighbouring names are one.

    Every sentence begins with a capital, and so may the text after a colon. Such a word is a name
    only if it has another capital or the next word has one.
    """
    text = _with_months(plain(claim))
    matches = list(_TOKEN.finditer(text))
    name: list[re.Match[str]] = []
    for place, match in enumerate(matches):
        token = match[0]
        keys = keys_at(token)
        is_number = token[0].isdigit() or (bool(keys) and min(keys)[0].isdigit())
        before = text[matches[place - 1].end() if place else 0 : match.start()]
        is_next = bool(name) and _WITHIN_NAME.fullmatch(before) is not None
        is_name = bool(keys) and not is_number and _is_name(matches, place, text)
        if name and not (is_name and is_next):
            yield _name_fact(text, name)
            name = []
        if is_number and keys:
            yield Fact("number", token, (keys,))
        elif is_name:
            name.append(match)
    if name:
        yield _name_fact(text, name)


def _is_name(matches: Sequence[re.Match[str]], place: int, text: str) -> bool:
    """Return whether a word is a name, by its capitals."""
    token = matches[place][0]
    if any(map(str.isupper, token[1:])):
        return True
    if not token[0].isupper():
        return False
    before = text[: matches[place].start()].rstrip(" \t\n\"'“‘«([*_`")
    begins = before.endswith((*".!?…:;–—•|", " -"))
    if before and not begins:
        return True
    following = matches[place + 1 : place + 2]
    return any(each[0][0].isupper() and keys_at(each[0]) for each in following)


def _name_fact(text: str, words: Sequence[re.Match[str]]) -> Fact:
    name = text[words[0].start() : words[-1].end()]
    return Fact("name", name, tuple(keys_at(word[0]) for word in words))
