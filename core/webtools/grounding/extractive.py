"""Answers in the sources' own words: one to five claims, or none where nothing answers."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from webtools.grounding.answerability import THRESHOLD, probability
from webtools.grounding.duplicates import Shingles, is_repeated, shingles_of
from webtools.grounding.features import NAMES, features_of
from webtools.grounding.matching import Document, narrow
from webtools.grounding.ranking import (
    BEST,
    Ranked,
    Ranking,
    page_shares,
    rank_documents,
    score_of,
    shortened_heading,
)
from webtools.grounding.terms import find, lowered
from webtools.grounding.units import Unit, readable, units_of
from webtools.text.record import record

MOST = 5  # claims
_BESIDE = 0.5  # what the passage's own score counts beside that of the sentence
_PAGE = 2.0  # what it counts how much of all that was ranked high stands on the same page
# Below the best score: what is worse bears on the question too little, sooner on another page.
_MARGIN, _MARGIN_ELSEWHERE = 3.0, 0.2
_LEAST_COVERAGE = 0.85  # of what the best has of the question, headings and title counted
# Of the whole question: for tenfold text so much more, from none at so many characters on.
_COVERAGE_BY_LENGTH, _SHORT, _MOST_ASKED = 0.23, 1000, 0.35
_LEANS = NAMES.index("leans")
_COVERAGE = NAMES.index("coverage_around")
# Headings that stand on every page of their kind, and name nothing.
_GENERIC = frozenset(
    str.split("description name options notes details introduction overview summary usage synopsis")
)
# What follows in a title is the name of the site.
_SITE = re.compile(r"\s+[-\u2013\u2014|\u00b7]\s+")
# What says that something was named before: its page or section, or the sentence above.
_MEANT = re.compile(
    r"[\s:#*>-]{0,9}(?:the|this) (?:command|directive|function|method|module|option|program|setting"
    r"|tool|class|package|attribute|statement|clause)\b",
    re.IGNORECASE,
)
# What is written as code is: with an underscore, brackets, hyphens in front, or capitals within.
_NAME = re.compile(r"\w+_\w*|\w[\w.]*(?=\()|(?<![\w-])--?[a-zA-Z][\w-]*|\w*[a-z][A-Z]\w*|\w+::\w+")


@record
class Quotation:
    """Where a claim stands.

    Attributes:
        url: Address of the source.
        title: Its title.
        quotation: The words, in the source's own characters.
        number: Place of the source among those given, from 0.
        offset: Where the quotation begins in it.
    """

    url: str
    title: str
    quotation: str
    number: int = 0
    offset: int = 0


@record
class Claim:
    """One statement of an answer.

    Attributes:
        text: What is shown: the quotation on one line, after the signature or heading it needs.
        citations: The one place that it is quoted from.
        status: Always `quoted`.
        score: How well it fits; claims of different answers do not compare.
    """

    text: str
    citations: tuple[Quotation, ...]
    status: str = "quoted"
    score: float = 0.0


@dataclass(slots=True)
class Candidate:
    """Something that may be quoted, with its features and score.

    Attributes:
        unit: The slice.
        document: Of which text.
        features: Of the slice.
        score: Of the slice, its passage and its page.
        coverage: What share of the question the slice and its passage have, their mean.
    """

    unit: Unit
    document: Document
    features: list[float] = field(repr=False)
    score: float
    coverage: float

    @property
    def quotation(self) -> str:
        """The source's own characters."""
        return self.document.text[self.unit.span.start : self.unit.span.end]


def extract(
    question: str,
    documents: Sequence[Document],
    *,
    most: int = MOST,
    threshold: float = THRESHOLD,
) -> list[Claim]:
    """Return the claims that answer a question, best first; none when the documents do not.

    Args:
        question: What is asked.
        documents: Texts that were cut (`ranking.document_of`).
        most: Claims to return at most.
        threshold: How likely it must be that they answer it, 0 to 1.
    """
    return claims_of(rank_documents(question, documents), most=most, threshold=threshold)


def claims_of(ranking: Ranking, *, most: int = MOST, threshold: float = THRESHOLD) -> list[Claim]:
    """Return the claims that answer the question of a ranking; see `extract`."""
    candidates = candidates_of(ranking)
    if likelihood(candidates, ranking) < threshold:
        return []
    least = _least_coverage(ranking.matches.characters)
    bearing = [each for each in candidates if each.coverage >= least]
    return [_claim(each, ranking) for each in choose(bearing, most)]


def _least_coverage(characters: int) -> float:
    """Return how much of a question a claim must have: in more text more has some by chance."""
    return min(_MOST_ASKED, _COVERAGE_BY_LENGTH * math.log10(max(1.0, characters / _SHORT)))


def likelihood(candidates: Sequence[Candidate], ranking: Ranking) -> float:
    """Return how likely it is that the best of what may be quoted answers the question."""
    features, scores = [each.features for each in candidates], [each.score for each in candidates]
    return probability(features, scores, ranking)


def candidates_of(ranking: Ranking) -> list[Candidate]:
    """Return what may be quoted of the best passages, best first."""
    shares = page_shares(ranking.ranked)
    found = [
        each
        for passage in ranking.ranked[:BEST]
        for each in _candidates(passage, ranking, shares[passage.match.document.number])
    ]
    found.sort(key=lambda each: -each.score)
    return found


def _candidates(passage: Ranked, ranking: Ranking, share: float) -> Iterator[Candidate]:
    document = passage.match.document
    for unit in units_of(document.text, passage.match.span):
        if unit.kind == "code" and "way" not in ranking.question.kinds:
            continue
        part = narrow(passage.match, unit.span, ranking.question.terms, ranking.matches)
        features = features_of(part, ranking.pool)
        score = score_of(features) + _BESIDE * passage.score + _PAGE * math.log(share)
        coverage = (features[_COVERAGE] + passage.features[_COVERAGE]) / 2
        yield Candidate(unit, document, features, score, coverage)


def choose(candidates: Sequence[Candidate], most: int) -> list[Candidate]:
    """Choose the best that do not repeat each other and come near the best."""
    chosen: list[Candidate] = []
    known: list[Shingles] = []
    for each in candidates:
        if len(chosen) == most:
            break
        bears = not chosen or _comes_near(each, chosen[0])
        if bears and not is_repeated(own := shingles_of(each.quotation), known):
            chosen.append(each)
            known.append(own)
    return chosen


def _comes_near(each: Candidate, best: Candidate) -> bool:
    margin = _MARGIN if each.document is best.document else _MARGIN_ELSEWHERE
    least = _LEAST_COVERAGE * best.features[_COVERAGE]
    return each.score >= best.score - margin and each.features[_COVERAGE] >= least


def _claim(each: Candidate, ranking: Ranking) -> Claim:
    quotation = each.quotation
    shown = readable(quotation, each.unit.kind)
    document, span = each.document, each.unit.span
    heading = _heading(each)
    leaning = bool(each.features[_LEANS]) or _MEANT.match(quotation) is not None
    leans = leaning and lowered(heading) not in lowered(quotation)
    if heading and (leans or _needs(heading, quotation, ranking)):  # "This option": which one?
        separator = ":\n" if each.unit.kind == "code" else ": "
        shown = f"{shortened_heading(heading)}{separator}{shown}"
    where = Quotation(document.url, document.title, quotation, document.number, span.start)
    return Claim(shown, (where,), score=each.score)


def _heading(each: Candidate) -> str:
    """Return the last heading that names what a quotation is about: the title at last."""
    title = _SITE.split(each.document.title, maxsplit=1)[0]
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
    stems = [term.stem for term in ranking.question.terms]
    return any(any(find(stem, above)) and not any(find(stem, lower)) for stem in stems)
