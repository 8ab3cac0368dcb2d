"""Reads the pages of the best sources."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence

from webtools._internal.operations.fetch import fetch_pages
from webtools._internal.operations.research.chain import Retrieval
from webtools._internal.pages import missing_libraries
from webtools._internal.pipeline.tool_call import Call
from webtools._internal.text.web_urls import is_library_page
from webtools.config import Accounts
from webtools.errors import ConfigError, InputError, ProviderError, RequestError
from webtools.providers import PROVIDERS, Account
from webtools.providers.protocols import Cost, PageQuery
from webtools.results import Page, SearchResult

PAGE_CHARACTERS = 1_000_000  # of each page that is read


def readers(accounts: Accounts) -> tuple[Account, Account | None]:
    """Return the provider that fetches pages, and its fallback.

    Raises:
        ConfigError: There is no such provider.
    """
    account = accounts.select_fetcher()
    return account, accounts.fallback(account) or _keyless_reader(account, accounts)


def _keyless_reader(account: Account, accounts: Accounts) -> Account | None:
    """Return what reads pages without an API if a provider fails."""
    if PROVIDERS[account.type].pages is not None or missing_libraries() is not None:
        return None
    configured = (candidate for candidate in accounts.accounts if PROVIDERS[candidate.type].pages)
    return next(configured, accounts.keyless)


def page_query(urls: Sequence[str]) -> PageQuery:
    """Return the query for the text of pages."""
    return PageQuery(tuple(urls), text_max_characters=PAGE_CHARACTERS)


async def read_pages(
    retrieval: Retrieval, question: str, call: Call, deadline: float
) -> dict[str, str]:
    """Return the texts of the results' pages by URL.

    If a page cannot be read, the next best hit replaces its own. Adds warnings and costs to
    `retrieval`.
    """
    reader: Account | None = None
    unseen = _use_seen_urls(retrieval, question, call)
    retrieval.warnings += [
        f"{hit.url} was not read: the question has its URL, which this session has not seen."
        for hit in retrieval.results
        if hit.url in unseen
    ]
    hits = _readable(retrieval.results, unseen)
    if not hits:
        return {}
    try:
        reader, fallback = readers(call.accounts)
        chain = [reader] if fallback is None else [reader, fallback]
        pages = await _read(chain, hits, retrieval, call, deadline)
    except (ConfigError, InputError, ProviderError, RequestError) as error:
        instead = _name_passages(retrieval.results) or "the snippets"
        retrieval.warnings.append(f"No page could be read, so {instead} are used: {error}")
        retrieval.is_partial = True
        if reader is not None and not isinstance(error, InputError):
            retrieval.failover.degraded.setdefault(reader.name, str(error))
        return {}
    unread = [page for page in pages if page.error]
    if unread and retrieval.spares:
        spares = _readable(retrieval.spares, unseen)[: len(unread)]
        spare = await _read_spares(chain, spares, retrieval, call, deadline)
        unread = _replace_unread(unread, spare, retrieval)
        pages += spare
    retrieval.is_partial |= bool(unread)
    retrieval.warnings += [
        f"{page.url} could not be read, so {_substitute(page.url, retrieval)} used: {page.error}"
        for page in unread
    ]
    retrieval.final_urls = {page.url: page.url_final or page.url for page in pages if page.text}
    return {page.url: page.text for page in pages if page.text}


def _substitute(url: str, retrieval: Retrieval) -> str:
    chosen = _name_passages(hit for hit in retrieval.results if hit.url == url)
    return f"{chosen} are" if chosen else "its snippet is"


def _name_passages(hits: Iterable[SearchResult]) -> str:
    """Name the passages that came with hits; empty without passages."""
    pages = (hit.content for hit in hits)
    names = dict.fromkeys(f'"{page.passages_by}"' for page in pages if page and page.passages)
    return f"the passages from {' and '.join(names)}" if names else ""


def _use_seen_urls(retrieval: Retrieval, question: str, call: Call) -> set[str]:
    """Replace URLs that are in the question by those that were seen; return those that were not."""
    unseen: set[str] = set()
    if call.find_seen is None:
        return unseen
    for hits in (retrieval.results, retrieval.spares):
        for place, hit in enumerate(hits):
            if (url := call.find_seen(hit.url, question)) is None:
                unseen.add(hit.url)
            elif url != hit.url:
                hits[place] = hit.model_copy(update={"url": url})
                retrieval.is_partial = True
    retrieval.is_partial |= bool(unseen)
    return unseen


def _readable(hits: Iterable[SearchResult], unseen: Container[str]) -> list[SearchResult]:
    """Leave out hits whose URL was made from the question, or was not seen outside of it."""
    return [hit for hit in hits if not is_library_page(hit.url) and hit.url not in unseen]


async def _read(
    chain: Sequence[Account],
    hits: Sequence[SearchResult],
    retrieval: Retrieval,
    call: Call,
    deadline: float,
) -> list[Page]:
    query = page_query([hit.url for hit in hits])
    fetched = await fetch_pages(chain, query, call, deadline)
    response = fetched.response
    retrieval.failover.degraded |= fetched.replaced
    retrieval.read_at = min(filter(None, (retrieval.read_at, fetched.oldest)), default=None)
    if response.cost_usd is not None:
        retrieval.costs.append(Cost(response.cost_usd, response.cost_is_estimate))
    retrieval.warnings += response.warnings
    return response.pages


async def _read_spares(
    chain: Sequence[Account],
    spares: Sequence[SearchResult],
    retrieval: Retrieval,
    call: Call,
    deadline: float,
) -> list[Page]:
    """Read the next best pages; none if that fails, too."""
    try:
        pages = await _read(chain, spares, retrieval, call, deadline)
    except (ProviderError, RequestError, InputError):
        return []
    return [page for page in pages if page.text]


def _replace_unread(
    unread: Sequence[Page], spare: Sequence[Page], retrieval: Retrieval
) -> list[Page]:
    """Replace hits whose pages could not be read, and return the pages without a replacement."""
    hit_of = {hit.url: hit for hit in retrieval.spares}
    for old, new in zip(unread, spare, strict=False):
        retrieval.results = [hit for hit in retrieval.results if hit.url != old.url]
        retrieval.results.append(hit_of[new.url])
        replacement = f"the next result, {new.url}, replaces it"
        retrieval.warnings.append(f"{old.url} could not be read, so {replacement}: {old.error}")
    return [*unread[len(spare) :]]
