"""The claims of an answer with the quotations that support them, and the passages beside them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from textwrap import dedent

from webtools.grounding import extractive
from webtools.grounding.blocks import read_blocks
from webtools.grounding.checking.verification import UNCERTAIN, Verified, verify
from webtools.grounding.duplicates import Shingles, shingles_of
from webtools.grounding.extractive import candidates_of
from webtools.grounding.matching import Document
from webtools.grounding.ranking import (
    Ranked,
    Ranking,
    document_of,
    fill,
    passages_of,
    rank_documents,
)
from webtools.providers.protocols import Source
from webtools.results import Claim, Passage, Quotation

ANSWER_CHARACTERS = 8000  # of an answer and the passages beside it
_TOLD = 0.7  # share of a passage's shingles in the claims from which on it adds nothing
_FENCES = ("```", "~~~")
# A statement with its citations, and perhaps the mark of one that is not certain.
_STATEMENT = re.compile(r"(.+?)\s?((?:\[\d{1,3}\])+)( " + re.escape(UNCERTAIN) + ")?", re.DOTALL)
_NUMBER = re.compile(r"\d+")
_MARK = re.compile(r"(?:[-*+]|\d{1,3}[.)])\s+")


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
    if not shown.lstrip().startswith(_FENCES):
        shown = f"```\n{shown}\n```"
    return f"{text[:start].rstrip()}\n\n{shown}{text[code.end :]}".lstrip("\n")


def summarized(claims: Sequence[Claim]) -> Verified:
    """Return claims as one text in which `[n]` refers to the n-th of its citations."""
    urls = list(dict.fromkeys(where.url for each in claims for where in each.citations))
    shown: list[str] = []
    for each in claims:
        numbers = dict.fromkeys(urls.index(where.url) + 1 for where in each.citations)
        marks = "".join(f"[{number}]" for number in numbers)
        shown.append(f"{each.text}{chr(10) if chr(10) in each.text else ' '}{marks}")
    separator = "\n\n" if any("\n" in each for each in shown) else "\n"
    return Verified(separator.join(shown), urls, kept=len(claims))


def is_quoted(claim: Claim, sources: Sequence[Source]) -> bool:
    """Tell whether all that a claim quotes stands in its source, to the letter."""
    texts = {each.url: each.text for each in sources}
    found = [where.quotation in texts.get(where.url, "") for where in claim.citations]
    return bool(found) and all(found)


# --- of a draft --------------------------------------------------------------------------------


def check(text: str, sources: Sequence[Source]) -> tuple[Verified, list[Claim]]:
    """Return what the sources bear out of a draft, with the quotations that support it."""
    verified = verify(text, sources)
    by_url = {document.url: document for document in documents_of(sources)}
    claims = [
        Claim(
            text=said,
            status="uncertain" if is_uncertain else "quoted",
            citations=[_support(said, by_url[url]) for url in urls],
        )
        for said, urls, is_uncertain in _statements(verified)
    ]
    return verified, claims


def _statements(verified: Verified) -> Iterator[tuple[str, list[str], bool]]:
    """Return the statements of a summary, the URLs they cite, and whether they are uncertain."""
    for line in verified.summary.splitlines():
        for said, marks, doubt in _STATEMENT.findall(_MARK.sub("", line, count=1)):
            numbers = [int(number) for number in _NUMBER.findall(marks)]
            yield said.strip(), [verified.citations[number - 1] for number in numbers], bool(doubt)


def _support(said: str, document: Document) -> Quotation:
    """Return the words of a source that come nearest to a statement."""
    ranking = rank_documents(said, [document])
    nearest = next(iter(candidates_of(ranking)), None)
    quotation = nearest.quotation if nearest else ranking.ranked[0].text if ranking.ranked else ""
    return Quotation(url=document.url, title=document.title, quotation=quotation)


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


def _is_told(passage: Ranked, told: Shingles) -> bool:
    own = shingles_of(passage.match.text)
    return len(own & told) >= _TOLD * max(1, len(own))
