"""What is measured over questions and the pages found for them."""

import re
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from benchmarks.answers.documentation import BM25, Found, Question, Read
from webtools.grounding.extractive import Claim, extract
from webtools.grounding.ranking import document_of
from webtools.grounding.segmentation import cut
from webtools.passages import rank

LENGTHS = (1000, 2000, 4000, 8000)
_BLANK = re.compile(r"\n\s*\n")
_HEADING = re.compile(r"#{1,6} +(.*)")
_LONGEST = 700


@dataclass(frozen=True)
class Outcome:
    """How one question went.

    Attributes:
        question: The question.
        is_read: Whether what any right answer has stands in the pages that were read.
        ours: By length, whether it stands in the ranked passages.
        plain: By length, whether it stands in those of plain BM25.
        claims: The claims of the extractive answer.
        is_told: Whether it stands in one of them.
        beside: Claims that are off topic: they lack it, and another page than its own says them.
        lacking: Claims that lack it, whatever page says them.
        near: Claims given from pages about the same that lack it; `None` where there is no such.
        near_plain: Passages that plain BM25 gives from these.
    """

    question: Question
    is_read: bool
    ours: dict[int, bool]
    plain: dict[int, bool]
    claims: list[Claim]
    is_told: bool
    beside: int
    lacking: int
    near: int | None
    near_plain: int


def outcome(found: Found) -> Outcome:
    """Ask one question of the pages found for it, and of those that are only near to it."""
    question, pages = found.question, found.pages
    answer = re.compile(question.answer) if question.answer else None

    def has(texts: Iterable[str]) -> bool:
        return answer is not None and any(answer.search(text) for text in texts)

    claims = _claims(question, pages)
    ours = {
        length: has(
            f"{each.heading}\n{each.text}"
            for each in rank(question.question, pages, max_characters=length)
        )
        for length in LENGTHS
    }
    ordered = plain_order(question.question, pages)
    plain = {length: has(filled(ordered, length)) for length in LENGTHS}
    told = has(map(_shown, claims))
    beside = sum(not has([_shown(each)]) and not _is_of(question, each) for each in claims)
    return Outcome(
        question,
        has(page.text for page in pages),
        ours,
        plain,
        claims,
        told,
        beside,
        lacking=sum(not has([_shown(each)]) for each in claims),
        near=len(_claims(question, found.near)) if found.near else None,
        near_plain=len(filled(plain_order(question.question, found.near), LENGTHS[0])),
    )


def _claims(question: Question, pages: Sequence[Read]) -> list[Claim]:
    documents = [
        document_of(page.text, number, title=page.title, url=page.url)
        for number, page in enumerate(pages)
    ]
    return extract(question.question, documents)


def _shown(claim: Claim) -> str:
    return f"{claim.heading}\n{claim.text}"


def _is_of(question: Question, claim: Claim) -> bool:
    """Return whether a claim is quoted from the page that was meant."""
    page = question.page
    return page is not None and any(each.url.endswith(page) for each in claim.citations)


def plain_order(question: str, pages: Sequence[Read]) -> list[str]:
    """Return heading and block, at most 700 characters, in the order of plain BM25."""
    passages = [each for page in pages for each in plain_passages(page.text)]
    return [passages[number] for number in BM25(passages).order(question)]


def plain_passages(text: str) -> list[str]:
    """Cut a text into blocks, each after its heading."""
    heading, found = "", list[str]()
    for part in _BLANK.split(text):
        block = part.strip()
        if match := _HEADING.match(block):
            heading, block = match[1], block[match.end() :].strip()
        if block:
            found.append(f"{heading}\n{block}"[:_LONGEST])
    return found


def filled(texts: Iterable[str], length: int) -> list[str]:
    """Return the first texts that fit into a length."""
    found: list[str] = []
    for text in texts:
        length -= len(text) + 1
        if length < 0:
            break
        found.append(text)
    return found


def share(values: Iterable[bool]) -> float:
    """Return the share that is true."""
    given = list(values)
    return sum(given) / max(1, len(given))


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
