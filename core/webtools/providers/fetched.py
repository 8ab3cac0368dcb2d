"""Read fetched pages from JSON, and match them to the URLs of the query.

A URL without a page in the response gets a page with an error. If an API sends only whole texts,
`read_texts` derives the other parts from them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import NamedTuple, TypeAlias, TypeVar
from urllib.parse import urlsplit

from webtools._internal.faults import Fault, with_fault
from webtools._internal.text.cleaning import one_line, without_controls
from webtools._internal.text.cutting import cut_at_space, shortened
from webtools.errors import InputError, ProviderError, WebToolsError
from webtools.providers.about import Account
from webtools.providers.hits import Field, Item, SkippedValues
from webtools.providers.protocols import PageQuery, Pages
from webtools.results import Page, Passage, failed_page

T = TypeVar("T")
PageFault: TypeAlias = str | ProviderError  # the API's message, or an error of the page's site

_UNRESERVED = re.compile(r"[A-Za-z0-9._~-]")
_ESCAPE = re.compile(r"%([0-9a-fA-F]{2})")
_DEFAULT_PORTS = (None, 80, 443)
_BETWEEN_PASSAGES = re.compile(r"\s\.\.\.\s")
_MAX_HIGHLIGHTS = 3
_MAX_HIGHLIGHT_CHARACTERS = 500
_MIN_HIGHLIGHT_CHARACTERS = 60
_NOT_PROSE = re.compile(r"\s*(?:#|```|\||[-*+] |\d+\. |>|\[Page )")
NO_PAGE = "the provider returned nothing for this URL"
NO_TEXT = "the page has no text"
_GONE = frozenset({404, 410})


class PageFields(NamedTuple):
    """The names of the fields of a page in an item.

    Attributes:
        requested_url: The requested URL, if the API repeats it in a separate field.
        url: The URL of the page, which differs after a redirect.
        title: Title, on one line: a name, or a function of the item.
        text: Text of the page.
        highlights: List of extracts.
        summary: Summary.
        published_at: Date in ISO 8601.
        author: Author, on one line.
    """

    requested_url: str = ""
    url: str = "url"
    title: Field[str | None] = "title"
    text: str = "text"
    highlights: str = "highlights"
    summary: str = "summary"
    published_at: str = ""
    author: str = "author"


def read_page_list(
    items: Iterable[Item],
    fields: PageFields,
    query: PageQuery,
    account: Account,
    faults: Mapping[str, PageFault] = MappingProxyType({}),
) -> list[Page]:
    """Read one page per URL, in the order of the query.

    A page from a host that the settings forbid gets an error. So does a URL without a page.

    Args:
        items: The pages of the response.
        fields: Where an item has its fields.
        query: The URLs, and the parts of each page.
        account: The provider's account.
        faults: The faults of URLs that failed, by URL.
    """
    named = [((item.text(fields.requested_url), item.text(fields.url)), item) for item in items]
    items_by_url = match_addresses(query.urls, named, faults)
    errors: dict[str, PageFault | WebToolsError] = {**faults}
    for url, item in items_by_url.items():
        if refusal := account.domains.refusal(item.text(fields.url) or url):
            errors[url] = with_fault(InputError(refusal), Fault.FORBIDDEN)
    return [
        _read_page(url, items_by_url[url], fields, query, account)
        if url in items_by_url and url not in errors
        else _failed_page(url, errors.get(url, NO_PAGE))
        for url in query.urls
    ]


def _failed_page(url: str, error: PageFault | WebToolsError) -> Page:
    return failed_page(url, str(error), None if isinstance(error, str) else error)


def _read_page(
    url: str, item: Item, fields: PageFields, query: PageQuery, account: Account
) -> Page:
    extracts = item.texts(fields.highlights)
    passages = split_extracts(url, extracts, query.passage_characters) if query.question else None
    return Page(
        url=url,
        title=(
            item.line(title)
            if isinstance(title := fields.title, str)
            else item.call("title", title)
        ),
        text=without_controls(item.text(fields.text)) if query.text else None,
        passages=passages,
        passages_by=None if passages is None else account.name,
        highlights=[one_line(part) for part in extracts] if query.highlights else [],
        summary=without_controls(item.text(fields.summary)) or None,
        published_at=item.moment(fields.published_at),
        author=item.line(fields.author),
    )


def without_failed(query: PageQuery, pages: Iterable[Page]) -> PageQuery:
    """Return the query without the URLs that failed, to price what was delivered."""
    return replace(query, urls=tuple(page.url for page in pages if not page.error))


def read_faults(
    query: PageQuery, failed_items: Iterable[Item], url_field: str, read: Callable[[Item], T]
) -> dict[str, T]:
    """Read what the response says about each URL that failed."""
    named = [((item.text(url_field),), read(item)) for item in failed_items]
    return match_addresses(query.urls, named, query.urls)


def read_fault(item: Item, kind_field: str, status_field: str) -> PageFault:
    """Read why a page failed from two fields: the kind of fault, and the site's HTTP status."""
    kind, status = item.line(kind_field) or "unknown error", item.values.get(status_field)
    return site_fault(f"{kind} (HTTP {status})", status) if isinstance(status, int) else kind


def site_fault(message: str, status: float) -> ProviderError:
    """Return the error for a page whose site responded with this HTTP status."""
    return with_fault(ProviderError(message), Fault.GONE if status in _GONE else Fault.NONE)


def split_extracts(url: str, extracts: Iterable[str], max_characters: int) -> list[Passage]:
    """Return the passages that a provider chose, in its order, within a number of characters.

    Extracts that are joined by ` ... ` are split.
    """
    split = _BETWEEN_PASSAGES.split
    parts = [part for extract in extracts for part in split(without_controls(extract))]
    passages, remaining = list[Passage](), max_characters
    for text in filter(None, map(str.strip, parts)):
        remaining -= len(text)
        if remaining >= 0:
            passages.append(Passage(text=text, url=url))
    return passages


def address_key(url: str) -> str:
    """Return a key that is equal for different spellings of one page's address.

    It ignores the scheme, upper case in the host, the default port, unnecessary escapes and upper
    case in escapes, a final slash and the fragment.
    """
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return url
    host = (parts.hostname or "").rstrip(".")
    if port not in _DEFAULT_PORTS:
        host = f"{host}:{port}"
    path = _ESCAPE.sub(_unescape_unreserved, parts.path).rstrip("/")
    query = _ESCAPE.sub(_unescape_unreserved, parts.query)
    return f"{host}{path}?{query}" if query else f"{host}{path}"


def _unescape_unreserved(match: re.Match[str]) -> str:
    character = chr(int(match[1], 16))
    return character if _UNRESERVED.fullmatch(character) else match[0].upper()


def match_addresses(
    urls: Sequence[str], items: Iterable[tuple[Iterable[str], T]], failed: Container[str] = ()
) -> dict[str, T]:
    """Match items to URLs, by spelling or by address.

    If one URL and one item remain, they are matched, because the item of a redirected page may have
    any URL.

    Args:
        urls: The URLs of the query.
        items: Items, each with all its URLs.
        failed: URLs that are known to have no item.
    """
    pairs = [(frozenset(filter(None, names)), item) for names, item in items]
    exact = {name: index for index, (names, _) in enumerate(pairs) for name in names}
    by_address = {address_key(name): index for name, index in exact.items()}
    matches: dict[str, int] = {}
    for url in urls:
        index = exact.get(url, by_address.get(address_key(url)))
        if index is not None:
            matches[url] = index
    unmatched_urls = [url for url in urls if url not in matches and url not in failed]
    unmatched_items = [index for index in range(len(pairs)) if index not in matches.values()]
    if len(unmatched_urls) == len(unmatched_items) == 1:
        matches[unmatched_urls[0]] = unmatched_items[0]
    return {url: pairs[index][1] for url, index in matches.items()}


# --- APIs that send only whole texts -----------------------------------------------------------


def read_texts(
    items: Iterable[Item],
    fields: PageFields,
    query: PageQuery,
    account: Account,
    faults: Mapping[str, PageFault],
    *,
    skipped: SkippedValues,
) -> Pages:
    """Read one page per URL from whole texts, and derive the parts of the query from them."""
    full_pages = read_page_list(items, fields, replace(query, text=True), account, faults)
    limit = text_limit(query, account)
    pages = list[Page]()
    warnings = missing_parts(query, account.name)
    for full_page in full_pages:
        page, page_warnings = with_parts(full_page, query, limit)
        pages.append(page)
        warnings += page_warnings
    return Pages(pages, warnings=[*warnings, *skipped.warnings()])


def text_limit(query: PageQuery, account: Account) -> int | None:
    """Return the maximum number of characters of a page's text, of the call or the settings."""
    limit: int | None = account.options.default_fetch_text_max_characters
    return query.text_max_characters or limit


def cut_warnings(pages: Sequence[Page], limit: int | None) -> list[str]:
    """Warn about each text that an API has cut to the number of characters of the request."""
    if not limit:
        return []
    return [f"{p.url}: cut to {limit:,} characters." for p in pages if len(p.text or "") >= limit]


def with_parts(page: Page, query: PageQuery, max_characters: int | None) -> tuple[Page, list[str]]:
    """Reduce a page with its whole text to the parts of the query; warn if the text is cut."""
    if page.error:
        return page, []
    full_text = page.text or ""
    # The text also stands in for a summary, which these APIs cannot write.
    has_text = query.text or not query.highlights
    text = cut_at_space(full_text, max_characters) if max_characters else full_text
    highlights = first_paragraphs(full_text) if query.highlights else []
    parts = {"text": text if has_text else None, "highlights": highlights}
    warnings: list[str] = []
    if has_text and len(text) < len(full_text):
        warnings = [f"{page.url}: cut to {len(text):,} of {len(full_text):,} characters."]
    return page.model_copy(update=parts), warnings


def missing_parts(query: PageQuery, name: str) -> list[str]:
    """Warn of the parts that a provider of whole texts cannot deliver."""
    warnings: list[str] = []
    if query.summary:
        instead = "" if query.text or query.highlights else " The text is returned instead."
        warnings.append(f'Provider "{name}" cannot summarize pages.{instead}')
    if query.highlights:
        warnings.append(
            f'Provider "{name}" cannot choose highlights. The first paragraphs of each page are '
            "returned instead."
        )
    return warnings


def first_paragraphs(text: str) -> list[str]:
    """Return the first paragraphs of prose, as highlights of a page."""
    paragraphs = [p.strip() for p in text.split("\n\n") if p.strip() and not _NOT_PROSE.match(p)]
    long = [p for p in paragraphs if len(p) >= _MIN_HIGHLIGHT_CHARACTERS]
    return [shortened(p, _MAX_HIGHLIGHT_CHARACTERS) for p in (long or paragraphs)[:_MAX_HIGHLIGHTS]]
