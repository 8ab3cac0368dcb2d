"""Fetch as a flow: every URL has its page or its reason, in the order asked."""

from __future__ import annotations

from dataclasses import replace

from webtools._cost import total
from webtools._exchange import Job, exchange
from webtools._flow import Flow, Gather
from webtools.errors import ProviderError, WebToolsError
from webtools.providers import PROVIDERS, Account
from webtools.providers._base import FetchProvider, PageQuery, Pages
from webtools.results import FetchResponse, Page


def fetch(account: Account, query: PageQuery) -> Flow[FetchResponse]:
    """Fetch pages; mixed outcomes succeed.

    Raises:
        WebToolsError: The provider failed, or not one page could be had.
    """
    provider = PROVIDERS[account.type].fetch
    assert provider is not None  # noqa: S101  # accounts are selected by capability
    answers = yield from _all_parts(account, provider, _parts(query, provider.MAX_URLS))
    pages = [page for answer in answers for page in answer.pages]
    if all(page.error for page in pages):
        raise _all_failed(account, pages)
    cost = total(answer.cost for answer in answers)
    return FetchResponse(
        provider=account.name,
        pages=pages,
        warnings=list(dict.fromkeys(w for answer in answers for w in answer.warnings)),
        cost_usd=cost.usd if cost else None,
        cost_is_estimate=bool(cost and cost.is_estimate),
    )


def _parts(query: PageQuery, size: int) -> list[PageQuery]:
    starts = range(0, len(query.urls), size)
    return [replace(query, urls=query.urls[start : start + size]) for start in starts]


def _all_parts(
    account: Account, provider: FetchProvider, parts: list[PageQuery]
) -> Flow[list[Pages]]:
    if len(parts) == 1:
        return [(yield from _fetch_part(account, provider, parts[0]))]
    outcomes: list[Pages | WebToolsError]
    outcomes = yield Gather([_fetch_part(account, provider, part) for part in parts])
    return [
        Pages([Page(url=url, error=str(outcome)) for url in part.urls])
        if isinstance(outcome, WebToolsError)
        else outcome
        for part, outcome in zip(parts, outcomes, strict=True)
    ]


def _fetch_part(account: Account, provider: FetchProvider, part: PageQuery) -> Flow[Pages]:
    subject = part.urls[0] if len(part.urls) == 1 else f"{part.urls[0]} and others"
    job = Job(account, "fetch", "fetching", subject)
    request = provider.fetch_request(part, account)
    return (yield from exchange(job, request, lambda r: provider.read_pages(r, part, account)))


def _all_failed(account: Account, pages: list[Page]) -> ProviderError:
    reasons = "; ".join(f"{page.url}: {page.error}" for page in pages)
    head = "The page" if len(pages) == 1 else f"All {len(pages)} pages"
    message = f"{head} could not be fetched: {reasons}. Check the URLs or try other ones."
    return ProviderError(message, provider=account.name)
