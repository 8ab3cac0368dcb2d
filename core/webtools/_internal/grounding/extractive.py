"""Answer a question with quotations: up to three claims, or none if no source answers it."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from webtools._internal.grounding.duplicates import Shingles, is_repeated, shingles_of
from webtools._internal.grounding.question_types import ANSWERS
from webtools._internal.grounding.ranking import (
    Document,
    Match,
    Ranking,
    narrow,
    shortened_heading,
)
from webtools._internal.grounding.terms import find, lowered
from webtools._internal.grounding.units import LEANING, units_of

MAX_CLAIMS = 3  # claims
BEST = 14  # best passages to take claims from
# Minimum of `answer_score`. Curve: benchmarks/answers/README.md.
THRESHOLD = 0.45
_LENGTH_PENALTY = 0.15  # for ten times as much text
_MAX_BM25 = 2.2  # the maximum score of a term, in units of its rarity
_PASSAGE_WEIGHT = 0.5  # weight of the passage's score next to that of the sentence
_KIND_WEIGHT = 0.2  # for a text of the kind that the question asks for
_OPENING_WEIGHT = 0.1  # for the first sentence of a page
# Claims after the first score at least `THRESHOLD`, and this share of the first one's score.
_SCORE_SHARE = 0.65
# If the first claim has most words of the question, the others have some of them. What both rules
# are worth: benchmarks/answers/README.md.
_MOST_WORDS, _SOME_WORDS = 0.8, 0.35
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
        heading: The heading or signature that a reader needs to understand it; may be empty.
    """

    document: Document
    start: int
    quotation: str
    heading: str


def claims_of(ranking: Ranking, *, threshold: float = THRESHOLD) -> list[Claim]:
    """Return the claims that answer a question, best first; none if the documents do not.

    Args:
        ranking: The passages of the documents.
        threshold: Minimum of `answer_score`; 0 always answers if anything matches.
    """
    candidates = candidates_of(ranking)
    if not candidates or answer_score(candidates[0], ranking) < threshold:
        return []
    return [_claim(candidate, ranking) for candidate in _choose(candidates, ranking)]


def answer_score(best: Match, ranking: Ranking) -> float:
    """Return how well the best candidate of all documents fits the question.

    The score is lower in longer documents, where more words match by chance.
    """
    return best.score - _LENGTH_PENALTY * math.log10(1 + ranking.characters / 1000)


def candidates_of(ranking: Ranking) -> list[Match]:
    """Return what may be quoted from the best passages, best first.

    Scores are about 0 to 1.5, and comparable between questions.
    """
    candidates = [
        candidate
        for passage in ranking.ranked[:BEST]
        for candidate in _candidates(passage, ranking)
    ]
    candidates.sort(key=lambda candidate: -candidate.score)
    return candidates


def _candidates(passage: Match, ranking: Ranking) -> Iterator[Match]:
    document, kinds = passage.document, ranking.kinds
    max_score = _MAX_BM25 * sum(ranking.rarity)
    is_first = passage.span is document.spans[0]
    for number, unit in enumerate(units_of(document.text, passage.span)):
        if unit.is_code and "way" not in kinds:
            continue
        part = narrow(passage, unit, ranking)
        quotation = part.quotation
        matching_kinds = sum(ANSWERS[kind].search(quotation) is not None for kind in kinds)
        part.score = (part.score + _PASSAGE_WEIGHT * passage.score) / max_score
        part.score += _KIND_WEIGHT * (matching_kinds / max(1, len(kinds)))
        if is_first and number == 0:
            part.score += _OPENING_WEIGHT
        yield part


def _choose(candidates: Sequence[Match], ranking: Ranking) -> list[Match]:
    """Choose the best candidate, and of the next two those that are nearly as good."""
    chosen: list[Match] = []
    shingles: list[Shingles] = []
    for each in candidates:
        if len(chosen) == MAX_CLAIMS:
            break
        if not is_repeated(candidate_shingles := shingles_of(each.quotation), shingles):
            chosen.append(each)
            shingles.append(candidate_shingles)
    best, *others = chosen
    min_score = max(THRESHOLD, _SCORE_SHARE * best.score)
    is_complete = _share_of_words(best, ranking) >= _MOST_WORDS
    min_words = _SOME_WORDS if is_complete else 0.0
    return [best] + [
        each
        for each in others
        if each.score >= min_score and _share_of_words(each, ranking) >= min_words
    ]


def _share_of_words(match: Match, ranking: Ranking) -> float:
    """Return the share of the question's words that a quotation has, rare ones counted higher."""
    return sum(ranking.rarity[number] for number in match.hits) / sum(ranking.rarity)


def _claim(match: Match, ranking: Ranking) -> Claim:
    quotation, heading = match.quotation, _heading(match)
    # Such as "This option".
    is_leaning = LEANING.match(quotation) and lowered(heading) not in lowered(quotation)
    is_needed = heading and (is_leaning or _adds_subject(heading, quotation, ranking))
    heading = shortened_heading(heading) if is_needed else ""
    return Claim(match.document, match.span.start, quotation, heading)


def _heading(match: Match) -> str:
    """Return the last heading that names the subject of a quotation, or the title."""
    title = _SITE.split(match.document.title, maxsplit=1)[0]
    path = (title, *match.span.path)
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
    stems = ranking.stems
    return any(any(find(stem, lower_heading)) and not any(find(stem, lower)) for stem in stems)
