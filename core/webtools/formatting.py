"""Format responses for the model: numbered results, page sections, warnings and errors."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, TypeVar
from urllib.parse import urlsplit

from webtools._internal.text.cutting import shortened
from webtools.fencing import defuse_line
from webtools.page_urls import other_host, page_key
from webtools.results import (
    FetchResponse,
    Page,
    Passage,
    QueryError,
    ReadResponse,
    SearchResponse,
    SearchResult,
    SiteEntry,
    SiteMap,
)
from webtools.truncation import fair_shares, fit

if TYPE_CHECKING:
    from webtools.results import ResearchEnvelope, ResearchResult

NumberOf: TypeAlias = Callable[[str], int]
"""Returns the number that cites a URL in texts for models."""
INDENT = "   "
NO_RESULTS = "No results found."
PASSAGES_NOTE = "Passages of the page, not all of it:"
NO_ANSWER = "No sentence fits well enough to quote; see the passages."
NO_PASSAGE = "No passage of this page was chosen for the question."
_BLANK = "\n\n"
_LONGEST_NAME = 500  # characters of a title or an author, where not all of it fits
_LONGEST_SNIPPET = 2000
_CONTENTS = 40_000  # characters of the pages of all results, where not all of them fit
_MIN_NAME_BYTES = 60  # of a title or a reason: less would be useless
_FRAME_BYTES = 9  # at most, beside URL, title and note: "## ", line feeds, blank lines
_ELLIPSIS = "…"
# What is left out of nearly every page (navigation, footer, forms) is not worth a line.
_TELLING_REASONS = frozenset({"comments", "hidden", "outside", "sidebar", "teasers", "lists"})
_TELLING_SHARE = 0.25
_CITATION = re.compile(r"\[(\d{1,4})\]")
_URL = re.compile(r"https?://\S+")
_LONGEST_HOST = 40


Result = TypeVar("Result", SearchResult, "ResearchResult")


def by_query(response: SearchResponse) -> dict[str, list[SearchResult]]:
    """Group the results by query. A failed query has no entry."""
    failed = {error.query for error in response.errors}
    results = {query: list[SearchResult]() for query in response.queries if query not in failed}
    for result in response.results:
        results.setdefault(result.query, []).append(result)
    return results


def brief(results: Sequence[Result]) -> list[Result]:
    """Shorten long texts of results, so that each result has room."""
    share = max(_LONGEST_SNIPPET, _CONTENTS // max(len(results), 1))
    return [_brief(result, share) for result in results]


def _brief(result: Result, share: int) -> Result:
    longest = {"title": _LONGEST_NAME, "author": _LONGEST_NAME, "snippet": _LONGEST_SNIPPET}
    texts = {name: getattr(result, name, None) or "" for name in longest}
    changes: dict[str, str | Page] = {
        n: shortened(text, longest[n]) for n, text in texts.items() if len(text) > longest[n]
    }
    page = result.content if isinstance(result, SearchResult) else None
    if page is not None and len(content := page_content(page)) > share:
        changes["content"] = Page(url=page.url, text=shortened(content, share))
    return result.model_copy(update=changes) if changes else result


def search_text(
    results: Sequence[SearchResult | ResearchResult],
    separator: str = _BLANK,
    number_of: NumberOf | None = None,
) -> str:
    """List results, numbered from 1, or with the numbers of their URLs.

    A page that several queries found is listed once. The others refer to it, with their snippet if
    it is another one.
    """
    items: list[str] = []
    numbers: dict[str, int] = {}
    texts: set[tuple[int, str]] = set()
    for place, result in enumerate(results, 1):
        key, text = page_key(result.url), _text_of(result)
        is_repeated = key in numbers
        number = place if number_of is None else number_of(result.url)
        first = numbers.setdefault(key, number)
        if is_repeated:
            text = "" if (first, text) in texts else text
            head = f"{number}. See {first}." if number_of is None else f"{number}. See above."
            items.append(_item(head, text.splitlines()))
        else:
            lines = [result.url, *text.splitlines()]
            if facts := _facts(result):
                lines.append(facts)
            # Of a search, the final URL is not known.
            if not isinstance(result, SearchResult) and (host := _other_host(result)):
                lines.append(host)
            items.append(_item(f"{number}. {result.title}", lines))
        texts.add((first, text))
    return separator.join(items) or NO_RESULTS


def _text_of(result: SearchResult | ResearchResult) -> str:
    page = result.content if isinstance(result, SearchResult) else None
    return page_content(page) if page else result.snippet


def _item(head: str, lines: Sequence[str]) -> str:
    return "\n".join([head, *[f"{INDENT}{line}".rstrip() for line in lines]])


def _facts(item: SearchResult | ResearchResult | Page) -> str:
    """Return `YYYY-MM-DD · Author`, or the part that is known."""
    day = item.published_at.date().isoformat() if item.published_at else ""
    author = getattr(item, "author", "")  # results of research have none
    return f"{day} · {author}" if day and author else day or author or ""


def page_sections(response: FetchResponse) -> list[str]:
    """Return one section per page: `## Title`, the URL, date and author, and the content."""
    return [
        _BLANK.join(filter(None, [_whole_head(page), page_content(page)]))
        for page in response.pages
    ]


def _whole_head(page: Page) -> str:
    return _head(page.title or page.url, page.url, _note(page))


def _head(*lines: str) -> str:
    return "## " + "\n".join(filter(None, lines))


def _note(page: Page) -> str:
    """Return the error of a page, or its date, its author and what was left out of it."""
    if page.error:
        return f"Failed: {' '.join(page.error.split())}"
    return " · ".join(filter(None, [_facts(page), _other_host(page), _left_out(page)]))


def _other_host(page: Page | ResearchResult) -> str:
    """Return the host that the page comes from, if it is not the one that was requested."""
    host = other_host(page.url, page.url_final)
    return f"from {_brief_host(host)}" if host else ""


def _left_out(page: Page) -> str:
    """Return the shares of a page that were left out, if they may matter to a reader."""
    shares = {why: share for why, share in page.left_out.items() if why in _TELLING_REASONS}
    if not page.text or sum(shares.values()) < _TELLING_SHARE:
        return ""
    listed = ", ".join(f"{why} {share:.0%}" for why, share in shares.items() if share >= 0.01)  # noqa: PLR2004
    hint = "" if set(shares) == {"hidden"} else " (whole=true returns it)"
    return f"left out: {listed}{hint}"


def page_content(page: Page) -> str:
    """Return the summary, extracts, passages and text of a page."""
    if page.error:
        return ""
    highlights = "\n".join(f"- {highlight}" for highlight in page.highlights)
    parts = [page.summary, highlights, passages_section(page), page.text]
    return _BLANK.join(part for part in parts if part) or "The page has no content."


def passages_section(page: Page) -> str:
    """Return the passages of a page under their headings, or "" if there was no question."""
    if page.passages is None:
        return ""
    texts = [passage_text(each, "###").removeprefix("###\n") for each in page.passages]
    is_all = len(texts) <= 1 and page.passages_by == "webtools"  # perhaps the whole page
    parts = f"{_BLANK}[…]{_BLANK}".join(texts) or NO_PASSAGE
    return parts if is_all or not texts else f"{PASSAGES_NOTE}{_BLANK}{parts}"


def footer(
    errors: Sequence[QueryError], warnings: Sequence[str], urls: Collection[str] = ()
) -> str:
    """Return errors and warnings, one per line.

    They may quote a provider or a page. Forged marks of a fence are replaced. Of a URL that is not
    among `urls`, such as the target of a redirect, only the host is shown: the rest may be any
    sentence.
    """
    shorten = partial(_brief_url, urls)
    lines = [f"Warning: {_quoted(_URL.sub(shorten, warning))}" for warning in warnings]
    lines += [f'Query "{_quoted(e.query, 100)}" failed: {_quoted(e.message)}' for e in errors]
    return "\n".join(lines)


def _brief_url(urls: Collection[str], match: re.Match[str]) -> str:
    url = match[0].rstrip(".,:;)")
    if url in urls or match[0] in urls:
        return match[0]
    host = None
    with suppress(ValueError):
        host = urlsplit(url).hostname
    return _brief_host(host or "a URL") + match[0][len(url) :]


def _brief_host(host: str) -> str:
    return host if len(host) <= _LONGEST_HOST else _ELLIPSIS + host[-_LONGEST_HOST:]


def _quoted(text: str, limit: int = 400) -> str:
    quoted = shortened(defuse_line(text[: 10 * limit]), limit)
    is_marked = len(text) <= 10 * limit or quoted.endswith(_ELLIPSIS)
    return quoted if is_marked else f"{quoted}{_ELLIPSIS}"


# --- pages that do not all fit -----------------------------------------------------------------


class BriefPage(NamedTuple):
    """The head of a section, which is never cut, and its content, which may be cut.

    Attributes:
        head: Title, URL, date and author; without a title, the URL.
        content: Content of the page; empty if it failed.
        is_cut: Whether something in the head was shortened.
    """

    head: str
    content: str
    is_cut: bool


def brief_pages(pages: Sequence[Page], max_bytes: int) -> list[BriefPage]:
    """Shorten long heads, so that every URL is shown in full and the contents have room.

    Titles and notes get half of the space beside the URLs, and more if the contents do not need the
    other half. If not all heads fit, the last pages are omitted.
    """
    if len(pages) == 1 and _size(head := _whole_head(pages[0])) <= max_bytes // 2:
        return [BriefPage(head, page_content(pages[0]), is_cut=False)]
    pages = pages[: _count_heads(pages, max_bytes)]
    contents = [page_content(page) for page in pages]
    names = [name for page in pages for name in _title_and_note(page)]
    brief_names = [shortened(name, _LONGEST_NAME) for name in names]
    room = _room_for_names(pages, brief_names, contents, max_bytes)
    shares = fair_shares([_size(name) for name in brief_names], room)
    brief_names = [_fit(name, share) for name, share in zip(brief_names, shares, strict=True)]
    pairs = zip(pages, contents, _pairs(names), _pairs(brief_names), strict=True)
    return [
        BriefPage(_head(title, page.url, note), content, (title, note) != original)
        for page, content, original, (title, note) in pairs
    ]


def _pairs(names: Sequence[str]) -> Iterator[tuple[str, str]]:
    return zip(names[::2], names[1::2], strict=True)


def _title_and_note(page: Page) -> list[str]:
    """Return the parts of a head that may be shortened, each on one line."""
    title = page.title if page.title != page.url else None
    return [" ".join((title or "").split()), " ".join(_note(page).split())]


def _count_heads(pages: Sequence[Page], max_bytes: int) -> int:
    used = 0
    for number, page in enumerate(pages):
        used += _size(page.url) + _FRAME_BYTES + sum(map(_min_size, _title_and_note(page)))
        if used > max_bytes:
            return number
    return len(pages)


def _room_for_names(
    pages: Sequence[Page], names: Sequence[str], contents: Sequence[str], max_bytes: int
) -> int:
    room = max_bytes - sum(_size(page.url) + _FRAME_BYTES for page in pages)
    content_size = sum(_size(content[:max_bytes]) for content in contents)
    return max(room - min(content_size, room // 2), sum(map(_min_size, names)))


def _min_size(name: str) -> int:
    return min(_size(name), _MIN_NAME_BYTES)


def _fit(text: str, max_bytes: int) -> str:
    if _size(text) <= max_bytes:
        return text
    return fit(text, 1, max_bytes - _size(_ELLIPSIS)).content + _ELLIPSIS


def _size(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


def pages_left_out(count: int, total: int) -> str:
    """Report how many pages at the end are omitted because their URLs do not fit."""
    return (
        f"[The last {count} of {total} pages are omitted to fit the output limit. "
        "The full output and the details list them.]"
    )


# --- research ----------------------------------------------------------------------------------


def research_text(envelope: ResearchEnvelope, number_of: NumberOf | None = None) -> str:
    """Return the answer, the passages, and the sources with the numbers that both cite.

    The numbers are from 1, or those of the URLs.
    """
    if not envelope.results:
        return NO_RESULTS
    answer, results = envelope.synthesis, cited_first(envelope)
    if answer is None:
        return search_text(results, number_of=number_of)
    if not (answer.summary or envelope.passages):
        return f"{NO_ANSWER}\n\n{search_text(results, number_of=number_of)}"
    # The answer and the passages make the snippets redundant.
    sources = [each.model_copy(update={"snippet": ""}) for each in results]
    places = {result.url: place for place, result in reversed([*enumerate(results, 1)])}
    numbers = {url: number_of(url) if number_of else place for url, place in places.items()}
    summary = answer.summary
    if number_of is not None:
        summary = _renumbered(summary, [numbers.get(url, 0) for url in answer.citations])
    parts = [summary or NO_ANSWER]
    if envelope.passages:
        parts.append("Passages:" if answer.summary else "The closest passages:")
    marks = {url: f"[{number}]" for url, number in numbers.items()}
    parts += [passage_text(each, marks.get(each.url, "")) for each in envelope.passages]
    return _BLANK.join([*parts, "Sources:\n" + search_text(sources, "\n", number_of)])


def _renumbered(summary: str, numbers: Sequence[int]) -> str:
    """Replace the citations `[1]`, `[2]`, … of an answer."""

    def replace(match: re.Match[str]) -> str:
        place = int(match[1])
        return f"[{numbers[place - 1]}]" if 1 <= place <= len(numbers) else match[0]

    return _CITATION.sub(replace, summary)


def passage_text(passage: Passage, mark: str) -> str:
    """Return a passage under its heading, unless the passage begins with it."""
    words = passage.heading.rpartition(" > ")[2].rstrip("…`")  # long headings are shortened
    first_line = passage.text.partition("\n")[0]
    head = mark if words and words in first_line else f"{mark} {passage.heading}"
    return f"{head.rstrip()}\n{passage.text}"


def cited_first(envelope: ResearchEnvelope) -> list[ResearchResult]:
    """Order the results so that `[n]` in the answer cites the n-th."""
    by_url = {result.url: result for result in envelope.results}
    citations = envelope.synthesis.citations if envelope.synthesis else ()
    cited = [by_url[url] for url in citations if url in by_url]
    return [*cited, *(result for result in envelope.results if result not in cited)]


def research_footer(envelope: ResearchEnvelope) -> str:
    """Return confidence, uncertainty, provider and warnings."""
    meta = envelope.meta
    why = f" ({meta.confidence_rule})" if meta.confidence_rule else ""
    lines = [f"Confidence: {meta.confidence}{why}."]
    if meta.uncertainty:
        lines.append(f"Uncertainty: {defuse_line(meta.uncertainty)}")
    source = ", from the cache" if meta.cache_hit else ""
    provider = f" by {meta.provider_used}" if meta.provider_used else ""
    lines.append(f"Retrieved {meta.retrieved_at:%Y-%m-%d %H:%M} UTC{provider}{source}.")
    if meta.degraded:
        lines.append(f"Degraded: {', '.join(meta.degraded)} (failed or skipped).")
    return "\n".join([*lines, *filter(None, [footer((), meta.warnings)])])


# --- maps of sites -----------------------------------------------------------------------------


def map_text(entries: Sequence[SiteEntry], *, is_numbered: bool = True) -> str:
    """List pages, numbered from 1, each with its title, if it has one, and its URL."""
    return "\n".join(
        _item(
            f"{f'{place}.' if is_numbered else '-'} {entry.title or entry.url}",
            [entry.url] if entry.title else [],
        )
        for place, entry in enumerate(entries, 1)
    )


def map_footer(response: SiteMap) -> str:
    """Return how many pages are shown, and warnings."""
    hint = "" if response.find else " Pass find to get those that fit."
    shown = len(response.entries)
    count = f"[{shown:,} of the {response.total:,} pages that the site lists.{hint}]"
    counts = [count] if shown < response.total else []
    return "\n".join([*counts, *filter(None, [footer((), response.warnings, [response.url])])])


# --- parts of an output ------------------------------------------------------------------------


def pointer(handle: str, offset: int) -> str:
    """Return the note on how to read the next part."""
    return f"[Read on with web_read: handle {handle}, offset {offset}.]"


def part_footer(response: ReadResponse) -> str:
    """Return the position of the part, and how to read the next one."""
    total, stop = response.total_characters, response.offset + len(response.content)
    find = _quoted(response.find, 100)
    if response.find and response.found_at is None:
        lines = [f'["{find}" is not in characters {response.offset} to {total}.]']
    else:
        end = "" if response.next_offset is not None else ", the end"
        lines = [f"[Characters {response.offset} to {stop} of {total}{end}.]"]
    if response.found_at is not None:
        hit = response.found_at
        lines.append(f'["{find}" is at {hit}. To find the next one, use offset {hit + 1}.]')
    if response.next_offset is not None:
        lines.append(pointer(response.handle, response.next_offset))
    return "\n".join([*lines, *filter(None, [footer((), response.warnings)])])
