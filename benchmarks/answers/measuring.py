"""What is measured over questions and the pages found for them."""

import math
import re
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from benchmarks.answers.documentation import BM25, Found, Question, Read
from webtools._internal.grounding.evidence import normalize
from webtools._internal.grounding.extractive import Claim, answer_score, candidates_of, claims_of
from webtools._internal.grounding.ranking import Document, rank_documents
from webtools._internal.grounding.segmentation import cut
from webtools._internal.operations.passage_choice import choose_passages
from webtools.passages import rank
from webtools.results import FetchResponse, Page, Passage

LENGTHS = (2000, 8000)
_BLANK = re.compile(r"\n\s*\n")
_CHUNK = 800  # characters


@dataclass(frozen=True)
class Outcome:
    """How one question went.

    Attributes:
        question: The question.
        is_read: Whether the pages that were read have what any right answer has.
        passages: By length, whether our passages have it.
        fetched: By length, whether `fetch(question=)` on the best page has it; None if that page
            lacks it.
        plain: By length, whether chunks ranked by plain BM25 have it.
        plain_fetched: The same for the chunks of the best page.
        scores: The score of the answer from the pages, and from pages about the same that lack it.
        is_right: Whether the claims have it, however low the score.
        is_first_right: Whether the first claim has it.
        right_claims: How many of the claims have it, and how many claims there are.
    """

    question: Question
    is_read: bool
    passages: dict[int, bool]
    fetched: dict[int, bool] | None
    plain: dict[int, bool]
    plain_fetched: dict[int, bool]
    scores: tuple[float, float | None]
    is_right: bool
    is_first_right: bool
    right_claims: tuple[int, int]


def outcome(found: Found) -> Outcome:
    """Ask one question of the pages found for it, and of those that are only near to it."""
    question, pages = found.question, found.pages
    answer = re.compile(question.answer) if question.answer else None

    def has(texts: Iterable[str]) -> bool:
        return answer is not None and any(answer.search(text) for text in texts)

    def by_length(texts: Callable[[int], Iterable[str]]) -> dict[int, bool]:
        return {length: has(texts(length)) for length in LENGTHS}

    order, first = plain_order(question.question, pages), pages[:1]
    first_order = plain_order(question.question, first)
    score, claims = _answer(question, pages)
    return Outcome(
        question,
        is_read=has(page.text for page in pages),
        passages=by_length(lambda length: _texts(rank_pages(question, pages, length))),
        fetched=by_length(lambda length: _texts(_fetched(question, first, length)))
        if has(page.text for page in first)
        else None,
        plain=by_length(lambda length: filled(order, length)),
        plain_fetched=by_length(lambda length: filled(first_order, length)),
        scores=(score, _answer(question, found.near)[0] if found.near else None),
        is_right=has(map(_shown, claims)),
        is_first_right=has(map(_shown, claims[:1])),
        right_claims=counted(has([_shown(claim)]) for claim in claims),
    )


def rank_pages(question: Question, pages: Sequence[Read], length: int) -> list[Passage]:
    """Return our passages of all pages."""
    return rank(question.question, pages, max_characters=length)


def _fetched(question: Question, pages: Sequence[Read], length: int) -> list[Passage]:
    read = [Page(url=page.url, title=page.title, text=page.text) for page in pages]
    response = FetchResponse(provider="direct", pages=read)
    [page] = choose_passages(response, question.question, max_characters=length).pages
    return page.passages or []


def _texts(passages: Iterable[Passage]) -> list[str]:
    return [f"{passage.heading}\n{passage.text}" for passage in passages]


def _shown(claim: Claim) -> str:
    return f"{claim.heading}\n{text_of(claim)}"


def text_of(claim: Claim) -> str:
    """Return a quotation on one line, without the addresses of links."""
    return normalize(claim.quotation)


def _answer(question: Question, pages: Sequence[Read]) -> tuple[float, list[Claim]]:
    """Return the score of the best candidate, and the claims whatever the score."""
    documents = [
        Document(page.text, number, title=page.title, url=page.url)
        for number, page in enumerate(pages)
    ]
    ranking = rank_documents(question.question, documents)
    candidates = candidates_of(ranking)
    if not candidates:
        return -math.inf, []
    return answer_score(candidates[0], ranking), claims_of(ranking, threshold=-math.inf)


def plain_order(question: str, pages: Sequence[Read]) -> list[str]:
    """Return chunks of at most 800 characters in the order of plain BM25."""
    chunks = [chunk for page in pages for chunk in chunks_of(page.text)]
    return [chunks[number] for number in BM25(chunks).order(question)]


def chunks_of(text: str) -> list[str]:
    """Fill paragraphs into chunks of at most 800 characters; longer ones are cut at a space."""
    chunks: list[str] = [""]
    for part in _BLANK.split(text):
        block = part.strip()
        while len(block) > _CHUNK:
            end = block.rfind(" ", _CHUNK // 2, _CHUNK)
            end = end if end > 0 else _CHUNK
            chunks += [block[:end], ""]
            block = block[end:].lstrip()
        if len(chunks[-1]) + len(block) + 2 > _CHUNK:
            chunks.append("")
        chunks[-1] = f"{chunks[-1]}\n\n{block}".strip()
    return [chunk for chunk in chunks if chunk]


def filled(texts: Iterable[str], length: int) -> list[str]:
    """Return the first texts that fit into a length."""
    found: list[str] = []
    for text in texts:
        length -= len(text) + 1
        if length < 0:
            break
        found.append(text)
    return found


def counted(values: Iterable[bool]) -> tuple[int, int]:
    """Return how many values are true, and how many there are."""
    known = list(values)
    return sum(known), len(known)


def times(question: str, text: str, rounds: int) -> list[tuple[float, float]]:
    """Time ranking a text, cutting included, and plain BM25 over the same passages; in ms."""
    passages = [text[span.start : span.end] for span in cut(text)]
    found: list[tuple[float, float]] = []
    for _ in range(rounds):
        start = time.perf_counter()
        rank(question, [text])
        middle = time.perf_counter()
        BM25(passages).order(question)
        found.append(((middle - start) * 1e3, (time.perf_counter() - middle) * 1e3))
    return found
