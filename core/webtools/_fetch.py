"""Fetch as a flow: every URL has its page or its reason, in the order asked."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

from webtools._cost import total
from webtools._exchange import Job, exchange, timeout_of
from webtools._flow import Flow, Gather, Now
from webtools.errors import ProviderError, RequestError, WebToolsError
from webtools.providers import PROVIDERS, Account
from webtools.providers._base import FetchProvider, PageQuery, Pages
from webtools.results import FetchResponse, Page


def fetch(account: Account, query: PageQuery, deadline: float | None = None) -> Flow[FetchResponse]:
    """Fetch pages; mixed outcomes succeed. Without a deadline the provider's time begins here.

    Raises:
        WebToolsError: The provider failed, or not one page could be had.
    """
    if deadline is None:
        deadline = yield from _end(account)
    answers = yield from _answers(account, query, deadline)
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


def fetch_with_fallback(
    account: Account, fallback: Account | None, query: PageQuery
) -> Flow[FetchResponse]:
    """Fetch pages, and try those that failed with another provider, in the time that is left.

    Raises:
        WebToolsError: As `fetch`; the error is that of `account` when both fail.
    """
    deadline = yield from _end(account)
    first: FetchResponse | WebToolsError
    try:
        first = yield from fetch(account, query, deadline)
    except (ProviderError, RequestError) as error:
        first = error
    failed = _failures(first, query)
    second: FetchResponse | None = None
    if failed and fallback is not None and fallback.name != account.name:
        with suppress(ProviderError, RequestError):
            second = yield from fetch(fallback, replace(query, urls=tuple(failed)), deadline)
    if second is not None:
        return _merged(account, first, second, failed)
    if isinstance(first, WebToolsError):
        raise first
    return first


def _failures(outcome: FetchResponse | WebToolsError, query: PageQuery) -> dict[str, str]:
    if isinstance(outcome, WebToolsError):
        return dict.fromkeys(query.urls, str(outcome))
    return {page.url: page.error for page in outcome.pages if page.error}


def _merged(
    account: Account,
    first: FetchResponse | WebToolsError,
    second: FetchResponse,
    failed: dict[str, str],
) -> FetchResponse:
    if isinstance(first, WebToolsError):
        pages = [Page(url=url, error=reason) for url, reason in failed.items()]
        first = FetchResponse(provider=account.name, pages=pages)
    rescued = {page.url: page for page in second.pages if not page.error}
    reasons: dict[str, list[str]] = {}
    for url in rescued:
        reasons.setdefault(failed[url], []).append(url)
    told = [
        f'"{second.provider}" fetched {", ".join(urls)}, as "{account.name}" failed: {reason}'
        for reason, urls in reasons.items()
    ]
    costs = [each.cost_usd for each in (first, second) if each.cost_usd is not None]
    return FetchResponse(
        provider=account.name,
        pages=[rescued.get(page.url, page) for page in first.pages],
        warnings=[*first.warnings, *told, *second.warnings],
        cost_usd=sum(costs) if costs else None,
        cost_is_estimate=first.cost_is_estimate or second.cost_is_estimate,
    )


def _end(account: Account) -> Flow[float]:
    start: float = yield Now()
    return start + timeout_of(account, "fetch")


def _answers(account: Account, query: PageQuery, deadline: float) -> Flow[list[Pages]]:
    services = PROVIDERS[account.type]
    if services.pages is not None:
        return [(yield from services.pages.pages(query, account, deadline))]
    assert services.fetch is not None  # noqa: S101  # accounts are selected by capability
    parts = _parts(query, services.fetch.MAX_URLS)
    return (yield from _all_parts(account, services.fetch, parts, deadline))


def _parts(query: PageQuery, size: int) -> list[PageQuery]:
    starts = range(0, len(query.urls), size)
    return [replace(query, urls=query.urls[start : start + size]) for start in starts]


def _all_parts(
    account: Account, provider: FetchProvider, parts: list[PageQuery], deadline: float
) -> Flow[list[Pages]]:
    flows = [_fetch_part(account, provider, part, deadline) for part in parts]
    if len(flows) == 1:
        return [(yield from flows[0])]
    outcomes: list[Pages | WebToolsError] = yield Gather(flows)
    return [
        Pages([Page(url=url, error=str(outcome)) for url in part.urls])
        if isinstance(outcome, WebToolsError)
        else outcome
        for part, outcome in zip(parts, outcomes, strict=True)
    ]


def _fetch_part(
    account: Account, provider: FetchProvider, part: PageQuery, deadline: float
) -> Flow[Pages]:
    subject = part.urls[0] if len(part.urls) == 1 else f"{part.urls[0]} and others"
    job = Job(account, "fetch", "fetching", subject)
    request = provider.fetch_request(part, account)
    return (
        yield from exchange(job, request, lambda r: provider.read_pages(r, part, account), deadline)
    )


def _all_failed(account: Account, pages: list[Page]) -> ProviderError:
    reasons = "; ".join(f"{page.url}: {page.error}" for page in pages)
    head = "The page" if len(pages) == 1 else f"All {len(pages)} pages"
    message = f"{head} could not be fetched: {reasons}. Check the URLs or try other ones."
    return ProviderError(message, provider=account.name)
