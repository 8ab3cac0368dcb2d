# ruff: noqa: RUF001  signs of other scripts are what this reads
"""Describe a passage beside a question in numbers, most of them between 0 and 1."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from webtools.grounding.matching import Match, Matches
from webtools.grounding.questions import KINDS, SHOWN, kinds_of
from webtools.grounding.terms import Hit, Term, find, identifiers_of, terms_of
from webtools.grounding.units import LEANING
from webtools.text.record import record

_WINDOW = 160  # characters in which terms count as standing together
_NEAR = 3  # characters between two neighbouring words
_CODE = re.compile(r"```|~~~|^ {4,}\S|>>> ", re.MULTILINE)
_SIGNATURE = re.compile(r"\w\(|\w_\w|--?[a-z]|::|[a-z][A-Z]")
_WORDS = re.compile(r"[^\W_]+")
_OPENING_VERB = re.compile(
    r"^(?:[:\s*>-]{0,12})(?:Returns?|Sets?|Specif\w+|Enables?|Creates?|Makes?|Controls?|Defines?"
    r"|Removes?|Causes?|Shows?|Runs?|Tells?|Gets?|Computes?|Converts?|This (?:directive|option"
    r"|function|command|parameter|setting|method)|If (?:set|true|given))\b",
    re.MULTILINE,
)
_REFERENCE = re.compile(
    r"\bsee also\b|\bsee (?:section|chapter|the)\b|\bnext\b.{0,20}\bprevious\b"
    r"|copyright|all rights reserved|cookie",
    re.IGNORECASE,
)
_QUESTION_MARK = re.compile(r"[?？]\s*$", re.MULTILINE)
_LINK = re.compile(r"\]\(")

NAMES = (
    "bm25", "bm25_share", "coverage", "coverage_around", "lead", "lead_precision", "path",
    "title", "pairs", "window", "identifiers", "opening", "related", "missing_rarest",
    "has_code", "is_term", "lead_is_signature", "begins_with_verb", "is_list", "is_row",
    "is_reference", "asks", "links", "leans", "length", "short", "first", "position",
    "page_rank", "page_share", "all_terms",
    *(f"{kind}_shown" for kind in KINDS),
    "way_code", "named_signature", "named_term", "meaning_first", "default_number",
)  # fmt: skip


@record
class Question:
    """A question, read once.

    Attributes:
        terms: What it is about.
        identifiers: What it writes as code does, in lower case.
        kinds: The kinds of answer it wants.
    """

    terms: tuple[Term, ...]
    identifiers: tuple[str, ...]
    kinds: frozenset[str]


def read_question(question: str) -> Question:
    """Return what a question is about and what it wants."""
    return Question(
        terms_of(question),
        tuple(each.lower() for each in identifiers_of(question)),
        kinds_of(question),
    )


@record
class Pool:
    """What the features of one passage are set against.

    Attributes:
        question: The question.
        weights: By number of a term, its rarity.
        whole: Their sum.
        best: The best BM25 of all passages.
        best_of: By number of a document, its best BM25.
    """

    question: Question
    weights: Sequence[float]
    whole: float
    best: float
    best_of: dict[int, float]


def pool_of(question: Question, matches: Matches) -> Pool:
    """Return what features need to know about all passages."""
    best_of: dict[int, float] = {}
    for each in reversed(matches.found):
        best_of[each.document.number] = each.bm25
    best = max(best_of.values(), default=0.0) or 1.0
    return Pool(question, matches.weights, sum(matches.weights) or 1.0, best, best_of)


def features_of(match: Match, pool: Pool) -> list[float]:
    """Return the features of a passage, in the order of `NAMES`."""
    text = match.text
    return [
        *_lexical(match, pool),
        *_structural(match, text),
        *_positional(match, pool, text),
        *_wanted(match, pool, text),
    ]


def _lexical(match: Match, pool: Pool) -> list[float]:
    span, hits, weights, whole = match.span, match.hits, pool.weights, pool.whole
    own = {number: max(hit[2] for hit in found) for number, found in hits.items()}
    lead = {
        number: max(hit[2] for hit in found)
        for number, found in hits.items()
        if found[0][0] < span.lead_end
    }
    lead_words = len(_WORDS.findall(match.document.text, span.start, span.lead_end))
    title = _found_in(pool.question.terms, match.document.title.lower())
    around = {**match.above, **own}
    for number, weight in title.items():
        around.setdefault(number, weight)
    rarest = max(range(len(weights)), key=weights.__getitem__)
    return [
        match.bm25 / (2.2 * whole),
        match.bm25 / pool.best,
        _share(own, pool),
        _share(around, pool),
        _share(lead, pool),
        min(1.0, sum(lead.values()) / lead_words) if lead_words else 0.0,
        _share(match.above, pool),
        _share(title, pool),
        _pairs(match, len(weights)),
        _window(match, pool),
        _identified(match, pool),
        _opening(match, pool),
        _related(match, pool, around),
        float(rarest not in around),
    ]


def _share(found: dict[int, float], pool: Pool) -> float:
    """Return the share of the question's weight that was found."""
    return sum(pool.weights[number] * weight for number, weight in found.items()) / pool.whole


def _found_in(terms: Sequence[Term], lower: str) -> dict[int, float]:
    if not lower:
        return {}
    best = {
        number: max((hit[2] for hit in find(term.stem, lower)), default=0.0)
        for number, term in enumerate(terms)
    }
    return {number: weight for number, weight in best.items() if weight}


def _pairs(match: Match, count: int) -> float:
    """Return the share of neighbouring terms of the question that stand side by side."""
    beside = 0
    for number in range(count - 1):
        one, other = match.hits.get(number), match.hits.get(number + 1)
        beside += bool(one and other and _stand_together(one, other))
    return beside / max(1, count - 1)


def _stand_together(one: Sequence[Hit], other: Sequence[Hit]) -> bool:
    ends = {hit[1] for hit in one}
    return any(hit[0] - gap in ends for hit in other for gap in range(_NEAR))


def _window(match: Match, pool: Pool) -> float:
    """Return the share of the question's weight within the best stretch of text."""
    flat = sorted((hit[0], number, hit[2]) for number, hits in match.hits.items() for hit in hits)
    best, first = 0.0, 0
    for last in range(len(flat)):
        while flat[last][0] - flat[first][0] > _WINDOW:
            first += 1
        inside: dict[int, float] = {}
        for _, number, weight in flat[first : last + 1]:
            inside[number] = max(weight, inside.get(number, 0.0))
        if last + 1 == len(flat) or flat[last + 1][0] - flat[first][0] > _WINDOW:
            best = max(best, _share(inside, pool))
    return best


def _identified(match: Match, pool: Pool) -> float:
    identifiers = pool.question.identifiers
    if not identifiers:
        return 0.0
    lower = match.document.lower
    start, end = match.span.start, match.span.end
    return sum(lower.find(each, start, end) >= 0 for each in identifiers) / len(identifiers)


def _opening(match: Match, pool: Pool) -> float:
    """Return the share of the question's weight in the first words under the heading."""
    stop = match.span.lead_end + _WINDOW
    own = {
        number: max(hit[2] for hit in found)
        for number, found in match.hits.items()
        if found[0][0] < stop
    }
    return _share(own, pool)


def _related(match: Match, pool: Pool, around: dict[int, float]) -> float:
    """Return the share of what is missing that stands there in other words."""
    span = match.span
    lower = match.document.lower[span.start : span.end]
    found: dict[int, float] = {}
    for number, term in enumerate(pool.question.terms):
        if number not in around and any(
            hit[2] == 1.0 for stem in term.related for hit in find(stem, lower)
        ):
            found[number] = 1.0
    return _share(found, pool)


def _structural(match: Match, text: str) -> list[float]:
    span = match.span
    lead = text[: span.lead_end - span.start]
    body = text[len(lead) :]
    return [
        float(bool(_CODE.search(text))),
        float(span.kind == "term"),
        float(bool(lead and _SIGNATURE.search(lead))),
        float(bool(_OPENING_VERB.search(body[:200]))),
        float(span.kind == "item"),
        float(span.kind == "row"),
        float(bool(_REFERENCE.search(text))),
        float(bool(_QUESTION_MARK.search(body))),
        min(1.0, len(_LINK.findall(text)) * 60 / max(1, len(text))),
        float(bool(LEANING.match(body))),
    ]


def _positional(match: Match, pool: Pool, text: str) -> list[float]:
    number = match.document.number
    return [
        math.log(max(20, len(text))) / 7,
        float(len(text) < 80),  # noqa: PLR2004
        float(match.place == 0),
        1 / (1 + match.place / 4),
        1 / (1 + number),
        pool.best_of.get(number, 0.0) / pool.best,
        float(len(match.hits) == len(pool.weights)),
    ]


def _wanted(match: Match, pool: Pool, text: str) -> list[float]:
    """Return whether the passage looks like the kind of answer that the question wants."""
    kinds, span = pool.question.kinds, match.span
    shown = [float(kind in kinds and bool(SHOWN[kind].search(text))) for kind in KINDS]
    lead = text[: span.lead_end - span.start]
    signature = bool(lead and _SIGNATURE.search(lead))
    number = kinds >= {"default"} and bool(re.search(r"\d", text))
    return [
        *shown,
        float("way" in kinds and bool(_CODE.search(text))),
        float("named" in kinds and signature),
        float("named" in kinds and span.kind == "term"),
        float("meaning" in kinds and match.place == 0),
        float(number),
    ]
