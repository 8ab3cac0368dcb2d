"""Rank passages for a question by BM25 and their headings, and choose those that fit a budget."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import InitVar, dataclass, field
from functools import lru_cache

from webtools._internal.grounding.blocks import without_addresses
from webtools._internal.grounding.duplicates import Shingles, is_repeated, shingles_of
from webtools._internal.grounding.question_types import kinds_of
from webtools._internal.grounding.segmentation import MAX_PASSAGE, Span, cut
from webtools._internal.grounding.terms import (
    Hit,
    find,
    lowered,
    searchable,
    stems_of,
)
from webtools.results import Passage

_K1, _B = 1.2, 0.75
_STRETCH = 150  # characters of text, about a sentence, to count the rarity of terms
_SHOWN_LEVELS = 2  # headings shown above a passage
_SHOWN_LENGTH = 80  # characters of each heading
_MIN_REST = 120  # characters of a budget that can stay unused


@dataclass(slots=True)
class Document:
    """A page, a source or a string, cut into passages.

    Attributes:
        text: The text.
        number: Its index among all documents of the call.
        title: Its title, or an empty string.
        url: Its address, or an empty string.
        limit: Maximum length of a passage in characters.
        spans: Its passages.
        lower: The text in lower case, at the same length, without link addresses.
    """

    text: str
    number: int
    title: str = ""
    url: str = ""
    limit: InitVar[int] = MAX_PASSAGE
    spans: list[Span] = field(init=False)
    lower: str = field(init=False)

    def __post_init__(self, limit: int) -> None:
        """Cut the text, and prepare it for searches."""
        self.spans = cut(self.text, limit)
        self.lower = searchable(self.text)


@dataclass(slots=True)
class Match:
    """A passage, or a part of one, with its score for a question.

    Attributes:
        document: Its document.
        span: The slice of the document.
        hits: Positions of each stem in the passage, by the stem's index.
        headings: How well the headings and the title match each stem, by the stem's index.
        score: BM25 and headings; comparable within one question only.
    """

    document: Document
    span: Span
    hits: dict[int, list[Hit]]
    headings: dict[int, float]
    score: float = 0.0

    @property
    def quotation(self) -> str:
        """The exact characters of the document."""
        return self.document.text[self.span.start : self.span.end]

    @property
    def text(self) -> str:
        """The passage without link addresses, below the header of its table."""
        span, text = self.span, self.document.text
        body = without_addresses(text, span.start, span.end, span.blocks)
        return f"{text[slice(*span.header)]}\n{body}" if span.header else body

    @property
    def heading(self) -> str:
        """The last headings above the passage, or else its own, on one line.

        The page title is omitted: results show it next to every passage.
        """
        span, document = self.span, self.document
        own_heading = " ".join(document.text[span.start : span.lead_end].strip("# ").split())
        headings = [
            name
            for name in (span.path or (own_heading,))[-_SHOWN_LEVELS:]
            if name != document.title
        ]
        return " > ".join(shortened_heading(name) for name in headings if name)


@dataclass(frozen=True, slots=True)
class Ranking:
    """The passages that share a term with a question.

    Attributes:
        kinds: The kinds of answer that the question asks for.
        stems: The stems of the question.
        ranked: The passages, best first.
        rarity: Weight of each stem, higher if it is rare in the documents.
        average: Mean length of the passages in characters.
        characters: Length of all documents together.
    """

    kinds: frozenset[str]
    stems: tuple[str, ...]
    ranked: list[Match]
    rarity: list[float]
    average: float
    characters: int


def rank_documents(question: str, documents: Sequence[Document]) -> Ranking:
    """Rank the passages with a term of the question in their text, headings or title."""
    stems = stems_of(question, [document.lower for document in documents])
    passages = [passage for document in documents for passage in _match_document(stems, document)]
    characters = sum(len(document.text) for document in documents)
    rarity = _rarity(len(stems), passages, characters // _STRETCH + 1)
    lengths = [passage.span.end - passage.span.start for passage in passages]
    average = sum(lengths) / max(1, len(lengths))
    for passage in passages:
        passage.score = _score(passage, passage.hits, rarity, average)
    passages.sort(key=lambda passage: -passage.score)
    return Ranking(kinds_of(question), stems, passages, rarity, average, characters)


def narrow(match: Match, span: Span, ranking: Ranking) -> Match:
    """Return a part of a passage, with its own score.

    A word of the title or a heading adds nothing: it does not distinguish sentences.
    """
    hits = {
        number: part_hits
        for number, hits in match.hits.items()
        if (part_hits := [hit for hit in hits if span.start <= hit[0] < span.end])
    }
    headings = _headings(ranking.stems, (match.document.title, *span.path))
    part = Match(match.document, span, hits, headings)
    in_headings = heading_hits(part)
    own_hits = {number: hits for number, hits in hits.items() if number not in in_headings}
    part.score = _score(part, own_hits, ranking.rarity, ranking.average)
    return part


def _match_document(stems: tuple[str, ...], document: Document) -> list[Match]:
    starts = [span.start for span in document.spans]
    hits: dict[int, dict[int, list[Hit]]] = {}
    for number, stem in enumerate(stems):
        for hit in find(stem, document.lower):
            index = bisect_right(starts, hit[0]) - 1
            if index >= 0:
                hits.setdefault(index, {}).setdefault(number, []).append(hit)
    passages: list[Match] = []
    for index, span in enumerate(document.spans):
        headings = _headings(stems, (document.title, *span.path))
        passage_hits = hits.get(index)
        if passage_hits or headings:
            passages.append(Match(document, span, passage_hits or {}, headings))
    return passages


@lru_cache(maxsize=4096)
def _headings(stems: tuple[str, ...], path: tuple[str, ...]) -> dict[int, float]:
    """Return how well headings match each stem."""
    lower = lowered("\n".join(path))
    best = {
        number: max((weight for _, _, weight in find(stem, lower)), default=0.0)
        for number, stem in enumerate(stems)
    }
    return {number: weight for number, weight in best.items() if weight}


def _rarity(count: int, passages: Sequence[Match], stretches: int) -> list[float]:
    """Return the inverse document frequency of each stem, counted in stretches of text."""
    counts = [0] * count
    for passage in passages:
        for number, hits in passage.hits.items():
            counts[number] += len({hit[0] // _STRETCH for hit in hits})
    return [
        math.log(1 + max(0.0, stretches - count + 0.5) / (count + 0.5)) + 0.2 for count in counts
    ]


def _score(
    match: Match, hits: dict[int, list[Hit]], rarity: Sequence[float], average: float
) -> float:
    """Return BM25 of the hits plus the rarity of each stem in the headings or title."""
    length = match.span.end - match.span.start
    norm = _K1 * (1 - _B + _B * length / average)
    score = 0.0
    for number, places in hits.items():
        count = sum(hit[2] for hit in places)
        score += rarity[number] * count * (_K1 + 1) / (count + norm)
    return score + sum(rarity[number] * weight for number, weight in heading_hits(match).items())


def heading_hits(match: Match) -> dict[int, float]:
    """Return how well the title and all headings of a passage match each stem."""
    headings = dict(match.headings)
    for number, hits in match.hits.items():
        if hits[0][0] < match.span.lead_end:
            headings[number] = max(headings.get(number, 0.0), hits[0][2])
    return headings


def shortened_heading(heading: str) -> str:
    """Shorten a long heading at a word, with "…", and close code in it."""
    if len(heading) <= _SHOWN_LENGTH:
        return heading
    start = heading[: _SHOWN_LENGTH - 2]
    words = start.rpartition(" ")[0].rstrip(" ,;:(")
    shortened = words if len(words) > _SHOWN_LENGTH // 2 else start
    return f"{shortened}…`" if shortened.count("`") % 2 else f"{shortened}…"


# --- choosing -----------------------------------------------------------------------------------


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
