"""Pages cut down to the passages that bear on a question; the pages themselves stay cached."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from webtools.grounding.features import NAMES, features_of
from webtools.grounding.matching import Document
from webtools.grounding.ranking import (
    Ranked,
    document_of,
    fill,
    passages_of,
    rank_documents,
    score_of,
)
from webtools.operations.fetch import MOST_CHARACTERS
from webtools.results import FetchResponse, Page, Passage

OURS = "webtools"  # who chose passages
_LEAST_COVERAGE = 0.3  # share of the question's weight in a passage, its headings and title
_COVERAGE = NAMES.index("coverage_around")
_LONGEST_SHOWN = 100


def bearing(
    response: FetchResponse,
    question: str,
    *,
    keep_text: bool = False,
    max_characters: int | None = None,
) -> FetchResponse:
    """Return pages with the passages that bear on a question in place of their text.

    Pages whose passages their provider chose keep these.

    Args:
        response: Pages with their text.
        question: What is asked.
        keep_text: Leave the text beside the passages.
        max_characters: Most characters of passages of one page.
    """
    documents = [
        document_of(page.text or "", place, title=page.title or "", url=page.url)
        for place, page in enumerate(response.pages)
        if page.passages is None
    ]
    left = MOST_CHARACTERS - sum(
        len(each.text) for page in response.pages for each in page.passages or ()
    )
    ranked = _ranked(question, documents)
    relevant = [each for each in ranked if each.features[_COVERAGE] >= _LEAST_COVERAGE]
    most = min(max_characters or MOST_CHARACTERS, MOST_CHARACTERS)
    chosen = fill(_page_by_page(_short(relevant, most)), left)
    pages = [
        page
        if page.passages is not None
        else _with_passages(
            page, passages_of(_of(place, chosen, most), ranked), keep_text=keep_text
        )
        for place, page in enumerate(response.pages)
    ]
    found = any(page.passages for page in pages)
    warnings = [*response.warnings, *([] if found else [_nothing(question, len(pages))])]
    return response.model_copy(update={"pages": pages, "warnings": warnings})


def _ranked(question: str, documents: Sequence[Document]) -> list[Ranked]:
    """Rank passages, at least one of each page that has a word of the question."""
    ranking = rank_documents(question, documents)
    seen = {each.match.document.number for each in ranking.ranked}
    ranked = [*ranking.ranked]
    for match in ranking.matches.found:
        if match.document.number not in seen:
            seen.add(match.document.number)
            features = features_of(match, ranking.pool)
            ranked.append(Ranked(match, features, score_of(features)))
    return sorted(ranked, key=lambda each: -each.score)


def _short(ranked: Sequence[Ranked], most: int) -> list[Ranked]:
    return [each for each in ranked if len(each.text) + len(each.heading) <= most]


def _page_by_page(ranked: Sequence[Ranked]) -> Iterator[Ranked]:
    """Return the best of each page, then the others, so that every page has its say."""
    firsts: dict[int, Ranked] = {}
    for each in ranked:
        firsts.setdefault(each.match.document.number, each)
    yield from firsts.values()
    yield from (each for each in ranked if firsts[each.match.document.number] is not each)


def _of(place: int, chosen: Sequence[Ranked], most: int) -> Iterator[Ranked]:
    """Return what was chosen of one page, best first, within its bound."""
    left = most
    for each in chosen:
        size = len(each.text) + len(each.heading)
        if each.match.document.number == place and size <= left:
            left -= size
            yield each


def _with_passages(page: Page, passages: list[Passage], *, keep_text: bool) -> Page:
    if page.error is not None:
        return page
    text = page.text if keep_text else None
    chosen = {"passages": passages, "passages_by": OURS if passages else None}
    return page.model_copy(update={"text": text, **chosen})


def _nothing(question: str, count: int) -> str:
    asked = question if len(question) <= _LONGEST_SHOWN else f"{question[:_LONGEST_SHOWN]}…"
    pages = "the page" if count == 1 else "the pages"
    return (
        f'Nothing on {pages} bears on the question "{asked}"; ask in other words, or leave the '
        "question out to read the text."
    )
