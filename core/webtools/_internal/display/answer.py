"""The parts of an answer to show: its claims, the passages, and one list of sources."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from webtools._internal.display.outline import (
    LONGEST_SENTENCE,
    LONGEST_TITLE,
    Address,
    Answer,
    Clip,
    Extract,
    Extracts,
    Fact,
    Limits,
    Listing,
    Prose,
    Source,
    Statement,
    address_of,
    clip,
    name,
    source,
)
from webtools._internal.display.short_texts import count, cut, cut_lines, subject
from webtools.formatting import NO_ANSWER, NO_RESULTS
from webtools.results import (
    Claim,
    Passage,
    ResearchEnvelope,
    ResearchSynthesis,
    Verified,
)

_MAX_QUOTATIONS = 3
_NEAREST_PASSAGES = 3  # passages shown where there is no answer
_NEAREST_LINES = 8
_STATUS_TONES = {"quoted": "good", "supported": "good", "uncertain": "warn", "unsupported": "bad"}


def verdicts(answer: ResearchSynthesis | Verified) -> Iterator[Fact]:
    """Yield how many claims have each status, or how many citations there are."""
    if not answer.claims and answer.citations:
        yield Fact(count(len(answer.citations), "citation"))
    for status, tone in _STATUS_TONES.items():
        if number := sum(claim.status == status for claim in answer.claims):
            yield Fact(f"{count(number, 'claim')} {status}", tone if tone != "good" else "")


def research_parts(
    response: ResearchEnvelope, limits: Limits
) -> Iterator[Answer | Prose | Extracts | Listing]:
    """Yield the answer, the passages and one list of sources, the cited ones first."""
    answer = response.synthesis
    cited = answer.citations[: limits.pages] if answer else []
    numbers = {url: number for number, url in reversed([*enumerate(cited, 1)])}
    by_url = {result.url: result for result in response.results[: limits.rows]}
    claims = answer.claims if answer else ()
    addresses = _addresses([*cited, *by_url], claims, response.passages)
    if answer and answer.summary:
        shown = answer.claims[: limits.rows]
        headings = _headings(answer.summary, shown)
        statements = [
            _statement(claim, numbers, limits, heading)
            for claim, heading in zip(shown, headings, strict=True)
        ]
        summary = Statement(clip(answer.summary, limits.page // 2, limits))
        yield Answer(statements or [summary], [addresses[url] for url in cited])
    elif answer and response.results:
        yield Prose(Clip(NO_ANSWER))
    rows = [
        replace(source(number, by_url[url], limits), address=addresses[url])
        if url in by_url
        else Source(number, cut(url, LONGEST_TITLE), addresses[url])
        for number, url in enumerate(cited, 1)
    ]
    uncited = [item for item in response.results[: limits.rows] if item.url not in numbers]
    rows += [
        replace(source(n, item, limits), address=addresses[item.url])
        for n, item in enumerate(uncited, len(rows) + 1)
    ]
    ranks = {row.address.shown: row.rank for row in reversed(rows)}
    if response.passages:
        yield _extracts(response, ranks, limits, is_folded=bool(answer and answer.summary))
    if answer and (answer.summary or response.passages):  # they make the snippets redundant
        rows = [replace(row, snippet="") for row in rows]
    if not rows:
        yield Prose(Clip(NO_RESULTS))
        return
    yield Listing([("", rows)], max(len(response.results) - limits.rows, 0), "Sources")


def checked_parts(response: Verified, limits: Limits) -> Iterator[Answer | Listing]:
    """Yield all claims, including unsupported ones, and the sources that they cite."""
    cited = response.citations[: limits.pages]
    numbers = {url: number for number, url in enumerate(cited, 1)}
    shown = [_statement(claim, numbers, limits) for claim in response.claims[: limits.rows]]
    citations = [citation for claim in response.claims for citation in claim.citations]
    titles = {citation.url: citation.title for citation in citations}
    addresses = _addresses(cited, response.claims)
    if shown:
        yield Answer(shown, [*addresses.values()])
    if cited:
        rows = [
            Source(number, cut(titles.get(url) or url, LONGEST_TITLE), addresses[url])
            for url, number in numbers.items()
        ]
        yield Listing([("", rows)], 0, "Sources")


def _addresses(
    urls: Sequence[str], claims: Sequence[Claim], passages: Sequence[Passage] = ()
) -> dict[str, Address]:
    """Return the addresses of sources, with links to what the claims quote of them."""
    quotations: dict[str, list[str]] = {url: [] for url in urls}
    for claim in claims:
        for citation in claim.citations:
            quotations.get(citation.url, []).append(citation.quotation)
    for passage in passages:
        quotations.get(passage.url, []).append(passage.text)
    return {url: address_of(url, texts) for url, texts in quotations.items()}


def _headings(summary: str, claims: Sequence[Claim]) -> list[str]:
    """Return the heading above each claim in a summary: a line that ends with a colon, or ""."""
    headings: list[str] = []
    start = 0
    for claim in claims:
        position = max(summary.find(claim.text, start), start)
        line = summary[start:position].removesuffix("\n").rpartition("\n")[2]
        headings.append(line if line.endswith(":") else "")
        start = position + len(claim.text)
    return headings


def _statement(
    claim: Claim, numbers: dict[str, int], limits: Limits, heading: str = ""
) -> Statement:
    cited = [numbers[quote.url] for quote in claim.citations if quote.url in numbers]
    texts = [quote.quotation for quote in claim.citations[:_MAX_QUOTATIONS]]
    reasons = f"{'; '.join(claim.reasons)}." if claim.reasons else ""
    if claim.nearest is not None:
        texts, reasons = [claim.nearest.text], f"{reasons} Closest passage:".lstrip()
    return Statement(
        clip(f"{heading}\n{claim.text}".lstrip("\n"), limits.page // 2, limits),
        [*dict.fromkeys(cited)],
        Fact(name(claim.status), _STATUS_TONES.get(claim.status, "")),
        [cut_lines(text, LONGEST_SENTENCE)[0] for text in texts if text],
        reasons,
    )


def _extracts(
    response: ResearchEnvelope, numbers: dict[str, int], limits: Limits, *, is_folded: bool
) -> Extracts:
    """Return the passages: all of them folded below an answer, else the nearest ones."""
    number = limits.rows if is_folded else _NEAREST_PASSAGES
    lengths = limits if is_folded else Limits(lines=_NEAREST_LINES)
    items = [
        Extract(
            numbers.get(address_of(passage.url).shown, 0),
            _heading(passage),
            clip(passage.text, limits.page // 10, lengths),
        )
        for passage in response.passages[:number]
    ]
    title = "Passages of these pages" if is_folded else "The closest passages"
    return Extracts(title, items, len(response.passages) - len(items), is_folded)


def _heading(passage: Passage) -> str:
    """Return the headings of a passage, unless it begins with the last of them."""
    words = passage.heading.rpartition(" > ")[2]
    return "" if words and words in passage.text.partition("\n")[0] else subject(passage.heading)
