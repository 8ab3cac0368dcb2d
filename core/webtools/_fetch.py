"""Fetch as a flow: every URL has its page or its reason, in the order asked."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from math import inf

from pydantic import BaseModel, TypeAdapter

from webtools._context import CallContext
from webtools._cost import NOTHING, total
from webtools._exchange import exchange
from webtools._failover import (
    Leave,
    Tried,
    Turns,
    asked,
    end_of_call,
    in_turn,
    may_be_its_own,
    troubled,
    unpriced,
)
from webtools._flow import Flow, Gather
from webtools._job import Job, observed
from webtools._keeping import Kept, Kind, Work, in_common, keep_all, kept_already
from webtools.cache import cache_key
from webtools.errors import ProviderError, RequestError, WebToolsError
from webtools.providers import PROVIDERS, Account
from webtools.providers._base import Cost, Done, FetchProvider, PageQuery, Pages, untold
from webtools.results import FetchResponse, Page

# What no other provider would fetch either: a page that is gone, and what our own policy refuses,
# which may be an address that is nobody else's business.
_NOWHERE = re.compile(r"\bHTTP 4(?:04|10)\b|^refused by this package's policy").search
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
    end = inf if deadline is None else deadline
    return (yield from fetch_in_turn([account], query, context, end)).response


@dataclass(frozen=True, slots=True)
class _Part:
    """What one provider brought of the pages that it was asked for."""

    pages: list[Page]
    warnings: list[str]
    cost: Cost | None
    is_kept: bool
    since: datetime | None


def _fetched(
    account: Account,
    query: PageQuery,
    deadline: float,
    context: CallContext | None,
    leave: Leave,
) -> Flow[_Part]:
    kept = yield from _kept_pages(account, query, context)
    missing = tuple(url for url in query.urls if url not in kept)
    answers: list[Pages] = []
    if missing:
        if leave is not None:
            yield from leave()
        rest = query if not kept else replace(query, urls=missing)
        answers = yield from _shared_answers(account, rest, deadline, context)
    fetched = (page for answer in answers for page in answer.pages)
    pages = [kept[url].value.page if url in kept else next(fetched) for url in query.urls]
    said = [each.value.warnings for each in kept.values()]
    said += [answer.warnings for answer in answers]
    return _Part(
        pages=pages,
        warnings=list(dict.fromkeys(warning for each in said for warning in each)),
        cost=total(answer.cost for answer in answers) if missing else NOTHING,
        is_kept=not missing,
        since=_earliest(each.at for each in kept.values()),
    )


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


# --- one provider after the other --------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Fetched:
    """What the providers fetched together.

    Attributes:
        response: The pages.
        stood_in_for: Those for whom others fetched pages, and why.
        since: When the oldest of those pages was fetched that were kept; None without any.
    """

    response: FetchResponse
    stood_in_for: dict[str, str] = field(default_factory=dict[str, str])
    since: datetime | None = None


def fetch_in_turn(
    accounts: Sequence[Account],
    query: PageQuery,
    context: CallContext | None = None,
    deadline: float = inf,
) -> Flow[Fetched]:
    """Fetch pages, and let the next provider try those that one could not fetch.

    Raises:
        WebToolsError: The providers failed, or not one page could be had.
    """
    deadline = min(deadline, (yield from end_of_call(accounts, "fetch")))
    return (yield from _Fetching(accounts, query, context, deadline).carry_out())


@dataclass(slots=True)
class _Fetching:
    """Pages on their way, from one provider or several.

    Attributes:
        pages: Those that came, by URL.
        reasons: Why a provider could not fetch a page, by URL and by the provider's name.
        parts: What each provider brought.
        tried: What became of the providers.
    """

    accounts: Sequence[Account]
    query: PageQuery
    context: CallContext | None
    deadline: float
    pages: dict[str, Page] = field(default_factory=dict[str, Page])
    reasons: dict[str, dict[str, str]] = field(default_factory=dict[str, dict[str, str]])
    parts: dict[str, _Part] = field(default_factory=dict[str, _Part])
    tried: Tried = field(default_factory=Tried)

    def carry_out(self) -> Flow[Fetched]:
        if len(self.accounts) == 1:
            yield from self._attempt(self.accounts[0], self.deadline, None)
        else:
            yield from self._in_turn()
        if not self.pages:
            raise self._all_failed()
        return self._together()

    def _in_turn(self) -> Flow[None]:
        subject = self.query.urls[0]
        turns = Turns(
            self.accounts,
            lambda _: "fetch",
            self.deadline,
            subject,
            may_be_its_own,
            lambda account: bool(self._missing(account)),
        )
        yield from in_turn(turns, self.tried, self._attempt, self.context)
        self._note_partial()
        if len(self.pages) < len(self.query.urls):
            yield from in_turn(troubled(turns, self.tried), self.tried, self._attempt, self.context)

    def _note_partial(self) -> None:
        """Note of each provider that answered, but not for all pages, why it did not."""
        for name in self.parts:
            told = (reasons[name] for reasons in self.reasons.values() if name in reasons)
            if (reason := next(told, None)) is not None:
                self.tried.degraded[name] = reason

    def _missing(self, account: Account) -> tuple[str, ...]:
        """List the URLs to ask a provider for: what is nowhere only a named stand-in tries."""
        stands_in = any(each.fetch_fallback == account.name for each in self.accounts)
        return tuple(
            url
            for url in self.query.urls
            if url not in self.pages
            and (stands_in or not any(map(_NOWHERE, self.reasons.get(url, {}).values())))
        )

    def _attempt(self, account: Account, end: float, leave: Leave) -> Flow[bool | None]:
        """Ask one provider for what is missing; None leaves something for the next one."""
        urls = self._missing(account)
        rest = self.query if urls == self.query.urls else replace(self.query, urls=urls)
        try:
            part = yield from _fetched(account, rest, end, self.context, leave)
        except (ProviderError, RequestError) as error:
            for url in urls:
                self.reasons.setdefault(url, {})[account.name] = str(error)
            raise
        self.parts[account.name] = part
        for page in part.pages:
            if page.error is None:
                self.pages[page.url] = page.model_copy(update={"source_provider": account.name})
            else:
                self.reasons.setdefault(page.url, {})[account.name] = page.error
        return True if len(self.pages) == len(self.query.urls) else None

    def _all_failed(self) -> WebToolsError:
        """Make the error: of the provider that failed first, or the reasons of the pages."""
        first = self.accounts[0].name
        if not self.parts or (first not in self.parts and self.tried.failure is not None):
            return self.tried.error(self.context, "that can fetch")
        return _all_failed(next(iter(self.parts)), self._failed_pages())

    def _failed_pages(self) -> list[Page]:
        return [Page(url=url, error=self._reason(url)) for url in self.query.urls]

    def _reason(self, url: str) -> str:
        reasons = self.reasons[url]
        first, *others = reasons
        told = [f'"{name}" failed too: {reasons[name]}' for name in others]
        return "; ".join([reasons[first], *told])

    def _together(self) -> Fetched:
        served = {page.source_provider or "" for page in self.pages.values()}
        told = asked(self.accounts, served, [self.tried])
        parts = self.parts.values()
        cost = total(part.cost for part in parts)
        usd = cost.usd if cost else None
        unknown = unpriced(self.context, usd) if len(told) > 1 else []
        since = _earliest(part.since for part in parts)
        is_kept = all(part.is_kept for part in parts) and self.tried.failure is None
        left = self._stood_in_for()
        response = FetchResponse(
            provider=next(each.provider for each in told if each.served),
            asked=told,
            pages=[
                self.pages.get(url) or Page(url=url, error=self._reason(url))
                for url in self.query.urls
            ],
            warnings=[*(w for part in parts for w in part.warnings), *self._moved(), *unknown],
            cost_usd=usd,
            cost_is_estimate=bool(unknown or (cost and cost.is_estimate)),
            cache_hit=is_kept,
            retrieved_at=since if is_kept else None,
        )
        return Fetched(response, left, since)

    def _stood_in_for(self) -> dict[str, str]:
        left: dict[str, str] = {}
        for url in self.pages:
            left = {**self.reasons.get(url, {}), **left}
        names = [name for name in self.tried.degraded if name in left or name in self.tried.parked]
        return {name: left.get(name) or self.tried.degraded[name] for name in names}

    def _moved(self) -> list[str]:
        """Say which pages another provider fetched, and why."""
        urls: dict[tuple[str, str, str], list[str]] = {}
        for url, page in self.pages.items():
            parked = {name: self.tried.degraded[name] for name in self.tried.parked}
            for name, reason in {**parked, **self.reasons.get(url, {})}.items():
                if name != page.source_provider:
                    urls.setdefault((page.source_provider or "", name, reason), []).append(url)
        return [
            f'"{served}" fetched {", ".join(each)}, as "{name}" failed: {reason}'
            for (served, name, reason), each in urls.items()
        ]


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


def _all_failed(name: str, pages: list[Page]) -> ProviderError:
    told = [f"{page.url}: {page.error}" for page in pages[:_MOST_TOLD]]
    more = len(pages) - len(told)
    reasons = "; ".join([*told, *([f"and {more} more"] if more else [])])
    head = "The page" if len(pages) == 1 else f"All {len(pages)} pages"
    message = f"{head} could not be fetched: {reasons}. Check the URLs or try other ones."
    return ProviderError(message, provider=name)
