"""Find the passages that have a question's terms, and score them with BM25."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from webtools.grounding.segmentation import Span
from webtools.grounding.terms import Hit, Term, find, lowered, searchable
from webtools.text.record import record

_K1, _B = 1.2, 0.75
_ABOVE = 0.5  # what a term in the headings above counts beside one in the passage
_STRETCH = 150  # characters
_MIN_LENGTH = 150.0  # characters; shorter passages are not taken for better


@dataclass(slots=True)
class Document:
    """A text that was cut: a page, a source, or a string.

    Attributes:
        text: The text.
        spans: Its passages.
        number: Its place among all texts.
        title: Its title, where one is known.
        url: Its address, where one is known.
        lower: What is searched: lower case, at the same length.
    """

    text: str
    spans: list[Span]
    number: int
    title: str = ""
    url: str = ""
    lower: str = field(init=False)

    def __post_init__(self) -> None:
        """Lower the text once."""
        self.lower = searchable(self.text)


@dataclass(slots=True)
class Match:
    """A passage with what it has of a question.

    Attributes:
        document: Where it stands.
        place: Number of its passage in the document.
        span: The slice of the document that it is.
        hits: By number of a term, where the passage has it.
        above: By number of a term, how surely the headings above have it.
        bm25: Score of plain term matching.
    """

    document: Document
    place: int
    span: Span
    hits: dict[int, list[Hit]]
    above: dict[int, float]
    bm25: float = 0.0

    @property
    def text(self) -> str:
        """The text of the slice."""
        return self.document.text[self.span.start : self.span.end]


@record
class Matches:
    """All passages that have anything of a question.

    Attributes:
        found: The passages, best BM25 first.
        weights: By number of a term, how rare it is; the sum is at least a little above 0.
        average: Mean length of these passages in characters.
        characters: Length of all texts together.
    """

    found: list[Match]
    weights: list[float]
    average: float
    characters: int


def match(terms: Sequence[Term], documents: Sequence[Document]) -> Matches:
    """Return the passages that have a term in them or above them."""
    found = [each for document in documents for each in _match_one(terms, document)]
    characters = sum(len(document.text) for document in documents)
    weights = _weights(terms, found, characters // _STRETCH + 1)
    lengths = [each.span.end - each.span.start for each in found]
    average = max(_MIN_LENGTH, sum(lengths) / max(1, len(lengths)))
    for each, length in zip(found, lengths, strict=True):
        each.bm25 = _bm25(each, weights, max(_MIN_LENGTH, length) / average)
    found.sort(key=lambda each: -each.bm25)
    return Matches(found, weights, average, characters)


def narrow(match: Match, span: Span, terms: Sequence[Term], matches: Matches) -> Match:
    """Return a part of a passage with what it has of the question itself."""
    inside = {
        number: kept
        for number, hits in match.hits.items()
        if (kept := [hit for hit in hits if span.start <= hit[0] < span.end])
    }
    above = _above(tuple(term.stem for term in terms), span.path) if span.path else {}
    part = Match(match.document, match.place, span, inside, above)
    length = max(_MIN_LENGTH, span.end - span.start) / matches.average
    part.bm25 = _bm25(part, matches.weights, length)
    return part


def _match_one(terms: Sequence[Term], document: Document) -> list[Match]:
    starts = [span.start for span in document.spans]
    hits: dict[int, dict[int, list[Hit]]] = {}
    for number, term in enumerate(terms):
        for hit in find(term.stem, document.lower):
            place = bisect_right(starts, hit[0]) - 1
            if place >= 0:
                hits.setdefault(place, {}).setdefault(number, []).append(hit)
    stems = tuple(term.stem for term in terms)
    found: list[Match] = []
    for place, span in enumerate(document.spans):
        above = _above(stems, span.path) if span.path else {}
        own = hits.get(place)
        if own or above:
            found.append(Match(document, place, span, own or {}, above))
    return found


@lru_cache(maxsize=4096)
def _above(stems: tuple[str, ...], path: tuple[str, ...]) -> dict[int, float]:
    """Return which stems the headings above a passage have, and how surely."""
    lower = lowered("\n".join(path))
    best = {
        number: max((weight for _, _, weight in find(stem, lower)), default=0.0)
        for number, stem in enumerate(stems)
    }
    return {number: weight for number, weight in best.items() if weight}


def _weights(terms: Sequence[Term], found: Sequence[Match], total: int) -> list[float]:
    """Return how rare each term is among all stretches of text, most of them a sentence long."""
    counts = [0] * len(terms)
    for each in found:
        for number, hits in each.hits.items():
            counts[number] += len({hit[0] // _STRETCH for hit in hits})
    return [
        math.log(1 + max(0.0, total - count + 0.5) / (count + 0.5)) + 0.2 for count in counts
    ] or [1.0]


def _bm25(each: Match, weights: Sequence[float], length: float) -> float:
    norm = _K1 * (1 - _B + _B * length)
    score = 0.0
    for number, hits in each.hits.items():
        count = sum(hit[2] for hit in hits) + _ABOVE * each.above.get(number, 0.0)
        score += weights[number] * count * (_K1 + 1) / (count + norm)
    for number, weight in each.above.items():
        if number not in each.hits:
            count = _ABOVE * weight
            score += weights[number] * count * (_K1 + 1) / (count + norm)
    return score
