# ruff: noqa: RUF001  signs of other scripts are what this reads
"""How well a text bears out a claim: a number that is calibrated, and faults that no number mends.

The number is that of a logistic regression over how much of the claim's words the best one to three
neighbouring sentences have. `scripts/fit_claims.py` fitted it, and wrote `claim_weights.py`.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import pairwise
from typing import NamedTuple

from webtools.grounding.claim_weights import BIAS, DROPPED, SUPPORTED, WEIGHTS
from webtools.grounding.evidence import CJK, Evidence, Sentence, Word, digits_of, words_of
from webtools.grounding.lexicon import MONTHS, TELLING, TURNING
from webtools.grounding.neighbours import denial, is_attributed
from webtools.grounding.quotations import ends_with_abbreviation
from webtools.results import ClaimStatus

FEATURES = ("coverage", "pairs", "rare", "names", "numbers", "length", "share")
LONGEST = 1000  # characters of a claim
_WINDOW = 3  # sentences at most
_TRIED = 12  # sentences that windows are built around
_NEAR = 3  # words that carry meaning, between two that belong together
_BEFORE, _AFTER = 2, 4  # words around what a claim took, in which a word may turn it round
_GOVERNS = 6  # words before the first one taken, in which it is denied as a whole
_FREE = frozenset(("", "future", "leaning"))  # what a claim need not repeat
_STRONG = frozenset(("negation", "failure"))
_LEAST = 6  # words of a claim that its source has, for more than a guess
_COPIED = 0.7  # share of a claim's words that a near-copy has from a source in order
_WHOLE, _ALL = 0.85, 0.999  # shares of its words from which on their order counts
_CHANGED = 2  # words of a near-copy that are changed at most
_BRIEF = 6  # words of a claim that stand in one sentence, if it is not made up of two
_YEAR = re.compile(r"1\d{3}|20\d\d")
_CLAUSE = 8  # words that the beginning of another clause counts as
_JOINING = frozenset(("and", "but", "while", "when", "who", "which", "then", "before", "after"))
_SIGNS = re.compile(r"(?<!\S)(?:[<>]=?|[=!]=|[≤≥≠±~≈])(?=[\s\d])")
_STRUCK = ("<!--", "-->", "~~")
_UNIT = 4  # letters of a unit whose case counts


@dataclass(frozen=True, slots=True)
class Support:
    """How a text bears out a claim.

    Attributes:
        status: `supported`, `uncertain` or `unsupported`.
        score: The number that decides; its scale is that of log odds.
        reason: What is missing, in words; empty for what is supported.
        start: Where the best sentences begin in the text.
        end: Where they end.
        is_contradicted: Whether the text says otherwise, whoever else may judge.
    """

    status: ClaimStatus
    score: float
    reason: str = ""
    start: int = 0
    end: int = 0
    is_contradicted: bool = False


@dataclass(frozen=True, slots=True)
class Window:
    """One to three neighbouring sentences beside a claim.

    Attributes:
        claim: The words of the claim.
        sentences: The sentences.
        have: Keys of the claim's words that stand there.
        features: By their names.
    """

    claim: tuple[Word, ...]
    sentences: tuple[Sentence, ...]
    have: frozenset[str]
    features: dict[str, float]

    @property
    def telling(self) -> list[Word]:
        """The words of the claim that carry meaning."""
        return [each for each in self.claim if each.tells]


def support(claim: str, evidence: Evidence) -> Support:
    """Judge how a text bears out a claim."""
    if len(claim) > LONGEST:
        return Support("unsupported", -math.inf, "it is too long to be compared")
    window = best_window(claim, evidence)
    if window is None:
        return Support("unsupported", -math.inf, "the source has none of its words")
    score = score_of(window.features)
    used = [each for each in window.sentences if _adds(each, window)] or window.sentences[:1]
    start, end = used[0].start, used[-1].end
    changes = _changes(window, used)
    if reason := contradiction(window, changes, evidence):
        return Support("unsupported", score, reason, start, end, is_contradicted=True)
    if score < DROPPED:
        return Support("unsupported", score, "the source has too few of its words", start, end)
    reason = next(doubts(claim, window, used, evidence), "")
    if not reason and score < SUPPORTED:
        reason = "the source has not enough of its words together"
    return Support("uncertain" if reason else "supported", score, reason, start, end)


def score_of(features: dict[str, float]) -> float:
    """Return the log odds that a claim is borne out."""
    return BIAS + sum(weight * features[name] for name, weight in WEIGHTS.items())


# --- the best sentences ------------------------------------------------------------------------


def best_window(claim: str, evidence: Evidence) -> Window | None:
    """Return the sentences that have most of a claim's words, and its pairs of neighbours."""
    words = words_of(claim)
    keys = [each.key for each in words if each.tells]
    weights = {key: evidence.weight(key) for key in keys}
    found: tuple[float, tuple[Sentence, ...]] | None = None
    for sentences in _windows(evidence, evidence.near(weights, _TRIED)):
        have = {key for each in sentences for key in each.keys}
        coverage = sum(weight for key, weight in weights.items() if key in have)
        value = coverage / sum(weights.values()) - 0.03 * len(sentences)
        value += 0.5 * _share([*pairwise(keys)], _places(sentences))
        if found is None or value > found[0]:
            found = value, sentences
    return _described(words, weights, found[1]) if found else None


def _windows(evidence: Evidence, places: Sequence[int]) -> Iterator[tuple[Sentence, ...]]:
    spans = {
        (first, first + size)
        for place in places
        for size in range(1, _WINDOW + 1)
        for first in range(max(0, place - size + 1), place + 1)
        if first + size <= len(evidence.sentences)
    }
    for first, last in sorted(spans):
        yield tuple(evidence.sentences[first:last])


def _described(
    words: tuple[Word, ...], weights: dict[str, float], sentences: tuple[Sentence, ...]
) -> Window:
    """Return the features of the sentences, each from 0 to 1 but for the length."""
    places = _places(sentences)
    have = frozenset(key for key in weights if key in places)
    rare = sorted(weights, key=lambda key: -weights[key])[: max(1, len(weights) // 3)]

    def share(kind: str) -> float:
        keys = [each.key for each in words if each.kind == kind]
        return sum(key in have for key in keys) / len(keys) if keys else 1.0

    keys = [each.key for each in words if each.tells]
    features = {
        "coverage": sum(weights[key] for key in have) / sum(weights.values()),
        "pairs": _share([*pairwise(keys)], places),
        "rare": sum(key in have for key in rare) / len(rare),
        "names": share("name"),
        "numbers": share("number"),
        "length": math.log(1 + len(keys)),
        "share": len(have) / len(places),
    }
    return Window(words, sentences, have, features)


def _places(sentences: Sequence[Sentence]) -> dict[str, list[int]]:
    """Return where each word that carries meaning stands, counted in such words."""
    places: dict[str, list[int]] = {}
    telling = (word.key for each in sentences for word in each.words if word.tells)
    for at, key in enumerate(telling):
        places.setdefault(key, []).append(at)
    return places


def _share(pairs: Sequence[tuple[str, str]], places: dict[str, list[int]]) -> float:
    return sum(_are_near(*pair, places) for pair in pairs) / max(1, len(pairs))


def _are_near(one: str, other: str, places: dict[str, list[int]]) -> bool:
    others = places.get(other, ())
    return any(0 < abs(at - to) <= _NEAR for at in places.get(one, ())[:50] for to in others[:50])


def _adds(sentence: Sentence, window: Window) -> bool:
    """Return whether a sentence has a word of the claim that no other one of the window has."""
    others = [each.keys for each in window.sentences if each is not sentence]
    return any(not any(key in keys for keys in others) for key in sentence.keys & window.have)


# --- what speaks against it --------------------------------------------------------------------


class _Change(NamedTuple):
    """Where a claim and its source differ between words that they share, or are alike."""

    tag: str
    put: Sequence[Word]
    had: Sequence[Word]
    is_edge: bool


def contradiction(window: Window, changes: Sequence[_Change], evidence: Evidence) -> str:
    """Return why a claim is false as far as words can show it; empty when they do not."""
    for word in window.claim:
        if word.kind == "number" and digits_of(word.key) not in evidence.digits:
            return f"the source does not have its number {word.raw}"
    if not _is_copy(changes, window):
        return ""
    for each in changes:
        if each.tag == "equal":
            found = _other_unit(each)
        else:
            found = _denied(each) or _replaced(each, window)
        if found:
            return found
    return ""


def _changes(window: Window, used: Sequence[Sentence]) -> list[_Change]:
    stated = [each for each in used if each.kind not in {"heading", "term"}] or used
    claim, source = window.claim, [word for each in stated for word in each.words]
    keys = [word.key for word in claim], [word.key for word in source]
    steps = SequenceMatcher(None, *keys, autojunk=False).get_opcodes()
    return [
        _Change(tag, claim[i:j], source[k:n], at in {0, len(steps) - 1})
        for at, (tag, i, j, k, n) in enumerate(steps)
    ]


def _is_copy(changes: Sequence[_Change], window: Window) -> bool:
    """Return whether a claim has most of its words from the source in order."""
    same = sum(word.tells for each in changes if each.tag == "equal" for word in each.put)
    return same >= max(2, _COPIED * len(window.telling))


def _denied(change: _Change) -> str:
    """Return what a near-copy denies, or does not deny any more."""
    put, had = ({_turns(word): word.raw for word in words} for words in (change.put, change.had))
    for kind in sorted(_STRONG):
        if kind in put and kind not in had:
            return f'the source has no "{put[kind]}" there'
        if kind in had and kind not in put and not change.is_edge:
            return f'the source says "{had[kind]}" there'
    return ""


def _replaced(change: _Change, window: Window) -> str:
    """Return what a near-copy has in place of some words, where it did not only move them."""
    put, had = ([word for word in words if word.tells] for words in (change.put, change.had))
    if change.tag != "replace" or not put or max(len(put), len(had)) > _CHANGED:
        return ""
    if not had and not all(word.raw.lower() in TELLING for word in put):
        return ""
    strange = [word for word in put if not _is_moved(word, window)]
    return f'the source has "{_shown(had)}" for its "{_shown(strange)}"' if strange else ""


def _is_moved(word: Word, window: Window) -> bool:
    is_plain = word.kind == "word" and word.raw.lower() not in TELLING
    return is_plain and word.key in window.have


def _shown(words: Sequence[Word]) -> str:
    return " ".join(word.raw for word in words)


def _turns(word: Word) -> str:
    return "" if word.raw == "May" else TURNING.get(word.raw.lower(), "")


def _other_unit(change: _Change) -> str:
    """Return a unit that is written otherwise: `5 mW` is not `5 MW`."""
    for one, other in zip(change.put, change.had, strict=True):
        is_unit = one.kind == "number" and len(one.unit) <= _UNIT and one.unit != other.unit
        if is_unit and one.unit.lower() == other.unit.lower():
            return f"the source has {other.raw} {other.unit} for its {one.raw} {one.unit}"
    return ""


# --- what keeps it from being certain ----------------------------------------------------------


def doubts(
    claim: str, window: Window, used: Sequence[Sentence], evidence: Evidence
) -> Iterator[str]:
    """Yield why words alone cannot show that a claim is borne out."""
    for word in window.claim:
        if word.kind in {"name", "number"} and word.key not in window.have:
            yield f"the sentences do not have its {word.kind} {word.raw}"
    words = [word for word in window.telling if word.raw.lower() not in TELLING]
    found = sum(word.key in window.have for word in words)
    if found < max(_LEAST, len(words) / 2):
        yield "the sentences have too few of its words"
    if ends_with_abbreviation(claim):
        yield "it may be cut after an abbreviation"
    said = " ".join(each.text for each in used)
    if set(_SIGNS.findall(claim)) != set(_SIGNS.findall(said)):
        yield "its signs of comparison are not those of the sentences"
    if CJK.search(_shown(window.claim)):
        yield "claims in its script are compared word for word alone"
    yield from _misplaced(window, used)
    yield from _loose(window, used)
    yield from _shuffled(window, used)
    yield from _turned(window, used)
    yield from _strange(used, evidence)


def _loose(window: Window, used: Sequence[Sentence]) -> Iterator[str]:
    """Yield what stands there, but beside other words or in other sentences."""
    places, telling = _places(used), window.telling
    for at, word in enumerate(telling):
        around = [each.key for each in (*telling[max(0, at - 1) : at], *telling[at + 1 : at + 2])]
        is_number = word.kind == "number" and not _YEAR.fullmatch(word.key)
        if is_number and around and not any(_are_near(word.key, key, places) for key in around):
            yield f"its number {word.raw} stands beside other words"
    brief = len(telling) <= _BRIEF
    for one, other in pairwise(each.key for each in telling if brief and each.key in places):
        if not any(one in each.keys and other in each.keys for each in used):
            yield "what it says together stands in different sentences"


def _misplaced(window: Window, used: Sequence[Sentence]) -> Iterator[str]:
    """Yield what has another number, year or month beside its words: that of another clause."""
    nearest = [_Nearest(each.words) for each in used]
    given = {word.key for word in window.claim if _value_of(word)}
    for at, word in enumerate(window.claim):
        around = (*reversed(window.claim[:at]), *window.claim[at + 1 :])
        own = (each.key for each in around if each.key in window.have and not _value_of(each))
        kind, anchor = _value_of(word), next(own, "")
        found = {key for each in nearest for key in each.values(anchor, kind)} if kind else set()
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
    places, telling = _places(used), window.telling
    copied = window.features["coverage"] >= _WHOLE
    for kind in ("name", "number") if copied else ():
        keys = [each.key for each in telling if each.kind == kind and each.key in places]
        for one, other in pairwise(keys):
            if max(places[other]) < min(places[one]):
                yield f"its {kind}s stand in another order"
    if len(window.have) >= _COPIED * len(places) and window.features["coverage"] > _ALL:
        first = [places[each.key][0] for each in telling]
        if first != sorted(first):
            yield "its words stand in another order"


def _turned(window: Window, used: Sequence[Sentence]) -> Iterator[str]:
    """Yield what only one of both denies, doubts, bounds or makes conditional."""
    claimed = {word.raw.lower() for word in window.claim}
    said = {word.raw.lower() for each in used for word in each.words}
    added = {_turns(word) for word in window.claim if word.raw.lower() not in said}
    lost = {_turns(word) for each in used for word in each.words if word.raw.lower() not in claimed}
    if alone := added - (lost - {"leaning"}) - {""}:
        yield f"the source states it without its words of {min(alone)}"
    for sentence in used:
        words = sentence.words
        taken = [at for at, word in enumerate(words) if word.tells and word.key in window.have]
        for at, word in enumerate(words):
            near = any(-_BEFORE <= at - place <= _AFTER for place in taken)
            governs = taken and 0 <= taken[0] - at <= _GOVERNS
            strong = _turns(word) in _STRONG
            if (
                (near or (governs and strong))
                and word.raw.lower() not in claimed
                and _turns(word) not in {*added, *_FREE}
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
