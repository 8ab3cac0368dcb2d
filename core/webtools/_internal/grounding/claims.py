"""Claims quoted from ranked sources, and the passages to return with an answer."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from textwrap import dedent

from webtools._internal.grounding import extractive
from webtools._internal.grounding.duplicates import Shingles, shingles_of
from webtools._internal.grounding.evidence import (
    Evidence,
    Piece,
    is_code,
    normalize,
    plain,
    row_text,
)
from webtools._internal.grounding.ranking import (
    Document,
    Match,
    Ranking,
    fill,
    passages_of,
    rank_documents,
)
from webtools._internal.grounding.verification import HasText
from webtools.results import Claim, Passage, Quotation

_LETTER = re.compile(r"[^\W\d_]")
ANSWER_CHARACTERS = 8000  # of an answer and the passages returned with it
_QUOTED_SHARE = 0.7  # share of shingles in the claims from which a passage adds nothing


def documents_of(sources: Sequence[HasText]) -> list[Document]:
    """Split sources into passages."""
    return [
        Document(source.text, place, title=source.title, url=source.url)
        for place, source in enumerate(sources)
    ]


# --- quoted from the sources -------------------------------------------------------------------


def rank_sources(question: str, sources: Sequence[HasText]) -> Ranking:
    """Return the passages of the sources, ranked against a question."""
    return rank_documents(question, documents_of(sources))


def quote(ranking: Ranking) -> list[Claim]:
    """Return the sentences, rows and code blocks that answer the question."""
    evidence: dict[int, Evidence] = {}
    claims: list[Claim] = []
    for extract in extractive.claims_of(ranking):
        document = extract.document
        if document.number not in evidence:
            evidence[document.number] = Evidence(document.text, document.title)
        source = evidence[document.number]
        end = extract.start + len(extract.quotation)
        inside = [p for p in source.pieces if extract.start <= p.start + 3 and p.end <= end + 3]
        claims += _claims(source, inside, document, extract.heading)
    headings = ["", *(claim.heading for claim in claims)]
    return [
        claim.model_copy(update={"heading": "" if claim.heading == before else claim.heading})
        for claim, before in zip(claims[: extractive.MAX_CLAIMS], headings, strict=False)
    ]


def _claims(
    source: Evidence, pieces: Sequence[Piece], document: Document, heading: str
) -> Iterator[Claim]:
    """Yield a claim for each unit. A term, or the lead-in of code, is the heading of the next."""
    for piece in pieces:
        text = source.text[piece.start : piece.end]
        claim_text = _code(source, piece) if piece.kind == "code" else normalize(text)
        if not _LETTER.search(claim_text):  # the mark of an item
            continue
        if piece.kind == "row":
            claim_text = normalize(row_text(text))
        if source.units(claim_text):
            quotation = text if piece.kind == "code" else plain(text)
            cited = Quotation(url=document.url, title=document.title, quotation=quotation)
            yield Claim(text=claim_text, status="quoted", citations=[cited], heading=heading)
            heading = ""
        elif piece.kind == "term":
            heading = claim_text
        else:
            lead = claim_text.removesuffix(":")
            heading = f"{heading}: {lead}" if heading else lead


def _code(source: Evidence, piece: Piece) -> str:
    """Return code at the left margin, between fences."""
    start = source.text.rfind("\n", 0, piece.start) + 1
    code = dedent(source.text[start : piece.end].expandtabs(4)).strip("\n")
    return code if is_code(code) else f"```\n{code}\n```"


# --- passages ----------------------------------------------------------------------------------


def best_passages(ranking: Ranking, max_characters: int) -> list[Passage]:
    """Return the best passages that fit."""
    return passages_of(fill(ranking.ranked, max_characters), ranking.ranked)


def passages_beside(
    ranking: Ranking, claims: Sequence[Claim], max_characters: int
) -> list[Passage]:
    """Return the best passages that add something to the claims."""
    ranked = ranking.ranked
    quotations = [citation.quotation for claim in claims for citation in claim.citations]
    quoted: Shingles = frozenset(run for claim in quotations for run in shingles_of(claim))
    new_passages = (claim for claim in ranked if not _is_quoted(claim, quoted))
    return passages_of(fill(new_passages, max_characters), ranked)


def _is_quoted(passage: Match, quoted: Shingles) -> bool:
    shingles = shingles_of(passage.text)
    return len(shingles & quoted) >= _QUOTED_SHARE * max(1, len(shingles))
