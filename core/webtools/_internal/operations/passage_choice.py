"""Chooses the passages of pages that are relevant to a question."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Container, Iterable, Iterator, Sequence

from webtools._internal.grounding.blocks import read_blocks, without_addresses
from webtools._internal.grounding.ranking import (
    Document,
    Match,
    fill,
    passages_of,
    rank_documents,
    size_of,
)
from webtools._internal.grounding.segmentation import MAX_PASSAGE
from webtools.results import FetchResponse, Page, Passage
from webtools.truncation import fair_shares

MAX_PASSAGE_CHARACTERS = 8000  # of all passages of a call with a question
OURS = "webtools"  # the value of `passages_by` for passages chosen here
_MIN_PASSAGE = 100  # characters
_HEADINGS = 160  # characters, about as long as the headings of a passage can be
_MAX_QUOTED = 100  # characters of a question in a warning


def choose_passages(
    response: FetchResponse,
    question: str,
    *,
    keep_text: bool = False,
    max_characters: int | None = None,
) -> FetchResponse:
    """Return pages with the passages that are relevant to a question instead of their text.

    A page that fits its share of the budget is one passage. Other pages are cut down to their best
    passages, or to their opening if they do not have a word of the question. Passages chosen by a
    provider are kept.

    Args:
        response: Pages with their text.
        question: The question.
        keep_text: Return the text as well.
        max_characters: Budget of each page. Default: 8,000 characters for all pages together.
    """
    pages = response.pages
    texts = {
        number: _without_addresses(page.text)
        for number, page in enumerate(pages)
        if page.passages is None and page.text
    }
    budget = max(MAX_PASSAGE_CHARACTERS, max_characters or 0) - sum(
        len(passage.text) for page in pages for passage in page.passages or ()
    )
    limit = max_characters or budget  # of a page
    sizes = [min(len(text), limit) for text in texts.values()]
    shares = dict(zip(texts, fair_shares(sizes, budget), strict=True))
    too_long = {number: share for number, share in shares.items() if share < len(texts[number])}
    rest = budget - sum(len(text) for number, text in texts.items() if number not in too_long)
    ranked = _rank_passages(question, pages, shares, min(too_long.values(), default=0))
    matching = {passage.document.number for passage in ranked}
    chosen = {
        number: [Passage(text=text, url=pages[number].url, score=1.0)]
        for number, text in texts.items()
        if number not in too_long
    }
    for number in too_long.keys() - matching:
        opening = _opening(texts[number], too_long[number])
        chosen[number] = [Passage(text=opening, url=pages[number].url)]
        rest -= len(opening)
    chosen |= _best_passages(ranked, too_long.keys() & matching, rest, limit)
    unmatched = [pages[number].url for number in texts if number not in matching]
    warnings = [
        *response.warnings,
        *([_no_match_warning(question, unmatched)] if unmatched else []),
    ]
    cut_down = [
        _with_passages(page, chosen.get(number, []), keep_text=keep_text)
        for number, page in enumerate(pages)
    ]
    return response.model_copy(update={"pages": cut_down, "warnings": warnings})


def _without_addresses(text: str) -> str:
    return without_addresses(text, 0, len(text), read_blocks(text))


def _rank_passages(
    question: str, pages: Sequence[Page], numbers: Iterable[int], smallest: int
) -> list[Match]:
    """Rank the passages of pages; each is short enough for the smallest share of a page."""
    longest = min(MAX_PASSAGE, max(_MIN_PASSAGE, smallest - _HEADINGS))
    documents = [
        Document(
            pages[number].text or "",
            number,
            title=pages[number].title or "",
            url=pages[number].url,
            limit=longest,
        )
        for number in numbers
    ]
    return rank_documents(question, documents).ranked


def _best_passages(
    ranked: Sequence[Match], numbers: Container[int], budget: int, limit: int
) -> dict[int, list[Passage]]:
    """Return the best passages of some pages, each at most `limit` characters, by its index.

    Each page gets its best passage first. If there is room at the end, the passages around the best
    ones follow.
    """
    firsts: dict[int, Match] = {}
    for passage in ranked:
        if passage.document.number in numbers and size_of(passage) <= limit:
            firsts.setdefault(passage.document.number, passage)
    candidates = [passage for passage in ranked if passage.document.number in firsts]
    neighbors = (
        passage for first in firsts.values() for passage in _unranked_passages(first, candidates)
    )
    best = list(_passages_that_fit(firsts.values(), budget))
    chosen: dict[int, list[Match]] = {number: [] for number in firsts}
    for passage in fill([*_with_following(candidates), *neighbors], budget, best):
        chosen[passage.document.number].append(passage)
    return {
        number: passages_of(_passages_that_fit(passages, limit), ranked)
        for number, passages in chosen.items()
    }


def _passages_that_fit(passages: Iterable[Match], room: int) -> Iterator[Match]:
    for passage in passages:
        if size_of(passage) <= room:
            room -= size_of(passage)
            yield passage


def _unranked_passages(best: Match, ranked: Sequence[Match]) -> list[Match]:
    """Return the passages of a page that were not ranked, nearest to its best passage first."""
    document = best.document
    ranked_starts = {passage.span.start for passage in ranked if passage.document is document}
    spans = [span for span in document.spans if span.start not in ranked_starts]
    spans.sort(key=lambda span: abs(span.start - best.span.start))
    return [Match(document, span, {}, {}) for span in spans]


def _with_following(ranked: Sequence[Match]) -> Iterator[Match]:
    """Yield passages, each that ends with a colon followed by the next one of its page."""
    for passage in ranked:
        yield passage
        if not passage.quotation.rstrip("*_ ").endswith((":", "\uff1a")):
            continue
        spans = passage.document.spans
        place = bisect_right(spans, passage.span.start, key=lambda span: span.start)
        if place < len(spans):
            yield Match(passage.document, spans[place], {}, {})


def _opening(text: str, limit: int) -> str:
    """Return the first blocks of a text that fit, or its first words."""
    opening = text[:limit]
    ends = (opening.rfind(sign, limit // 2) for sign in ("\n\n", " "))
    end = next((end for end in ends if end > 0), limit)
    return opening[:end].rstrip()


def _with_passages(page: Page, passages: list[Passage], *, keep_text: bool) -> Page:
    if page.passages is not None or page.error is not None:
        return page
    changes = {"passages": passages, "passages_by": OURS if passages else None}
    return page.model_copy(update={"text": page.text if keep_text else None, **changes})


def _no_match_warning(question: str, urls: Sequence[str]) -> str:
    quoted = question if len(question) <= _MAX_QUOTED else f"{question[:_MAX_QUOTED]}…"
    return (
        f'No word of the question "{quoted}" occurs on {" or ".join(urls)}, so the '
        "beginning of the text is returned. Use other words to get other parts."
    )
