"""The pages of the best sources, read by who can, by another one, or not at all."""

from __future__ import annotations

from collections.abc import Sequence

from webtools.config.settings import Accounts
from webtools.errors import ConfigError, InputError, ProviderError, RequestError
from webtools.flows.drivers import Flow
from webtools.operations.fetch import Fetched, fetch_in_turn
from webtools.operations.research.chain import Retrieval
from webtools.pipeline.context import CallContext
from webtools.providers import PROVIDERS, Account, direct
from webtools.providers.protocols import Cost, PageQuery
from webtools.results import Page

PAGE_CHARACTERS = 1_000_000  # of each page that is read


def readers(accounts: Accounts) -> tuple[Account, Account | None]:
    """Give who reads pages, and who stands in where that fails.

    Raises:
        ConfigError: Nobody can.
    """
    account = accounts.select_fetcher()
    return account, accounts.fallback(account) or _keyless(account, accounts)


def _keyless(account: Account, accounts: Accounts) -> Account | None:
    """Let pages be read without an API when that one fails: as configured, if it is."""
    if PROVIDERS[account.type].pages is not None or direct.missing_libraries() is not None:
        return None
    configured = (each for each in accounts.accounts if PROVIDERS[each.type].pages)
    return next(configured, accounts.keyless)


def page_query(urls: Sequence[str]) -> PageQuery:
    """Ask for the text of pages, as much as answers are made from."""
    return PageQuery(tuple(urls), text_max_characters=PAGE_CHARACTERS)


def read_pages(found: Retrieval, context: CallContext, deadline: float) -> Flow[dict[str, str]]:
    """Give the texts of the results' pages by URL; what could not be had goes into `found`."""
    reader: Account | None = None
    try:
        reader, fallback = readers(context.accounts)
        chain = [reader] if fallback is None else [reader, fallback]
        fetched = yield from _fetched(chain, found, context, deadline)
    except (ConfigError, InputError, ProviderError, RequestError) as error:
        found.warnings.append(f"No page could be read, so the snippets stand in: {error}")
        found.is_partial = True
        if reader is not None and not isinstance(error, InputError):
            found.degraded.setdefault(reader.name, str(error))
        return {}
    response, found.read_at = fetched.response, fetched.since
    if response.cost_usd is not None:
        found.costs.append(Cost(response.cost_usd, response.cost_is_estimate))
    unread = _unread(response.pages)
    found.is_partial = bool(unread)
    found.warnings += [*response.warnings, *unread]
    return {page.url: page.text for page in response.pages if page.text}


def _fetched(
    chain: Sequence[Account], found: Retrieval, context: CallContext, deadline: float
) -> Flow[Fetched]:
    query = page_query([result.url for result in found.results])
    fetched = yield from fetch_in_turn(chain, query, context, deadline)
    found.degraded |= fetched.stood_in_for
    return fetched


def _unread(pages: Sequence[Page]) -> list[str]:
    return [
        f"{page.url} could not be read, so its snippet stands in: {page.error}"
        for page in pages
        if page.error
    ]
