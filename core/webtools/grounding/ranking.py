"""Rank the passages of pages against a question, and fill them into one budget."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from webtools.grounding.duplicates import Shingles, is_repeated, shingles_of
from webtools.grounding.features import NAMES, Pool, Question, features_of, pool_of, read_question
from webtools.grounding.matching import Document, Match, Matches, match
from webtools.grounding.segmentation import MOST, Span, cut
from webtools.grounding.weights import WEIGHTS
from webtools.results import Passage

CANDIDATES = 120  # passages that are looked at closely, best BM25 first
BEST = 14  # of these, those that claims are taken from
_SPREAD = 2.0  # difference of scores at which one passage weighs e times another
_LEAST_LEFT = 120  # characters of a budget that are not worth filling
_SHOWN_LEVELS = 2  # headings named above a passage
_SHOWN_LENGTH = 80  # characters of each
_WEIGHTS = tuple(WEIGHTS.get(name, 0.0) for name in NAMES)


@dataclass(slots=True)
class Ranked:
    """A passage with its score; scores of one ranking compare with each other only."""

    match: Match
    features: list[float]
    score: float

    @property
    def text(self) -> str:
        """The source's own characters; the header of its table first, where it is split off."""
        header = self.match.span.header
        above = f"{self.match.document.text[slice(*header)]}\n" if header else ""
        return above + self.match.text

    @property
    def heading(self) -> str:
        """The headings and terms above it, or its own where there are none."""
        return heading_of(self.match.span, self.match.document)


@dataclass(slots=True)
class Ranking:
    """All candidates, best first, and what they were set against."""

    question: Question
    matches: Matches
    pool: Pool
    ranked: list[Ranked]


def heading_of(span: Span, document: Document) -> str:
    """Return the last headings above a passage on one line; its own where there are none.

    The title of the page is left out, as it stands beside every passage.
    """
    path = span.path or (_own_heading(span, document),)
    told = [each for each in path[-_SHOWN_LEVELS:] if each and each != document.title]
    return " > ".join(map(shortened_heading, told))


def shortened_heading(heading: str) -> str:
    """Return a heading; a long one ends at a word with "…", and code in it is closed."""
    if len(heading) <= _SHOWN_LENGTH:
        return heading
    cut = heading[: _SHOWN_LENGTH - 2]
    words = cut.rpartition(" ")[0].rstrip(" ,;:(")
    kept = words if len(words) > _SHOWN_LENGTH // 2 else cut
    return f"{kept}…`" if kept.count("`") % 2 else f"{kept}…"


def _own_heading(span: Span, document: Document) -> str:
    return " ".join(document.text[span.start : span.lead_end].strip("# ").split())


def score_of(features: Sequence[float]) -> float:
    """Return the score of a passage by its features."""
    return sum(map(float.__mul__, _WEIGHTS, features))


def document_of(
    text: str, number: int, *, title: str = "", url: str = "", most: int = MOST
) -> Document:
    """Return a text cut into passages of at most so many characters."""
    return Document(text, cut(text, most), number, title, url)


def rank_documents(question: str, documents: Sequence[Document]) -> Ranking:
    """Rank the passages of all documents that share a term with the question."""
    read = read_question(question)
    matches = match(read.terms, documents)
    pool = pool_of(read, matches)
    ranked: list[Ranked] = []
    for each in matches.found[:CANDIDATES]:
        features = features_of(each, pool)
        ranked.append(Ranked(each, features, score_of(features)))
    ranked.sort(key=lambda each: -each.score)
    return Ranking(read, matches, pool, ranked)


def page_shares(ranked: Sequence[Ranked]) -> dict[int, float]:
    """Return by document how much stands on it of what is ranked best, 0 to 1 for the first."""
    weights: dict[int, float] = {}
    for each in ranked[:BEST]:
        weight = math.exp((each.score - ranked[0].score) / _SPREAD)
        number = each.match.document.number
        weights[number] = weights.get(number, 0.0) + weight
    most = max(weights.values(), default=1.0)
    return {number: weight / most for number, weight in weights.items()}


def fill(ranked: Iterable[Ranked], max_characters: int) -> list[Ranked]:
    """Choose from the best on what fits, headings counted, and repeats nothing chosen before."""
    chosen: list[Ranked] = []
    known: list[Shingles] = []
    left = max_characters
    for each in ranked:
        size = len(each.text) + len(each.heading)
        if size <= left and not is_repeated(own := shingles_of(each.match.text), known):
            chosen.append(each)
            known.append(own)
            left -= size
        if left < min(_LEAST_LEFT, max_characters):
            break
    return chosen


def passages_of(chosen: Iterable[Ranked], ranked: Sequence[Ranked]) -> list[Passage]:
    """Return chosen passages as callers get them, scored against all that were looked at."""
    scores = [each.score for each in ranked]
    low, high = min(scores, default=0.0), max(scores, default=0.0)
    return [
        Passage(
            text=each.text,
            heading=each.heading,
            url=each.match.document.url,
            score=round((each.score - low) / (high - low), 4) if high > low else 1.0,
            offset=each.match.span.start,
        )
        for each in chosen
    ]
