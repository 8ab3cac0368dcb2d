"""Fetch as a flow: every URL has its page or its reason, in the order asked."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from math import inf

from pydantic import BaseModel, TypeAdapter

from webtools._context import CallContext
from webtools._cost import NOTHING, total
from webtools._exchange import exchange
from webtools._flow import Flow, Gather, Now
from webtools._job import Job, observed, timeout_of
from webtools._keeping import Kept, Kind, Work, in_common, keep_all, kept_already
from webtools.cache import cache_key
from webtools.errors import ProviderError, RequestError, WebToolsError
from webtools.providers import PROVIDERS, Account
from webtools.providers._base import Done, FetchProvider, PageQuery, Pages, untold
from webtools.results import FetchResponse, Page

PATIENCE = 15.0  # seconds for a provider that another one can stand in for
_MOST_TOLD = 10  # reasons in one message


class KeptPage(BaseModel):
    """A page as it is kept: with what there was to say of it."""

    page: Page
    warnings: list[str]

    def is_whole(self) -> bool:
        """Tell whether it is a page with anything on it."""
        page = self.page
        return page.error is None and bool(page.text or page.highlights or page.summary)

    def own(self) -> KeptPage:
        """Give the same with lists of its own."""
        return KeptPage.model_construct(page=_own(self.page), warnings=[*self.warnings])


def _own(page: Page) -> Page:
    return page.model_copy(update={"highlights": [*page.highlights]})


PAGE: Kind[KeptPage] = Kind(
    TypeAdapter(KeptPage),
    KeptPage.is_whole,
    urls=lambda kept: [kept.page.url],
    own=KeptPage.own,
)


def fetch(
    account: Account,
    query: PageQuery,
    deadline: float | None = None,
    context: CallContext | None = None,
) -> Flow[FetchResponse]:
    """Fetch pages; mixed outcomes succeed. Without a deadline the provider's time begins here.

    Raises:
        WebToolsError: The provider failed, or not one page could be had.
    """
    return (yield from _fetched(account, query, deadline, context)).response


def _fetched(
    account: Account, query: PageQuery, deadline: float | None, context: CallContext | None
) -> Flow[Fetched]:
    if deadline is None:
        deadline = yield from _end(account)
    kept = yield from _kept_pages(account, query, context)
    missing = tuple(url for url in query.urls if url not in kept)
    answers: list[Pages] = []
    if missing:
        rest = query if not kept else replace(query, urls=missing)
        answers = yield from _shared_answers(account, rest, deadline, context)
    fetched = (page for answer in answers for page in answer.pages)
    pages = [kept[url].value.page if url in kept else next(fetched) for url in query.urls]
    if all(page.error for page in pages):
        raise _all_failed(account, pages)
    cost = total(answer.cost for answer in answers) if missing else NOTHING
    said = [each.value.warnings for each in kept.values()]
    said += [answer.warnings for answer in answers]
    since = _earliest(each.at for each in kept.values())
    response = FetchResponse(
        provider=account.name,
        pages=pages,
        warnings=list(dict.fromkeys(warning for each in said for warning in each)),
        cost_usd=cost.usd if cost else None,
        cost_is_estimate=bool(cost and cost.is_estimate),
        cache_hit=not missing,
        retrieved_at=None if missing else since,
    )
    return Fetched(response, since=since)


def _earliest(times: Iterable[datetime | None]) -> datetime | None:
    return min(filter(None, times), default=None)


# --- what is kept ------------------------------------------------------------------------------


def _kept_pages(
    account: Account, query: PageQuery, context: CallContext | None
) -> Flow[dict[str, Kept[KeptPage]]]:
    if context is None or context.cache is None:
        return {}
    works = [_work(account, query, url) for url in query.urls]
    found = yield from kept_already(context, works)
    return {url: kept for url, kept in zip(query.urls, found, strict=True) if kept is not None}


def _work(account: Account, query: PageQuery, url: str) -> Work[KeptPage]:
    parts = (query.text, query.highlights, query.summary, query.text_max_characters)
    return Work(PAGE, cache_key("fetch", account.identity, url, *parts), url, account.name)


def _shared_answers(
    account: Account, query: PageQuery, deadline: float, context: CallContext | None
) -> Flow[list[Pages]]:
    if context is None or context.cache is None:
        return (yield from _answers(account, query, deadline, context))
    works = [_work(account, query, url) for url in query.urls]
    flight = replace(works[0], key=cache_key(*(work.key for work in works)))
    make = partial(_answers_to_keep, account, query, deadline, context, works)
    answers, by_other = yield from in_common(context, flight, make, deadline)
    return [
        replace(
            answer,
            pages=[_own(page) for page in answer.pages],  # each caller's lists are its own
            cost=NOTHING if by_other else answer.cost,
        )
        for answer in answers
    ]


def _answers_to_keep(
    account: Account,
    query: PageQuery,
    deadline: float,
    context: CallContext,
    works: list[Work[KeptPage]],
) -> Flow[list[Pages]]:
    answers = yield from _answers(account, query, deadline, context)
    pages = [
        KeptPage(page=page, warnings=_said_of(page.url, answer))
        for answer in answers
        for page in answer.pages
    ]
    yield from keep_all(context, zip(works, pages, strict=True))
    return answers


def _said_of(url: str, answer: Pages) -> list[str]:
    """Give the warnings about a page: those that name it, and those that name no page."""
    urls = [page.url for page in answer.pages]
    return [
        warning
        for warning in answer.warnings
        if url in warning or not any(each in warning for each in urls)
    ]


# --- the fallback ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Fetched:
    """What two providers fetched together.

    Attributes:
        response: The pages.
        failures: Why the first one failed, for pages that the other one had to fetch.
        since: When the oldest of those pages was fetched that were kept; None without any.
    """

    response: FetchResponse
    failures: list[str] = field(default_factory=list[str])
    since: datetime | None = None


def fetch_with_fallback(
    account: Account, fallback: Account | None, query: PageQuery, context: CallContext | None = None
) -> Flow[FetchResponse]:
    """Fetch pages, and try those that failed with another provider.

    Raises:
        WebToolsError: As `fetch`; the error is that of `account` when both fail.
    """
    found = yield from fetch_in_turn(account, fallback, query, context)
    return found.response


def fetch_in_turn(
    account: Account,
    fallback: Account | None,
    query: PageQuery,
    context: CallContext | None = None,
    deadline: float = inf,
) -> Flow[Fetched]:
    """Fetch pages as `fetch_with_fallback` does, and tell what made the fallback serve.

    Both share the time of a call, of which the first leaves some, unless the settings say how
    long it may take.

    Raises:
        WebToolsError: As `fetch`; the error is that of `account` when both fail.
    """
    if fallback is None or fallback.name == account.name:
        end = yield from _end(account, deadline)
        return (yield from _fetched(account, query, end, context))
    end, deadline = yield from _shared_time(account, deadline)
    first: Fetched | WebToolsError
    try:
        first = yield from _fetched(account, query, end, context)
    except (ProviderError, RequestError) as error:
        first = error
    if failed := _failures(first, query):
        end = yield from _end(fallback, deadline)
        with suppress(ProviderError, RequestError):
            rest = replace(query, urls=tuple(failed))
            second = yield from _fetched(fallback, rest, end, context)
            return _merged(account, first, second, failed)
    if isinstance(first, WebToolsError):
        raise first
    return first


def _end(account: Account, deadline: float = inf) -> Flow[float]:
    now: float = yield Now()
    return min(deadline, now + timeout_of(account, "fetch"))


def _shared_time(account: Account, deadline: float) -> Flow[tuple[float, float]]:
    """Give the ends for the first of two, and for both."""
    end = yield from _end(account, deadline)
    if account.timeout is not None:
        return end, deadline
    now: float = yield Now()
    return min(end, now + PATIENCE), end


def _failures(outcome: Fetched | WebToolsError, query: PageQuery) -> dict[str, str]:
    if isinstance(outcome, WebToolsError):
        return dict.fromkeys(query.urls, str(outcome))
    return {page.url: page.error for page in outcome.response.pages if page.error}


def _merged(
    account: Account,
    one: Fetched | WebToolsError,
    other: Fetched,
    failed: dict[str, str],
) -> Fetched:
    if isinstance(one, WebToolsError):
        pages = [Page(url=url, error=reason) for url, reason in failed.items()]
        one = Fetched(FetchResponse(provider=account.name, pages=pages))
    first, second = one.response, other.response
    rescued = {page.url: page for page in second.pages if not page.error}
    reasons: dict[str, list[str]] = {}
    for url in rescued:
        reasons.setdefault(failed[url], []).append(url)
    told = [
        f'"{second.provider}" fetched {", ".join(urls)}, as "{account.name}" failed: {reason}'
        for reason, urls in reasons.items()
    ]
    costs = [each.cost_usd for each in (first, second) if each.cost_usd is not None]
    response = FetchResponse(
        provider=account.name,
        pages=[rescued.get(page.url, page) for page in first.pages],
        warnings=[*first.warnings, *told, *second.warnings],
        cost_usd=sum(costs) if costs else None,
        cost_is_estimate=first.cost_is_estimate or second.cost_is_estimate,
    )
    return Fetched(response, list(reasons), _earliest((one.since, other.since)))


# --- the work ----------------------------------------------------------------------------------


def _answers(
    account: Account, query: PageQuery, deadline: float, context: CallContext | None
) -> Flow[list[Pages]]:
    services = PROVIDERS[account.type]
    done = context.parts("fetching", len(query.urls)) if context else untold
    if services.pages is not None:
        job = _job(account, query, context)
        flow = services.pages.pages(query, account, deadline, done)
        return [(yield from observed(job, flow))]
    assert services.fetch is not None  # noqa: S101  # accounts are selected by capability
    provider = services.fetch
    parts = _parts(query, provider.MAX_URLS)
    jobs = [_job(account, part, context) for part in parts]
    flows = [_fetch_part(provider, job, deadline, done) for job in jobs]
    if len(flows) == 1:
        return [(yield from flows[0])]
    outcomes: list[Pages | WebToolsError] = yield Gather(flows)
    return [
        Pages([Page(url=url, error=str(outcome)) for url in part.urls])
        if isinstance(outcome, WebToolsError)
        else outcome
        for part, outcome in zip(parts, outcomes, strict=True)
    ]


def _job(account: Account, query: PageQuery, context: CallContext | None) -> Job:
    subject = query.urls[0] if len(query.urls) == 1 else f"{query.urls[0]} and others"
    return Job(account, "fetch", "fetching", subject, query, context)


def _parts(query: PageQuery, size: int) -> list[PageQuery]:
    starts = range(0, len(query.urls), size)
    return [replace(query, urls=query.urls[start : start + size]) for start in starts]


def _fetch_part(provider: FetchProvider, job: Job, deadline: float, done: Done) -> Flow[Pages]:
    part: PageQuery = job.query
    request = provider.fetch_request(part, job.account)
    pages = yield from exchange(
        job, request, lambda r: provider.read_pages(r, part, job.account), deadline
    )
    for page in pages.pages:
        done(page.url, page.error is not None)
    return pages


def _all_failed(account: Account, pages: list[Page]) -> ProviderError:
    told = [f"{page.url}: {page.error}" for page in pages[:_MOST_TOLD]]
    more = len(pages) - len(told)
    reasons = "; ".join([*told, *([f"and {more} more"] if more else [])])
    head = "The page" if len(pages) == 1 else f"All {len(pages)} pages"
    message = f"{head} could not be fetched: {reasons}. Check the URLs or try other ones."
    return ProviderError(message, provider=account.name)
