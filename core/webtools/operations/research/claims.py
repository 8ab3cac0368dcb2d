"""The claims of an answer with the quotations that support them, and the passages beside them."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import dedent

from webtools.grounding import extractive
from webtools.grounding.blocks import FENCES, read_blocks
from webtools.grounding.duplicates import Shingles, shingles_of
from webtools.grounding.matching import Document, Match
from webtools.grounding.neighbours import is_denied
from webtools.grounding.ranking import (
    Ranking,
    document_of,
    fill,
    passages_of,
    rank_documents,
)
from webtools.grounding.verification import UNCERTAIN
from webtools.providers.protocols import Source
from webtools.results import Claim, Passage, Quotation, Verified

ANSWER_CHARACTERS = 8000  # of an answer and the passages beside it
_TOLD = 0.7  # share of a passage's shingles in the claims from which on it adds nothing


def documents_of(sources: Sequence[Source]) -> list[Document]:
    """Return sources cut into passages."""
    return [
        document_of(each.text, place, title=each.title, url=each.url)
        for place, each in enumerate(sources)
    ]


# --- quoted from the sources -------------------------------------------------------------------


def rank_sources(question: str, sources: Sequence[Source]) -> Ranking:
    """Return the passages of the sources, ranked against a question."""
    return rank_documents(question, documents_of(sources))


def quote(ranking: Ranking) -> list[Claim]:
    """Return the claims of ranked sources that answer their question; none when they do not."""
    return [
        Claim(
            text=_fenced(each.text),
            status="quoted",
            citations=[
                Quotation(url=where.url, title=where.title, quotation=where.quotation)
                for where in each.citations
            ],
        )
        for each in extractive.claims_of(ranking)
    ]


def _fenced(text: str) -> str:
    """Return a claim with its code at the left margin, between fences."""
    code = next((each for each in read_blocks(text) if each.kind == "code"), None)
    if code is None:
        return text
    start = text.rfind("\n", 0, code.start) + 1
    shown = dedent(text[start : code.end].expandtabs(4)).strip("\n")
    if not shown.lstrip().startswith(FENCES):
        shown = f"```\n{shown}\n```"
    return f"{text[:start].rstrip()}\n\n{shown}{text[code.end :]}".lstrip("\n")


def summarized(claims: Sequence[Claim]) -> Verified:
    """Return claims as one text in which `[n]` refers to the n-th of its citations."""
    kept = [each for each in claims if each.status != "unsupported"]
    urls = list(dict.fromkeys(where.url for each in kept for where in each.citations))
    shown: list[str] = []
    for each in kept:
        numbers = dict.fromkeys(urls.index(where.url) + 1 for where in each.citations)
        marks = "".join(f"[{number}]" for number in numbers)
        doubt = f" {UNCERTAIN}" if each.status == "uncertain" else ""
        shown.append(f"{each.text}{chr(10) if chr(10) in each.text else ' '}{marks}{doubt}")
    separator = "\n\n" if any("\n" in each for each in shown) else "\n"
    dropped = len(claims) - len(kept)
    text = separator.join(shown)
    return Verified(summary=text, citations=urls, claims=list(claims), dropped=dropped)


def looked_up(claim: Claim, sources: Sequence[Source]) -> Claim:
    """Return a claim with what its sources make of it.

    It is unsupported unless all that it quotes stands there to the letter, and uncertain where the
    text around that may deny it.
    """
    texts = {each.url: each.text for each in sources}
    found = [(texts.get(where.url, ""), where.quotation) for where in claim.citations]
    if not found or not all(quotation in text for text, quotation in found):
        return claim.model_copy(update={"status": "unsupported"})
    places = [(text, text.index(quotation), len(quotation)) for text, quotation in found]
    if any(is_denied(text, at, at + size) for text, at, size in places):
        return claim.model_copy(update={"status": "uncertain"})
    return claim


# --- beside the answer -------------------------------------------------------------------------


def best_passages(ranking: Ranking, max_characters: int) -> list[Passage]:
    """Return the best passages that fit."""
    return passages_of(fill(ranking.ranked, max_characters), ranking.ranked)


def passages_beside(
    ranking: Ranking, claims: Sequence[Claim], max_characters: int
) -> list[Passage]:
    """Return the best passages that tell more than the claims do."""
    ranked = ranking.ranked
    quotations = [where.quotation for each in claims for where in each.citations]
    told: Shingles = frozenset(run for each in quotations for run in shingles_of(each))
    telling = (each for each in ranked if not _is_told(each, told))
    return passages_of(fill(telling, max_characters), ranked)


def _is_told(passage: Match, told: Shingles) -> bool:
    own = shingles_of(passage.text)
    return len(own & told) >= _TOLD * max(1, len(own))
