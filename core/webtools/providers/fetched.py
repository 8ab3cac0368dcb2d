"""Reads the pages of an answer, and matches them to the URLs asked for, however those are spelled.

A page that an answer does not have carries an error. Where a provider sends whole texts alone, the
other parts are made of them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TypeAlias, TypeVar
from urllib.parse import urlsplit

from webtools._internal.text.cleaning import one_line, without_controls
from webtools.errors import Fault, InputError, ProviderError, WebToolsError
from webtools.providers.about import Account
from webtools.providers.hits import Field, Item, Oddities
from webtools.providers.protocols import PageQuery, Pages
from webtools.results import Page, Passage, failed_page

T = TypeVar("T")
PageFault: TypeAlias = str | ProviderError  # the words of the API, or the answer of the page's site

_UNRESERVED = re.compile(r"[A-Za-z0-9._~-]")
_ESCAPE = re.compile(r"%([0-9a-fA-F]{2})")
_DEFAULT_PORTS = (None, 80, 443)
_BETWEEN_PASSAGES = re.compile(r"\s\.\.\.\s")
_HIGHLIGHTS = 3
_LONGEST_HIGHLIGHT = 500
_SHORTEST_HIGHLIGHT = 60
_NO_PROSE = re.compile(r"\s*(?:#|```|\||[-*+] |\d+\. |>|\[Page )")
_NOTHING = "the provider returned nothing for this URL"
_GONE = frozenset({404, 410})


@dataclass(frozen=True, slots=True)
class PageFields:
    """Where the pages of an API have their fields, by name.

    Attributes:
        asked: The URL asked for, where that stands apart.
        url: Where the page was found: after a redirect another URL.
        title: Texts on one line, as `author` is; by a function where it has no field.
        text: A text of lines, as `summary` is.
        highlights: Lists of texts.
        published_at: Dates in ISO 8601.
    """

    asked: str = ""
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
    """Read one page per URL, in the order asked.

    `faults` are what the answer says of URLs that failed. A page of a site that the operator does
    not allow is left out, whoever has read it.
    """
    named = [((item.text(fields.asked), item.text(fields.url)), item) for item in items]
    found = match_addresses(query.urls, named, faults)
    errors: dict[str, PageFault | WebToolsError] = {**faults}
    for url, item in found.items():
        if forbidden := account.domains.fault_of(item.text(fields.url) or url):
            errors[url] = InputError(forbidden, fault=Fault.FORBIDDEN)
    return [
        _read_page(url, found[url], fields, query, account)
        if url in found and url not in errors
        else _failed(url, errors.get(url, _NOTHING))
        for url in query.urls
    ]


def _failed(url: str, error: PageFault | WebToolsError) -> Page:
    return failed_page(url, str(error), Fault.NONE if isinstance(error, str) else error.fault)


def _read_page(
    url: str, item: Item, fields: PageFields, query: PageQuery, account: Account
) -> Page:
    extracts = item.texts(fields.highlights)
    chosen = passages_of(url, extracts, query.passage_characters) if query.question else None
    return Page(
        url=url,
        title=(
            item.line(title)
            if isinstance(title := fields.title, str)
            else item.call("title", title)
        ),
        text=without_controls(item.text(fields.text)) if query.text else None,
        passages=chosen,
        passages_by=None if chosen is None else account.name,
        highlights=[one_line(part) for part in extracts] if query.highlights else [],
        summary=without_controls(item.text(fields.summary)) or None,
        published_at=item.moment(fields.published_at),
        author=item.line(fields.author),
    )


def came(query: PageQuery, pages: Iterable[Page]) -> PageQuery:
    """Return a query for the pages alone that came: what is paid for."""
    return replace(query, urls=tuple(page.url for page in pages if not page.error))


def faults_of(
    query: PageQuery, failed: Iterable[Item], url: str, fault: Callable[[Item], T]
) -> dict[str, T]:
    """Return what an answer says of the URLs that failed, each named by a field."""
    named = [((item.text(url),), fault(item)) for item in failed]
    return match_addresses(query.urls, named, query.urls)


def read_fault(item: Item, kind: str, status: str) -> PageFault:
    """Return what went wrong with a page, by two fields: what kind of fault, and HTTP's status."""
    name, code = item.line(kind) or "unknown error", item.values.get(status)
    return site_fault(f"{name} (HTTP {code})", code) if isinstance(code, int) else name


def site_fault(words: str, status: float) -> ProviderError:
    """Return what went wrong with a page whose site answered with a status."""
    return ProviderError(words, fault=Fault.GONE if status in _GONE else Fault.NONE)


def passages_of(url: str, extracts: Iterable[str], most: int) -> list[Passage]:
    """Return the passages that a provider chose, in its order, as far as they fit.

    Where the extracts are joined by ` ... ` they are parted again.
    """
    split = _BETWEEN_PASSAGES.split
    parts = [part for each in extracts for part in split(without_controls(each))]
    passages, left = list[Passage](), most
    for text in filter(None, map(str.strip, parts)):
        left -= len(text)
        if left >= 0:
            passages.append(Passage(text=text, url=url))
    return passages


def address_key(url: str) -> str:
    """Return what is equal for the spellings of one page's address.

    These do not count: the scheme, capitals in the host, a default port, capitals in escapes and
    escapes that are not needed, a slash at the end, the fragment.
    """
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return url
    host = (parts.hostname or "").rstrip(".")
    if port not in _DEFAULT_PORTS:
        host = f"{host}:{port}"
    path = _ESCAPE.sub(_escape, parts.path).rstrip("/")
    query = _ESCAPE.sub(_escape, parts.query)
    return f"{host}{path}?{query}" if query else f"{host}{path}"


def _escape(match: re.Match[str]) -> str:
    character = chr(int(match[1], 16))
    return character if _UNRESERVED.fullmatch(character) else match[0].upper()


def match_addresses(
    urls: Sequence[str], items: Iterable[tuple[Iterable[str], T]], failed: Container[str] = ()
) -> dict[str, T]:
    """Find the item of each URL: by the same spelling, else by the same address.

    An item comes with all its names. The only one that is left over belongs to the only URL that
    is and that is not known to have failed: a redirect may have led to any address.
    """
    pairs = [(frozenset(filter(None, names)), item) for names, item in items]
    exact = {name: index for index, (names, _) in enumerate(pairs) for name in names}
    alike = {address_key(name): index for name, index in exact.items()}
    found: dict[str, int] = {}
    for url in urls:
        index = exact.get(url, alike.get(address_key(url)))
        if index is not None:
            found[url] = index
    missing = [url for url in urls if url not in found and url not in failed]
    spare = [index for index in range(len(pairs)) if index not in found.values()]
    if len(missing) == len(spare) == 1:
        found[missing[0]] = spare[0]
    return {url: pairs[index][1] for url, index in found.items()}


# --- whole texts alone -------------------------------------------------------------------------


def read_texts(
    items: Iterable[Item],
    fields: PageFields,
    query: PageQuery,
    account: Account,
    faults: Mapping[str, PageFault],
    *,
    odd: Oddities,
) -> Pages:
    """Read one page per URL, of which the whole texts come alone, with the parts asked for."""
    whole = read_page_list(items, fields, replace(query, text=True), account, faults)
    most = query.text_max_characters or account.options.default_fetch_text_max_characters
    shown = [with_parts(page, query, most) for page in whole]
    cut_short = [warning for _, warnings in shown for warning in warnings]
    said = [*missing_parts(query, account.name), *cut_short, *odd.warnings()]
    return Pages([page for page, _ in shown], warnings=said)


def with_parts(page: Page, query: PageQuery, most: int | None) -> tuple[Page, list[str]]:
    """Return a page that has its whole text with the parts asked for, and what was cut."""
    if page.error:
        return page, []
    whole = page.text or ""
    wants_text = query.text or not query.highlights  # a summary cannot be had
    text = cut(whole, most) if most else whole
    highlights = lead(whole) if query.highlights else []
    shown = page.model_copy(update={"text": text if wants_text else None, "highlights": highlights})
    if not wants_text or len(text) == len(whole):
        return shown, []
    return shown, [f"{page.url}: the first {len(text):,} of {len(whole):,} characters."]


def missing_parts(query: PageQuery, name: str) -> list[str]:
    """Name which parts a provider of texts does not have, and what comes instead."""
    said: list[str] = []
    if query.summary:
        instead = "" if query.text or query.highlights else " The text is given instead."
        said.append(f'Provider "{name}" cannot summarize pages.{instead}')
    if query.highlights:
        said.append(
            f'Highlights of provider "{name}" are the first paragraphs of each page, as there is '
            "no query to choose by."
        )
    return said


def cut(text: str, most: int) -> str:
    """Cut a text to so many characters, at white space where there is some nearby."""
    if len(text) <= most:
        return text
    kept = text[:most]
    end = max(kept.rfind(" "), kept.rfind("\n"))
    return kept[:end].rstrip() if end > most * 0.8 else kept


def lead(text: str) -> list[str]:
    """Return the first paragraphs of prose: what a fetch without a query has for highlights."""
    is_no_prose = _NO_PROSE.match
    paragraphs = [p.strip() for p in text.split("\n\n") if p.strip() and not is_no_prose(p)]
    long = [p for p in paragraphs if len(p) >= _SHORTEST_HIGHLIGHT]
    return [cut(p, _LONGEST_HIGHLIGHT) for p in (long or paragraphs)[:_HIGHLIGHTS]]
