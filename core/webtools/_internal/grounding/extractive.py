"""Answer a question with quotations: up to five claims, or none if no source answers it."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from webtools._internal.grounding.duplicates import Shingles, is_repeated, shingles_of
from webtools._internal.grounding.matching import Document, Match, narrow, shortened_heading
from webtools._internal.grounding.question_types import ANSWERS
from webtools._internal.grounding.ranking import Ranking
from webtools._internal.grounding.terms import find, lowered
from webtools._internal.grounding.units import LEANING, Unit, readable, units_of

MAX_CLAIMS = 5  # claims
BEST = 14  # best passages to take claims from
# Minimum of `answer_score`. Curve: benchmarks/answers/README.md.
THRESHOLD = 0.45
_LENGTH_PENALTY = 0.15  # for ten times as much text
_MAX_BM25 = 2.2  # the maximum score of a term, in units of its rarity
_PASSAGE_WEIGHT = 0.5  # weight of the passage's score next to that of the sentence
_KIND_WEIGHT = 0.2  # for a text of the kind that the question asks for
_OPENING_WEIGHT = 0.1  # for the first sentence of a page
_MARGIN = 0.35  # claims after the first score at most this much less
# Generic headings, which name no subject.
_GENERIC = frozenset(
    str.split("description name options notes details introduction overview summary usage synopsis")
)
# Separates a title from the name of the site.
_SITE = re.compile(r"\s+[-\u2013\u2014|\u00b7]\s+")
# Identifiers: with an underscore, brackets, leading hyphens, or capitals within.
_NAME = re.compile(r"\w+_\w*|\w[\w.]*(?=\()|(?<![\w-])--?[a-zA-Z][\w-]*|\w*[a-z][A-Z]\w*|\w+::\w+")


@dataclass(frozen=True, slots=True)
class Claim:
    """A quotation that answers a question.

    Attributes:
        document: The source.
        start: Start of the quotation in the source.
        quotation: The exact characters of the source.
        text: The quotation on one line, without link addresses; code unchanged.
        heading: The heading or signature that a reader needs to understand it; may be empty.
    """

    document: Document
    start: int
    quotation: str
    text: str
    heading: str


@dataclass(slots=True)
class Candidate:
    """A sentence, definition, row or code block that may be quoted.

    Attributes:
        unit: The slice.
        part: The slice as a part of its passage.
        score: About 0 to 1.5; comparable between questions.
    """

    unit: Unit
    part: Match
    score: float

    @property
    def quotation(self) -> str:
        """The exact characters of the source."""
        return self.part.document.text[self.unit.span.start : self.unit.span.end]


def claims_of(
    ranking: Ranking, *, limit: int = MAX_CLAIMS, threshold: float = THRESHOLD
) -> list[Claim]:
    """Return the claims that answer a question, best first; none if the documents do not.

    Args:
        ranking: The passages of the documents.
        limit: Maximum number of claims.
        threshold: Minimum of `answer_score`; 0 always answers if anything matches.
    """
    candidates = candidates_of(ranking)
    if not candidates or answer_score(candidates[0], ranking) < threshold:
        return []
    return [_claim(candidate, ranking) for candidate in choose(candidates, limit)]


def answer_score(best: Candidate, ranking: Ranking) -> float:
    """Return how well the best candidate of all documents fits the question.

    The score is lower in longer documents, where more words match by chance.
    """
    return best.score - _LENGTH_PENALTY * math.log10(1 + ranking.characters / 1000)


def candidates_of(ranking: Ranking) -> list[Candidate]:
    """Return the candidates from the best passages, best first."""
    candidates = [
        candidate
        for passage in ranking.ranked[:BEST]
        for candidate in _candidates(passage, ranking)
    ]
    candidates.sort(key=lambda candidate: -candidate.score)
    return candidates


def _candidates(passage: Match, ranking: Ranking) -> Iterator[Candidate]:
    document, kinds = passage.document, ranking.kinds
    max_score = _MAX_BM25 * ranking.matches.total_rarity
    is_first = passage.span is document.spans[0]
    for number, unit in enumerate(units_of(document.text, passage.span)):
        if unit.kind == "code" and "way" not in kinds:
            continue
        part = narrow(passage, unit.span, ranking.matches)
        text = document.text[unit.span.start : unit.span.end]
        kind_share = sum(ANSWERS[kind].search(text) is not None for kind in kinds) / max(
            1, len(kinds)
        )
        score = (
            part.score + _PASSAGE_WEIGHT * passage.score
        ) / max_score + _KIND_WEIGHT * kind_share
        if is_first and number == 0:
            score += _OPENING_WEIGHT
        yield Candidate(unit, part, score)


def choose(candidates: Sequence[Candidate], limit: int) -> list[Candidate]:
    """Choose the best candidates without repetitions, all close to the best one."""
    chosen: list[Candidate] = []
    shingles: list[Shingles] = []
    for each in candidates:
        if len(chosen) == limit:
            break
        is_near = each.score >= candidates[0].score - _MARGIN
        if is_near and not is_repeated(candidate_shingles := shingles_of(each.quotation), shingles):
            chosen.append(each)
            shingles.append(candidate_shingles)
    return chosen


def _claim(each: Candidate, ranking: Ranking) -> Claim:
    quotation, heading = each.quotation, _heading(each)
    is_leaning = LEANING.match(quotation) and lowered(heading) not in lowered(quotation)
    is_needed = heading and (
        is_leaning or _adds_subject(heading, quotation, ranking)
    )  # such as "This option"
    heading = shortened_heading(heading) if is_needed else ""
    text = readable(quotation, each.unit.kind)
    return Claim(each.part.document, each.unit.span.start, quotation, text, heading)


def _heading(each: Candidate) -> str:
    """Return the last heading that names the subject of a quotation, or the title."""
    title = _SITE.split(each.part.document.title, maxsplit=1)[0]
    path = (title, *each.unit.span.path)
    names = [name for name in path if name.strip(" .:").lower() not in _GENERIC]
    return names[-1] if names else ""


def _adds_subject(heading: str, quotation: str, ranking: Ranking) -> bool:
    """Return whether a heading names a subject that the quotation does not.

    That is an identifier, or else something that the question asks about.
    """
    lower, lower_heading = lowered(quotation), lowered(heading)
    identifiers = [match[0].lower() for match in _NAME.finditer(heading)]
    if identifiers:
        return not any(name in lower for name in identifiers)
    stems = [term.stem for term in ranking.matches.terms]
    return any(any(find(stem, lower_heading)) and not any(find(stem, lower)) for stem in stems)
