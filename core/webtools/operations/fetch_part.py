"""Pages from one provider: those in the cache, and the rest in as few requests as it takes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from math import inf

from pydantic import BaseModel, TypeAdapter

from webtools.errors import ProviderError, RequestError, WebToolsError
from webtools.flows.drivers import Flow, Gather
from webtools.operations.failover import Leave
from webtools.pages.robots import RobotsFile
from webtools.pipeline.accounting import Job, observed
from webtools.pipeline.caching import (
    Kind,
    Result,
    Work,
    cache_all,
    done_once,
    in_common,
    read_cached,
)
from webtools.pipeline.context import CallContext
from webtools.pipeline.cost import NOTHING, total
from webtools.pipeline.retries import exchange, send_with_retries
from webtools.providers import PROVIDERS, Account
from webtools.providers.protocols import (
    Cost,
    Done,
    FetchProvider,
    PageCall,
    PageQuery,
    Pages,
)
from webtools.results import Page, failed_page
from webtools.storage.cache import cache_key
from webtools.text.record import record

_WHOLE_TEXT = 1_000_000  # characters


class CachedPage(BaseModel):
    """A page as it is cached: with what there was to say of it."""

    page: Page
    warnings: list[str]

    def is_whole(self) -> bool:
        """Return whether it is a page with anything on it."""
        page = self.page
        return page.error is None and bool(
            page.text or page.highlights or page.summary or page.passages
        )

    def own(self) -> CachedPage:
        """Return the same with lists of its own."""
        return CachedPage.model_construct(page=_own(self.page), warnings=[*self.warnings])


_ROBOTS: Kind[RobotsFile] = Kind(TypeAdapter(RobotsFile), lambda _: True, own=lambda file: file)


def _own(page: Page) -> Page:
    passages = None if page.passages is None else [*page.passages]
    return page.model_copy(update={"highlights": [*page.highlights], "passages": passages})


PAGE: Kind[CachedPage] = Kind(
    TypeAdapter(CachedPage),
    CachedPage.is_whole,
    urls=lambda cached: [cached.page.url],
    own=CachedPage.own,
)


@record
class Part:
    """What one provider brought of the pages that it was asked for.

    Attributes:
        pages: One per URL, in the order asked.
        warnings: What there is to say of them.
        cost: What was spent; None when unknown.
        is_cached: Whether all of them were cached by earlier calls.
        since: When the oldest of those was fetched that were cached; None without any.
    """

    pages: list[Page]
    warnings: list[str]
    cost: Cost | None
    is_cached: bool
    since: datetime | None


def fetch_part(
    account: Account,
    query: PageQuery,
    deadline: float,
    context: CallContext,
    leave: Leave,
) -> Flow[Part]:
    """Fetch pages; what fails is a page with its reason.

    Raises:
        WebToolsError: The provider failed, or `leave` was not given for it, and no page is cached.
    """
    query = _as_asked(account, query)
    cached = yield from _cached_pages(account, query, context)
    missing = tuple(url for url in query.urls if url not in cached)
    answers: list[Pages] = []
    if missing:
        rest = query if not cached else replace(query, urls=missing)
        try:
            if leave is not None:
                yield from leave()
            answers = yield from _shared_answers(account, rest, deadline, context)
        except (ProviderError, RequestError) as error:
            if not cached:
                raise
            answers = [Pages(_failed(missing, error), NOTHING)]
    fetched = (page for answer in answers for page in answer.pages)
    pages = [cached[url].value.page if url in cached else next(fetched) for url in query.urls]
    said = [each.value.warnings for each in cached.values()]
    said += [answer.warnings for answer in answers]
    return Part(
        pages=pages,
        warnings=list(dict.fromkeys(warning for each in said for warning in each)),
        cost=total(answer.cost for answer in answers) if missing else NOTHING,
        is_cached=not missing,
        since=earliest(each.at for each in cached.values()),
    )


def _failed(urls: Iterable[str], error: WebToolsError) -> list[Page]:
    return [failed_page(url, str(error), error.fault) for url in urls]


def _as_asked(account: Account, query: PageQuery) -> PageQuery:
    """Return the query as its provider is asked: the whole text where we choose the passages."""
    if not query.question or PROVIDERS[account.type].about.chooses_passages:
        return query
    return replace(
        query, text=True, question="", passage_characters=0, text_max_characters=_WHOLE_TEXT
    )


def earliest(times: Iterable[datetime | None]) -> datetime | None:
    """Return the first of some moments, if there is any."""
    return min(filter(None, times), default=None)


# --- what is cached ----------------------------------------------------------------------------


def _cached_pages(
    account: Account, query: PageQuery, context: CallContext
) -> Flow[dict[str, Result[CachedPage]]]:
    if context.cache is None:
        return {}
    works = [_work(account, query, url) for url in query.urls]
    found = yield from read_cached(context, works)
    return {
        url: cached for url, cached in zip(query.urls, found, strict=True) if cached is not None
    }


def _work(account: Account, query: PageQuery, url: str) -> Work[CachedPage]:
    kinds = (query.text, query.highlights, query.summary, query.text_max_characters)
    parts = (*kinds, query.question, query.passage_characters)
    return Work(PAGE, cache_key("fetch", account.identity, url, *parts), url, account.name)


def _shared_answers(
    account: Account, query: PageQuery, deadline: float, context: CallContext
) -> Flow[list[Pages]]:
    if context.cache is None:
        return (yield from _answers(account, query, deadline, context))
    works = [_work(account, query, url) for url in query.urls]
    flight = replace(works[0], key=cache_key(*(work.key for work in works)))

    def fetch() -> Flow[list[Pages]]:
        answers = yield from _answers(account, query, deadline, context)
        yield from _cache_pages(context, works, answers)
        return answers

    answers, by_other = yield from in_common(context, flight, fetch, deadline)
    return [
        replace(
            answer,
            pages=[_own(page) for page in answer.pages],  # each caller's lists are its own
            cost=NOTHING if by_other else answer.cost,
        )
        for answer in answers
    ]


def _cache_pages(
    context: CallContext, works: list[Work[CachedPage]], answers: list[Pages]
) -> Flow[None]:
    pages = [
        CachedPage(page=page, warnings=_said_of(page.url, answer))
        for answer in answers
        for page in answer.pages
    ]
    yield from cache_all(context, zip(works, pages, strict=True))


def _said_of(url: str, answer: Pages) -> list[str]:
    """Return the warnings about a page: those that name it, and those that name no page."""
    urls = [page.url for page in answer.pages]
    return [
        warning
        for warning in answer.warnings
        if url in warning or not any(each in warning for each in urls)
    ]


# --- the work ----------------------------------------------------------------------------------


def _answers(
    account: Account, query: PageQuery, deadline: float, context: CallContext
) -> Flow[list[Pages]]:
    services = PROVIDERS[account.type]
    done = context.parts("fetching", len(query.urls))
    if services.pages is not None:
        job = _job(account, query, context)
        sender = partial(send_with_retries, job=replace(job), deadline=deadline)
        cached = partial(_cached_robots, account, context, deadline)
        robots = cached if context.options.robots else None
        call = PageCall(sender, job.timeout, deadline, done, robots)
        return [(yield from observed(job, services.pages.pages(query, account, call)))]
    assert services.fetch is not None  # noqa: S101  # accounts are selected by capability
    provider = services.fetch
    parts = _parts(query, services.about.max_urls)
    jobs = [_job(account, part, context, deadline) for part in parts]
    flows = [_fetch_part(provider, job, done) for job in jobs]
    if len(flows) == 1:
        return [(yield from flows[0])]
    outcomes: list[Pages | WebToolsError] = yield Gather(flows)
    if failed := _all_failed(outcomes):
        raise failed
    return [
        Pages(_failed(part.urls, outcome)) if isinstance(outcome, WebToolsError) else outcome
        for part, outcome in zip(parts, outcomes, strict=True)
    ]


def _all_failed(outcomes: Sequence[Pages | WebToolsError]) -> WebToolsError | None:
    """Return the first error where there is nothing else: then it is the provider that failed."""
    errors = [each for each in outcomes if isinstance(each, WebToolsError)]
    return errors[0] if len(errors) == len(outcomes) else None


def _cached_robots(
    account: Account,
    context: CallContext,
    deadline: float,
    url: str,
    fetch: Callable[[], Flow[RobotsFile]],
) -> Flow[RobotsFile]:
    """Return a robots.txt, from the cache also where pages are read anew."""
    reading = replace(context, options=replace(context.options, cache="use"))
    work = Work(_ROBOTS, cache_key("robots", url), url, account.name)
    return (yield from done_once(reading, work, fetch, deadline)).value


def _job(account: Account, query: PageQuery, context: CallContext, deadline: float = inf) -> Job:
    subject = query.urls[0] if len(query.urls) == 1 else f"{query.urls[0]} and others"
    return Job(account, "fetch", "fetching", subject, query, context, deadline)


def _parts(query: PageQuery, size: int) -> list[PageQuery]:
    starts = range(0, len(query.urls), size)
    return [replace(query, urls=query.urls[start : start + size]) for start in starts]


def _fetch_part(provider: FetchProvider, job: Job, done: Done) -> Flow[Pages]:
    part: PageQuery = job.query
    request = provider.fetch_request(part, job.account)
    asking = exchange(job, request, lambda r: provider.read_pages(r, part, job.account))
    pages = yield from observed(job, asking)
    for page in pages.pages:
        done(page.url, page.error is not None)
    return pages
