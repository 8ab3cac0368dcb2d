"""Reads the pages of an answer, and matches them to the URLs asked for, however those are spelled.

A page that an answer does not have carries an error.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeVar
from urllib.parse import urlsplit

from webtools.providers.about import Account
from webtools.providers.hits import Field, Item
from webtools.providers.protocols import PageQuery
from webtools.results import Page, Passage
from webtools.text.cleaning import one_line, without_controls

T = TypeVar("T")

_UNRESERVED = re.compile(r"[A-Za-z0-9._~-]")
_ESCAPE = re.compile(r"%([0-9a-fA-F]{2})")
_DEFAULT_PORTS = (None, 80, 443)
_BETWEEN_PASSAGES = re.compile(r"\s\.\.\.\s")
_NOTHING = "the provider returned nothing for this URL"


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
    faults: Mapping[str, str] = MappingProxyType({}),
) -> list[Page]:
    """Read one page per URL, in the order asked.

    `faults` are what the answer says of URLs that failed. A page of a site that the operator does
    not allow is left out, whoever has read it.
    """
    named = [((item.text(fields.asked), item.text(fields.url)), item) for item in items]
    found, errors = match_addresses(query.urls, named, faults), dict(faults)
    for url, item in found.items():
        if forbidden := account.domains.fault_of(item.text(fields.url) or url):
            errors[url] = forbidden
    return [
        _read_page(url, found[url], fields, query, account)
        if url in found and url not in errors
        else Page(url=url, error=errors.get(url, _NOTHING))
        for url in query.urls
    ]


def _read_page(
    url: str, item: Item, fields: PageFields, query: PageQuery, account: Account
) -> Page:
    extracts = item.texts(fields.highlights)
    chosen = passages_of(url, extracts, query.passage_characters) if query.question else None
    return Page(
        url=url,
        title=item.line(title) if isinstance(title := fields.title, str) else title(item),
        text=without_controls(item.text(fields.text)) if query.text else None,
        passages=chosen,
        passages_by=None if chosen is None else account.name,
        highlights=[one_line(part) for part in extracts] if query.highlights else [],
        summary=without_controls(item.text(fields.summary)) or None,
        published_at=item.moment(fields.published_at),
        author=item.line(fields.author),
    )


def faults_of(
    query: PageQuery, failed: Iterable[Item], url: str, fault: Callable[[Item], str]
) -> dict[str, str]:
    """Return what an answer says of the URLs that failed, each named by a field."""
    named = [((item.text(url),), fault(item)) for item in failed]
    return match_addresses(query.urls, named, query.urls)


def fault_text(item: Item, kind: str, status: str) -> str:
    """Return what went wrong with a page, by two fields: what kind of fault, and HTTP's status."""
    name, code = item.line(kind) or "unknown error", item.values.get(status)
    return f"{name} (HTTP {code})" if isinstance(code, int) else name


def passages_of(url: str, extracts: Iterable[str], most: int) -> list[Passage]:
    """Return the passages that a provider chose, in its order, as far as they fit.

    Where the extracts are joined by ` ... ` they are parted again.
    """
    parts = [part for each in extracts for part in _BETWEEN_PASSAGES.split(without_controls(each))]
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
