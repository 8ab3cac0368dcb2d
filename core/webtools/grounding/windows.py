"""The sentences of a text that have most of a claim, and how much of it they have."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise

from webtools.grounding.evidence import Evidence, Sentence, Word, words_of
from webtools.grounding.lexicon import TURNING
from webtools.text.record import record

FEATURES = ("coverage", "pairs", "rare", "names", "numbers", "length", "share")
DENIALS = frozenset(("negation", "failure"))
_WINDOW = 3  # sentences at most
_TRIED = 12  # sentences that windows are built around
_NEAR = 3  # words that carry meaning, between two that belong together


@record
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
        value += 0.5 * _share([*pairwise(keys)], places_of(sentences))
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
    places = places_of(sentences)
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


def places_of(sentences: Sequence[Sentence]) -> dict[str, list[int]]:
    """Return where each word that carries meaning stands, counted in such words."""
    places: dict[str, list[int]] = {}
    telling = (word.key for each in sentences for word in each.words if word.tells)
    for at, key in enumerate(telling):
        places.setdefault(key, []).append(at)
    return places


def _share(pairs: Sequence[tuple[str, str]], places: dict[str, list[int]]) -> float:
    return sum(are_near(*pair, places) for pair in pairs) / max(1, len(pairs))


def are_near(one: str, other: str, places: dict[str, list[int]]) -> bool:
    """Return whether two words stand close together."""
    others = places.get(other, ())
    return any(0 < abs(at - to) <= _NEAR for at in places.get(one, ())[:50] for to in others[:50])


def shown(words: Sequence[Word]) -> str:
    """Return words as they are written, to be told."""
    return " ".join(word.raw for word in words)


def turn_of(word: Word) -> str:
    """Return how a word turns a statement round; empty for the most."""
    return "" if word.raw == "May" else TURNING.get(word.raw.lower(), "")
