"""The pages of the best sources, read by who can, by another one, or not at all."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from webtools._internal.operations.fetch import fetch_pages
from webtools._internal.operations.research.chain import Retrieval
from webtools._internal.pipeline.tool_call import Call
from webtools.config import Accounts
from webtools.errors import ConfigError, InputError, ProviderError, RequestError
from webtools.providers import PROVIDERS, Account, direct
from webtools.providers.protocols import Cost, PageQuery
from webtools.results import Page, SearchResult

PAGE_CHARACTERS = 1_000_000  # of each page that is read


def readers(accounts: Accounts) -> tuple[Account, Account | None]:
    """Return who reads pages, and who stands in where that fails.

    Raises:
        ConfigError: Nobody can.
    """
    account = accounts.select_fetcher()
    return account, accounts.fallback(account) or _keyless(account, accounts)


def _keyless(account: Account, accounts: Accounts) -> Account | None:
    """Allow pages to be read without an API when that one fails: as configured, if it is."""
    if PROVIDERS[account.type].pages is not None or direct.missing_libraries() is not None:
        return None
    configured = (each for each in accounts.accounts if PROVIDERS[each.type].pages)
    return next(configured, accounts.keyless)


def page_query(urls: Sequence[str]) -> PageQuery:
    """Ask for the text of pages, as much as answers are made from."""
    return PageQuery(tuple(urls), text_max_characters=PAGE_CHARACTERS)


async def read_pages(found: Retrieval, call: Call, deadline: float) -> dict[str, str]:
    """Return the texts of the results' pages by URL; what could not be had goes into `found`.

    Where a page cannot be read, the next best hit takes the place of its own.
    """
    reader: Account | None = None
    try:
        reader, fallback = readers(call.accounts)
        chain = [reader] if fallback is None else [reader, fallback]
        pages = await _read(chain, found.results, found, call, deadline)
    except (ConfigError, InputError, ProviderError, RequestError) as error:
        instead = _chosen(found.results) or "the snippets"
        found.warnings.append(f"No page could be read, so {instead} stand in: {error}")
        found.is_partial = True
        if reader is not None and not isinstance(error, InputError):
            found.attempts.degraded.setdefault(reader.name, str(error))
        return {}
    unread = [page for page in pages if page.error]
    if unread and found.spares:
        spare = await _read_spares(chain, len(unread), found, call, deadline)
        unread = _replaced(unread, spare, found)
        pages += spare
    found.is_partial = bool(unread)
    found.warnings += [
        f"{page.url} could not be read, so {_stand_in(page.url, found)} in: {page.error}"
        for page in unread
    ]
    return {page.url: page.text for page in pages if page.text}


def _stand_in(url: str, found: Retrieval) -> str:
    chosen = _chosen(hit for hit in found.results if hit.url == url)
    return f"{chosen} stand" if chosen else "its snippet stands"


def _chosen(hits: Iterable[SearchResult]) -> str:
    """Name the passages that came with hits by who chose them; empty where none did."""
    pages = (hit.content for hit in hits)
    names = dict.fromkeys(f'"{page.passages_by}"' for page in pages if page and page.passages)
    return f"the passages that {' and '.join(names)} chose" if names else ""


async def _read(
    chain: Sequence[Account],
    hits: Sequence[SearchResult],
    found: Retrieval,
    call: Call,
    deadline: float,
) -> list[Page]:
    query = page_query([hit.url for hit in hits])
    fetched = await fetch_pages(chain, query, call, deadline)
    response = fetched.response
    found.attempts.degraded |= fetched.replaced
    found.read_at = min(filter(None, (found.read_at, fetched.oldest)), default=None)
    if response.cost_usd is not None:
        found.costs.append(Cost(response.cost_usd, response.cost_is_estimate))
    found.warnings += response.warnings
    return response.pages


async def _read_spares(
    chain: Sequence[Account], count: int, found: Retrieval, call: Call, deadline: float
) -> list[Page]:
    """Read as many of the next best pages; none where that fails too."""
    try:
        pages = await _read(chain, found.spares[:count], found, call, deadline)
    except (ProviderError, RequestError, InputError):
        return []
    return [page for page in pages if page.text]


def _replaced(unread: Sequence[Page], spare: Sequence[Page], found: Retrieval) -> list[Page]:
    """Put hits whose pages were read in the place of others; return the pages that none has."""
    hit_of = {hit.url: hit for hit in found.spares}
    for old, new in zip(unread, spare, strict=False):
        found.results = [hit for hit in found.results if hit.url != old.url]
        found.results.append(hit_of[new.url])
        found.warnings.append(
            f"{old.url} could not be read, so the next best hit, {new.url}, stands in: {old.error}"
        )
    return [*unread[len(spare) :]]
