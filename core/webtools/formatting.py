"""What the model reads: numbered results, page sections, and what went wrong beside them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from functools import partial
from typing import NamedTuple, TypeVar
from urllib.parse import urlsplit

from webtools._internal.text.fencing import defused_line
from webtools.results import (
    FetchResponse,
    Page,
    Passage,
    QueryError,
    ReadResponse,
    ResearchEnvelope,
    ResearchResult,
    SearchResult,
)
from webtools.truncation import fair_shares, fit

INDENT = "   "
NO_RESULTS = "No results found."
NO_ANSWER = "The sources do not answer the question."
NO_PASSAGE = "This page has no passage of its own that bears on the question."
_BLANK = "\n\n"
_LONGEST_NAME = 500  # characters of a title or an author, where there is no room for all of it
_LONGEST_SNIPPET = 2000
_CONTENTS = 40_000  # characters of the pages of all results, where there is no room for all of them
_LEAST_WORD = 60  # bytes of a title, or of a reason, below which it would say nothing
_AROUND = 9  # most bytes beside a URL and words: "## ", line feeds, blank lines round the content
_ELLIPSIS = "…"
_URL = re.compile(r"https?://\S+")
_LONGEST_HOST = 60


Result = TypeVar("Result", SearchResult, ResearchResult)


def brief(results: Sequence[Result]) -> list[Result]:
    """Cut what is so long in a result that it would crowd out the others."""
    share = max(_LONGEST_SNIPPET, _CONTENTS // max(len(results), 1))
    return [_brief(result, share) for result in results]


def _brief(result: Result, share: int) -> Result:
    longest = {"title": _LONGEST_NAME, "author": _LONGEST_NAME, "snippet": _LONGEST_SNIPPET}
    texts = {name: getattr(result, name, None) or "" for name in longest}
    cut: dict[str, str | Page] = {
        n: _short(text, longest[n]) for n, text in texts.items() if len(text) > longest[n]
    }
    page = result.content if isinstance(result, SearchResult) else None
    if page is not None and len(content := page_content(page)) > share:
        cut["content"] = Page(url=page.url, text=_short(content, share))
    return result.model_copy(update=cut) if cut else result


def search_text(results: Sequence[SearchResult | ResearchResult], separator: str = _BLANK) -> str:
    """List results, numbered from 1 and separated by blank lines."""
    listed = [_numbered(number, result) for number, result in enumerate(results, 1)]
    return separator.join(listed) or NO_RESULTS


def _numbered(number: int, result: SearchResult | ResearchResult) -> str:
    page = result.content if isinstance(result, SearchResult) else None
    shown = page_content(page) if page else result.snippet
    lines = [result.url, *shown.splitlines()]
    if facts := _facts(result):
        lines.append(facts)
    return "\n".join([f"{number}. {result.title}", *[f"{INDENT}{x}".rstrip() for x in lines]])


def _facts(item: SearchResult | ResearchResult | Page) -> str:
    """Return `YYYY-MM-DD · Author`, without what is unknown."""
    day = item.published_at.date().isoformat() if item.published_at else ""
    author = getattr(item, "author", "")  # one of research has none
    return f"{day} · {author}" if day and author else day or author or ""


def page_sections(response: FetchResponse) -> list[str]:
    """Return one section per page: `## Title`, the URL, what is known of it, the content."""
    return [
        _BLANK.join(filter(None, [_whole_head(page), page_content(page)]))
        for page in response.pages
    ]


def _whole_head(page: Page) -> str:
    return _head(page.title or page.url, page.url, _note(page))


def _head(*lines: str) -> str:
    return "## " + "\n".join(filter(None, lines))


def _note(page: Page) -> str:
    """Explain why a page failed, or what is known of it."""
    return f"Failed: {' '.join(page.error.split())}" if page.error else _facts(page)


def page_content(page: Page) -> str:
    """Return what came of a page: its summary, its extracts, its text."""
    if page.error:
        return ""
    highlights = "\n".join(f"- {highlight}" for highlight in page.highlights)
    parts = [page.summary, highlights, passages_section(page), page.text]
    return _BLANK.join(part for part in parts if part) or "The page has no content."


def passages_section(page: Page) -> str:
    """Return the passages of a page under their headings; nothing when no question was asked."""
    if page.passages is None:
        return ""
    shown = [passage_text(each, "###").removeprefix("###\n") for each in page.passages]
    return _BLANK.join(shown) or NO_PASSAGE


def footer(
    errors: Sequence[QueryError], warnings: Sequence[str], asked: Collection[str] = ()
) -> str:
    """Describe failures and warnings, one per line. Return an empty text if there are none.

    They may quote a provider or a page. A line has no marks of a fence, so it cannot pose as a text
    of ours. Of a URL that the caller did not ask for, such as the target of a redirect, only the
    host is shown: the rest may be any sentence.
    """
    brief = partial(_brief_url, asked)
    lines = [f"Warning: {_quoted(_URL.sub(brief, warning))}" for warning in warnings]
    lines += [f'Query "{_quoted(e.query, 100)}" failed: {_quoted(e.message)}' for e in errors]
    return "\n".join(lines)


def _brief_url(asked: Collection[str], found: re.Match[str]) -> str:
    url = found[0].rstrip(".,:;)")
    if url in asked or found[0] in asked:
        return found[0]
    host = None
    with suppress(ValueError):
        host = urlsplit(url).hostname
    shown = host or "a URL"
    shown = shown if len(shown) <= _LONGEST_HOST else _ELLIPSIS + shown[-_LONGEST_HOST:]
    return shown + found[0][len(url) :]


def _quoted(text: str, most: int = 400) -> str:
    return _short(defused_line(text[: 10 * most]), most)


def _short(text: str, most: int) -> str:
    """Cut what would crowd out the rest; the details have all of it."""
    return text if len(text) <= most else f"{text[:most]}{_ELLIPSIS}"


# --- pages, where there is no room for all of them ---------------------------------------------


class BriefPage(NamedTuple):
    """The head of a section, which is shown whole, and the content, which may be cut.

    Attributes:
        head: Title, URL and what is known; without a title, the URL alone.
        content: What the page says; empty for one that failed.
        is_cut: Whether something in the head was cut.
    """

    head: str
    content: str
    is_cut: bool


def brief_pages(pages: Sequence[Page], max_bytes: int) -> list[BriefPage]:
    """Cut long heads, so that every URL is shown whole and the contents have room.

    Of what the URLs leave, titles, facts and reasons get half, and more where the contents do not
    need the other half. Where even so not all heads fit, the last pages are left out.
    """
    if len(pages) == 1 and _size(head := _whole_head(pages[0])) <= max_bytes // 2:
        # There is no other page to make room for.
        return [BriefPage(head, page_content(pages[0]), is_cut=False)]
    pages = pages[: _how_many_heads(pages, max_bytes)]
    contents = [page_content(page) for page in pages]
    words = [word for page in pages for word in _words(page)]
    short = [_short(word, _LONGEST_NAME) for word in words]
    room = _room_for_words(pages, short, contents, max_bytes)
    shown = list(map(_cut_to, short, fair_shares(list(map(_size, short)), room)))
    pairs = zip(pages, contents, _pairs(words), _pairs(shown), strict=True)
    return [
        BriefPage(_head(title, page.url, note), content, (title, note) != whole)
        for page, content, whole, (title, note) in pairs
    ]


def _pairs(words: Sequence[str]) -> Iterator[tuple[str, str]]:
    return zip(words[::2], words[1::2], strict=True)


def _words(page: Page) -> list[str]:
    """Return what may be cut in a head: the title and the note, each on one line."""
    title = page.title if page.title != page.url else None
    return [" ".join((title or "").split()), " ".join(_note(page).split())]


def _how_many_heads(pages: Sequence[Page], max_bytes: int) -> int:
    used = 0
    for number, page in enumerate(pages):
        used += _size(page.url) + _AROUND + sum(map(_least, _words(page)))
        if used > max_bytes:
            return number
    return len(pages)


def _room_for_words(
    pages: Sequence[Page], words: Sequence[str], contents: Sequence[str], max_bytes: int
) -> int:
    left = max_bytes - sum(_size(page.url) + _AROUND for page in pages)
    wanted = sum(_size(content[:max_bytes]) for content in contents)
    return max(left - min(wanted, left // 2), sum(map(_least, words)))


def _least(word: str) -> int:
    return min(_size(word), _LEAST_WORD)


def _cut_to(text: str, max_bytes: int) -> str:
    if _size(text) <= max_bytes:
        return text
    return fit(text, 1, max_bytes - _size(_ELLIPSIS)).content + _ELLIPSIS


def _size(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


def pages_left_out(count: int, total: int) -> str:
    """Explain how many pages are missing at the end, where their URLs would not fit."""
    return (
        f"[The last {count} of {total} pages are not shown: there is no room for their URLs. "
        "The full output and the details have them.]"
    )


# --- research ----------------------------------------------------------------------------------


def research_text(envelope: ResearchEnvelope) -> str:
    """Return the answer, then passages, then the sources numbered as both refer to them."""
    if not envelope.results:
        return NO_RESULTS
    answer, results = envelope.synthesis, cited_first(envelope)
    if answer is None:
        return search_text(results)
    if not (answer.summary or envelope.passages):
        return f"{NO_ANSWER}\n\n{search_text(results)}"
    # The answer and the passages say what the snippets would.
    bare = [each.model_copy(update={"snippet": ""}) for each in results]
    parts = [answer.summary or NO_ANSWER]
    if envelope.passages:
        parts.append("Passages:" if answer.summary else "The passages that come nearest:")
    numbers = {result.url: number for number, result in reversed([*enumerate(results, 1)])}
    parts += [passage_text(each, f"[{numbers[each.url]}]") for each in envelope.passages]
    return _BLANK.join([*parts, "Sources:\n" + search_text(bare, "\n")])


def passage_text(passage: Passage, mark: str) -> str:
    """Return a passage under its heading, unless it begins with that."""
    words = passage.heading.rpartition(" > ")[2].rstrip("…`")  # as a long one is shortened
    own = passage.text.partition("\n")[0]
    head = f"{mark} {passage.heading}" if not (words and words in own) else mark
    return f"{head.rstrip()}\n{passage.text}"


def cited_first(envelope: ResearchEnvelope) -> list[ResearchResult]:
    """Order the results so that the n-th is the one that the answer cites as `[n]`."""
    by_url = {result.url: result for result in envelope.results}
    cited = [by_url[url] for url in (envelope.synthesis.citations if envelope.synthesis else ())]
    return [*cited, *(result for result in envelope.results if result not in cited)]


def research_footer(envelope: ResearchEnvelope) -> str:
    """Write where the results are from, how sure one may be, and what to beware of."""
    meta = envelope.meta
    why = f" ({meta.confidence_rule})" if meta.confidence_rule else ""
    lines = [f"Confidence: {meta.confidence}{why}."]
    if meta.uncertainty:
        lines.append(f"Uncertainty: {defused_line(meta.uncertainty)}")
    kept = ", from the cache" if meta.cache_hit else ""
    served = meta.provider_used or "no provider"
    lines.append(f"Retrieved {meta.retrieved_at:%Y-%m-%d %H:%M} UTC by {served}{kept}.")
    if meta.degraded:
        lines.append(f"Degraded: {', '.join(meta.degraded)} did not serve.")
    return "\n".join([*lines, *filter(None, [footer((), meta.warnings)])])


# --- reading on --------------------------------------------------------------------------------


def pointer(handle: str, offset: int) -> str:
    """Explain how to read on."""
    return f"[Read on with web_read: handle {handle}, offset {offset}.]"


def part_footer(response: ReadResponse) -> str:
    """Name which part of the whole was shown, and how to go on."""
    total, stop = response.total_characters, response.offset + len(response.content)
    find = _quoted(response.find, 100)
    if response.find and response.found_at is None:
        lines = [f'["{find}" is not in characters {response.offset} to {total}.]']
    else:
        end = "" if response.next_offset is not None else ", the end"
        lines = [f"[Characters {response.offset} to {stop} of {total}{end}.]"]
    if response.found_at is not None:
        hit = response.found_at
        lines.append(f'["{find}" is at {hit}; for the next one, find it from {hit + 1} on.]')
    if response.next_offset is not None:
        lines.append(pointer(response.handle, response.next_offset))
    return "\n".join([*lines, *filter(None, [footer((), response.warnings)])])
