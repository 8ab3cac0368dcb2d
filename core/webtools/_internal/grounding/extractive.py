"""Answers in the sources' own words: one to five claims, or none where nothing answers."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from webtools._internal.grounding.duplicates import Shingles, is_repeated, shingles_of
from webtools._internal.grounding.matching import Document, Match, narrow, shortened_heading
from webtools._internal.grounding.question_types import SHOWN
from webtools._internal.grounding.ranking import Ranking
from webtools._internal.grounding.terms import find, lowered
from webtools._internal.grounding.units import LEANING, Unit, readable, units_of

MOST = 5  # claims
BEST = 14  # passages that claims are taken from, best first
# Minimum of `answer_score`. Curve: benchmarks/answers/README.md.
THRESHOLD = 0.45
_BY_LENGTH = 0.15  # for tenfold text
_MAX_BM25 = 2.2  # the most that a term can score, in units of its rarity
_PASSAGE = 0.5  # weight of the passage's score next to that of the sentence
_SHOWN = 0.2  # for the kind of answer that the question asks for
_OPENING = 0.1  # for the first sentence of a page
_MARGIN = 0.35  # claims after the first score at most this much less
# Headings that stand on every page of their kind, and name nothing.
_GENERIC = frozenset(
    str.split("description name options notes details introduction overview summary usage synopsis")
)
# What follows in a title is the name of the site.
_SITE = re.compile(r"\s+[-\u2013\u2014|\u00b7]\s+")
# What is written as code is: with an underscore, brackets, hyphens in front, or capitals within.
_NAME = re.compile(r"\w+_\w*|\w[\w.]*(?=\()|(?<![\w-])--?[a-zA-Z][\w-]*|\w*[a-z][A-Z]\w*|\w+::\w+")


@dataclass(frozen=True, slots=True)
class Claim:
    """A quotation that answers a question.

    Attributes:
        document: The source.
        start: Where the quotation begins in it.
        quotation: The source's own characters.
        text: The quotation on one line, without link addresses; code as it is.
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
        """The source's own characters."""
        return self.part.document.text[self.unit.span.start : self.unit.span.end]


def claims_of(ranking: Ranking, *, most: int = MOST, threshold: float = THRESHOLD) -> list[Claim]:
    """Return the claims that answer a question, best first; none if the documents do not.

    Args:
        ranking: The passages of the documents.
        most: Maximum number of claims.
        threshold: Minimum of `answer_score`; 0 always answers if anything matches.
    """
    candidates = candidates_of(ranking)
    if not candidates or answer_score(candidates[0], ranking) < threshold:
        return []
    return [_claim(candidate, ranking) for candidate in choose(candidates, most)]


def answer_score(best: Candidate, ranking: Ranking) -> float:
    """Return how well the best candidate of all documents fits the question.

    The score is lower in longer documents, where more words match by chance.
    """
    return best.score - _BY_LENGTH * math.log10(1 + ranking.characters / 1000)


def candidates_of(ranking: Ranking) -> list[Candidate]:
    """Return what may be quoted of the best passages, best first."""
    found = [
        candidate
        for passage in ranking.ranked[:BEST]
        for candidate in _candidates(passage, ranking)
    ]
    found.sort(key=lambda candidate: -candidate.score)
    return found


def _candidates(passage: Match, ranking: Ranking) -> Iterator[Candidate]:
    document, kinds = passage.document, ranking.kinds
    most = _MAX_BM25 * ranking.matches.whole
    is_first = passage.span is document.spans[0]
    for number, unit in enumerate(units_of(document.text, passage.span)):
        if unit.kind == "code" and "way" not in kinds:
            continue
        part = narrow(passage, unit.span, ranking.matches)
        text = document.text[unit.span.start : unit.span.end]
        shown = sum(SHOWN[kind].search(text) is not None for kind in kinds) / max(1, len(kinds))
        score = (part.score + _PASSAGE * passage.score) / most + _SHOWN * shown
        if is_first and number == 0:
            score += _OPENING
        yield Candidate(unit, part, score)


def choose(candidates: Sequence[Candidate], most: int) -> list[Candidate]:
    """Choose the best that do not repeat each other and come near the best."""
    chosen: list[Candidate] = []
    known: list[Shingles] = []
    for each in candidates:
        if len(chosen) == most:
            break
        is_near = each.score >= candidates[0].score - _MARGIN
        if is_near and not is_repeated(own := shingles_of(each.quotation), known):
            chosen.append(each)
            known.append(own)
    return chosen


def _claim(each: Candidate, ranking: Ranking) -> Claim:
    quotation, heading = each.quotation, _heading(each)
    leans = LEANING.match(quotation) and lowered(heading) not in lowered(quotation)
    is_needed = heading and (leans or _needs(heading, quotation, ranking))  # "This option": which?
    heading = shortened_heading(heading) if is_needed else ""
    shown = readable(quotation, each.unit.kind)
    return Claim(each.part.document, each.unit.span.start, quotation, shown, heading)


def _heading(each: Candidate) -> str:
    """Return the last heading that names what a quotation is about: the title at last."""
    title = _SITE.split(each.part.document.title, maxsplit=1)[0]
    path = (title, *each.unit.span.path)
    telling = [name for name in path if name.strip(" .:").lower() not in _GENERIC]
    return telling[-1] if telling else ""


def _needs(heading: str, quotation: str, ranking: Ranking) -> bool:
    """Return whether a heading names what the quotation does not.

    That is a thing written as code is, or else something that the question asks about.
    """
    lower, above = lowered(quotation), lowered(heading)
    named = [match[0].lower() for match in _NAME.finditer(heading)]
    if named:
        return not any(name in lower for name in named)
    stems = [term.stem for term in ranking.matches.terms]
    return any(any(find(stem, above)) and not any(find(stem, lower)) for stem in stems)
