# ruff: noqa: RUF001  signs of other scripts are what this reads
"""What keeps a claim from being certain, however many of its words stand in the source."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise

from webtools.grounding.evidence import CJK, Evidence, Sentence, Word
from webtools.grounding.lexicon import MONTHS, TELLING
from webtools.grounding.neighbours import denial, is_attributed
from webtools.grounding.quotations import ends_with_abbreviation
from webtools.grounding.terms import identifiers_of
from webtools.grounding.windows import DENIALS, Window, are_near, places_of, shown, turn_of

_BEFORE, _AFTER = 2, 4  # words around what a claim took, in which a word may turn it round
_GOVERNS = 10  # words before the first one taken, in which it is denied as a whole
_FREE = frozenset(("", "future", "leaning", "duty"))  # what a claim need not repeat
_LEAST = 6  # words of a claim that its source has, for more than a guess
_COPIED = 0.7  # share of the sentences' words in a claim from which on
_ALTERED = 0.75  # share of a claim's words and of a sentence's that makes it the same sentence
_WHOLE, _ALL = 0.85, 0.999  # or shares of the claim's, from which on their order counts
_BRIEF = 6  # words of a claim that stand in one sentence, if it is not made up of two
_YEAR = re.compile(r"1\d{3}|20\d\d")
_CLAUSE = 8  # words that the beginning of another clause counts as
_JOINING = frozenset(("and", "but", "while", "when", "who", "which", "then", "before", "after"))
_SIGNS = re.compile(r"(?<!\S)(?:[<>]=?|[=!]=|[≤≥≠±~≈])(?=[\s\d])")
_STRUCK = ("<!--", "-->", "~~")


def doubts(
    claim: str, window: Window, used: Sequence[Sentence], evidence: Evidence
) -> Iterator[str]:
    """Yield why words alone cannot show that a claim is borne out."""
    for word in window.claim:
        if word.kind in {"name", "number"} and word.key not in window.have:
            yield f"the sentences do not have its {word.kind} {word.raw}"
    words = [word for word in window.telling if word.raw.lower() not in TELLING]
    found = sum(word.key in window.have for word in words)
    if found < _LEAST:
        yield "the sentences have too few of its words"
    if ends_with_abbreviation(claim):
        yield "it may be cut after an abbreviation"
    said = " ".join(each.text for each in used)
    if set(_SIGNS.findall(claim)) != set(_SIGNS.findall(said)):
        yield "its signs of comparison are not those of the sentences"
    if CJK.search(shown(window.claim)):
        yield "claims in its script are compared word for word alone"
    for name in identifiers_of(claim.replace("`", "")):
        own = re.escape(re.split(r"::|\b\.", name)[-1])  # its module may stand elsewhere
        if not re.search(rf"(?<![\w-]){own}(?![\w-])", said):
            yield f"the sentences do not have its {name}"
    yield from _misplaced(window, used)
    yield from _altered(window, used)
    yield from _loose(window, used)
    yield from _shuffled(window, used)
    yield from _turned(window, used)
    yield from _strange(used, evidence)


def _altered(window: Window, used: Sequence[Sentence]) -> Iterator[str]:
    """Yield what stands in place of the rest of a sentence that a claim has nearly all of."""
    claimed = Counter(word.key for word in window.telling)
    for sentence in used:
        said = Counter(word.key for word in sentence.words if word.tells)
        most = _ALTERED * max(claimed.total(), said.total())
        if (claimed & said).total() >= most and claimed - said and said - claimed:
            yield "it has other words for some of a sentence that it has nearly all of"


def _loose(window: Window, used: Sequence[Sentence]) -> Iterator[str]:
    """Yield what stands there, but beside other words or in other sentences."""
    places, telling = places_of(used), window.telling
    for at, word in enumerate(telling):
        around = [each.key for each in (*telling[max(0, at - 1) : at], *telling[at + 1 : at + 2])]
        is_number = word.kind == "number" and not _YEAR.fullmatch(word.key)
        if is_number and around and not any(are_near(word.key, key, places) for key in around):
            yield f"its number {word.raw} stands beside other words"
    brief = len(telling) <= _BRIEF
    for one, other in pairwise(each.key for each in telling if brief and each.key in places):
        if not any(one in each.keys and other in each.keys for each in used):
            yield "what it says together stands in different sentences"
    written = {word.raw for each in used for word in each.words}
    for word in window.claim[1:]:
        if word.raw not in written and word.raw.swapcase() in written:
            yield f'"{word.raw}" is written otherwise'


def _misplaced(window: Window, used: Sequence[Sentence]) -> Iterator[str]:
    """Yield what has another number, year or month beside its words: that of another clause."""
    nearest = [_Nearest(each.words) for each in used]
    given = {word.key for word in window.claim if _value_of(word)}
    for at, word in enumerate(window.claim):
        if kind := _value_of(word):
            around = (*reversed(window.claim[:at]), *window.claim[at + 1 :])
            own = (each.key for each in around if each.key in window.have and not _value_of(each))
            anchor = next(own, "")
            found = {key for each in nearest for key in each.values(anchor, kind)}
            if found and found.isdisjoint(given):
                yield f"its {kind} {word.raw} stands beside other words"


class _Nearest:
    """The values of a sentence, by where they stand; to another clause it is farther."""

    def __init__(self, words: Sequence[Word]) -> None:
        self._words: dict[str, list[int]] = {}
        self._places: dict[str, list[int]] = {}
        self._keys: dict[str, list[str]] = {}
        place = 0
        for word in words:
            place += _CLAUSE if word.key in _JOINING else 1
            self._words.setdefault(word.key, []).append(place)
            if kind := _value_of(word):
                self._places.setdefault(kind, []).append(place)
                self._keys.setdefault(kind, []).append(word.key)

    def values(self, key: str, kind: str) -> Iterator[str]:
        """Yield which value of a kind is the nearest to each place of a word."""
        places = self._places.get(kind, [])
        for place in self._words.get(key, []) if places else ():
            at = bisect_left(places, place)
            beside = [n for n in (at - 1, at) if 0 <= n < len(places)]
            yield self._keys[kind][min(beside, key=lambda n: abs(places[n] - place))]


def _value_of(word: Word) -> str:
    """Return whether a word is a year, a month or another number; empty for the rest."""
    if word.kind == "number":
        return "year" if _YEAR.fullmatch(word.key) else "number"
    return "month" if word.raw in MONTHS else ""


def _shuffled(window: Window, used: Sequence[Sentence]) -> Iterator[str]:
    """Yield what stands there in another order."""
    places, telling = places_of(used), window.telling
    copied = window.features["coverage"] >= _WHOLE
    for kind in ("name", "number") if copied else ():
        keys = [each.key for each in telling if each.kind == kind and each.key in places]
        for one, other in pairwise(keys):
            if max(places[other]) < min(places[one]):
                yield f"its {kind}s stand in another order"
    if len(window.have) >= _COPIED * len(places) and window.features["coverage"] > _ALL:
        left = {key: iter(found) for key, found in places.items()}
        last = {key: found[-1] for key, found in places.items()}
        order = [next(left[w.key], last[w.key]) for w in telling if w.key in places]
        if order != sorted(order):
            yield "its words stand in another order"


def _turned(window: Window, used: Sequence[Sentence]) -> Iterator[str]:
    """Yield what only one of both denies, doubts, bounds or makes conditional."""
    claimed = {word.raw.lower() for word in window.claim}
    said = {word.raw.lower() for each in used for word in each.words}
    added = {turn_of(word) for word in window.claim if word.raw.lower() not in said}
    lost = {
        turn_of(word) for each in used for word in each.words if word.raw.lower() not in claimed
    }
    if alone := added - lost - {""}:
        yield f"the source states it without its words of {min(alone)}"
    for sentence in used:
        words = sentence.words
        taken = [at for at, word in enumerate(words) if word.tells and word.key in window.have]
        for at, word in enumerate(words):
            near = any(-_BEFORE <= at - place <= _AFTER for place in taken)
            governs = taken and 0 <= taken[0] - at <= _GOVERNS
            strong = turn_of(word) in DENIALS
            if (
                (near or (governs and strong))
                and word.raw.lower() not in claimed
                and turn_of(word) not in {*added, *_FREE}
            ):
                yield f'the source says "{word.raw}"'


def _strange(used: Sequence[Sentence], evidence: Evidence) -> Iterator[str]:
    """Yield what the sentences are, if they are no statements of the source."""
    kinds = {each.kind for each in used}
    if kinds & {"row", "code"} or not kinds & {"prose", "item"}:
        yield "it is compared with what is no sentence"
    for each in used:
        text = each.text.rstrip("\"'”’»)]*_` ")
        is_last = each is evidence.sentences[-1]
        if "?" in text[-3:] or "…" in text or "..." in text or (is_last and text[-1].isalnum()):
            yield "the sentence asks, or is not whole"
        if any(mark in each.text for mark in _STRUCK):
            yield "the sentence is struck out"
        if is_attributed(each.text):
            yield "the sentence says who says so"
        if reason := denial(each, evidence):
            yield reason
