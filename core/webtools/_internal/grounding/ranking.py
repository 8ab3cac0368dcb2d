"""Rank passages for a question, and choose those that fit a budget."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from webtools._internal.grounding.duplicates import Shingles, is_repeated, shingles_of
from webtools._internal.grounding.matching import Document, Match, Matches, match
from webtools._internal.grounding.question_types import kinds_of
from webtools._internal.grounding.segmentation import MAX_PASSAGE, cut
from webtools._internal.grounding.terms import terms_of
from webtools.results import Passage

_MIN_REST = 120  # characters of a budget that can stay unused


@dataclass(frozen=True, slots=True)
class Ranking:
    """The passages that share a term with a question, best first.

    Attributes:
        kinds: The kinds of answer that the question asks for.
        matches: The passages.
        characters: Length of all documents together.
    """

    kinds: frozenset[str]
    matches: Matches
    characters: int

    @property
    def ranked(self) -> list[Match]:
        """The passages, best first."""
        return self.matches.passages


def document_of(
    text: str, number: int, *, title: str = "", url: str = "", limit: int = MAX_PASSAGE
) -> Document:
    """Cut a text into passages of at most `limit` characters."""
    return Document(text, cut(text, limit), number, title, url)


def rank_documents(question: str, documents: Sequence[Document]) -> Ranking:
    """Rank the passages of all documents that share a term with the question."""
    characters = sum(len(document.text) for document in documents)
    return Ranking(kinds_of(question), match(terms_of(question), documents), characters)


def fill(ranked: Iterable[Match], max_characters: int, first: Sequence[Match] = ()) -> list[Match]:
    """Choose the best passages that fit with their headings, without near-duplicates.

    Args:
        ranked: Passages, best first.
        max_characters: Budget of all chosen passages.
        first: Passages to include in any case.
    """
    chosen = list(first)
    shingles: list[Shingles] = [shingles_of(passage.text) for passage in first]
    room = max_characters - sum(map(size_of, first))
    for passage in ranked:
        size = size_of(passage)
        if size <= room and not is_repeated(
            passage_shingles := shingles_of(passage.text), shingles
        ):
            chosen.append(passage)
            shingles.append(passage_shingles)
            room -= size
        if room < min(_MIN_REST, max_characters):
            break
    return chosen


def size_of(passage: Match) -> int:
    """Return the characters of a passage and its heading."""
    return len(passage.text) + len(passage.heading)


def passages_of(chosen: Iterable[Match], ranked: Sequence[Match]) -> list[Passage]:
    """Return chosen passages as results, with scores from 0 to 1 among all ranked ones."""
    scores = [passage.score for passage in ranked]
    low, high = min(scores, default=0.0), max(scores, default=0.0)
    return [
        Passage(
            text=passage.text,
            heading=passage.heading,
            url=passage.document.url,
            score=round(max(0.0, passage.score - low) / (high - low), 4) if high > low else 1.0,
            offset=passage.span.start,
        )
        for passage in chosen
    ]
