"""Fetch as a flow: every URL has its page or its reason, in the order asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from math import inf

from webtools.errors import Fault, InputError, ProviderError, RequestError, WebToolsError
from webtools.flows.drivers import Flow, Now
from webtools.operations.failover import (
    Leave,
    Tried,
    Turns,
    asked,
    end_of_call,
    in_turn,
    skipped_turns,
    unpriced,
)
from webtools.operations.fetch_part import Part, earliest, fetch_part
from webtools.pipeline.context import CallContext
from webtools.pipeline.cost import total
from webtools.providers import Account
from webtools.providers.protocols import PageQuery
from webtools.results import FetchResponse, Page, failed_page, fault_of
from webtools.text.record import record

# What no other provider is asked for: a page that is gone or that robots.txt disallows, and what
# our own policy refuses, which may be an address that is nobody else's business.
_NOWHERE = Fault.GONE | Fault.REFUSED | Fault.DISALLOWED
_MOST_TOLD = 10  # reasons in one message
MOST_CHARACTERS = 8000  # of the passages of all pages that bear on a question


def fetch(
    account: Account,
    query: PageQuery,
    context: CallContext,
    deadline: float = inf,
) -> Flow[FetchResponse]:
    """Fetch pages; mixed outcomes succeed. Without a deadline the provider's time begins here.

    Raises:
        WebToolsError: The provider failed, or not one page could be had.
    """
    return (yield from fetch_in_turn([account], query, context, deadline)).response


# --- one provider after the other --------------------------------------------------------------


@record
class Fetched:
    """What the providers fetched together.

    Attributes:
        response: The pages.
        stood_in_for: Those for whom others fetched pages, and why.
        since: When the oldest of those pages was fetched that were cached; None without any.
    """

    response: FetchResponse
    stood_in_for: dict[str, str] = field(default_factory=dict[str, str])
    since: datetime | None = None


def fetch_in_turn(
    accounts: Sequence[Account],
    query: PageQuery,
    context: CallContext,
    deadline: float = inf,
) -> Flow[Fetched]:
    """Fetch pages, and let the next provider try those that one could not fetch.

    Raises:
        InputError: The operator's settings forbid the hosts of all URLs.
        WebToolsError: The providers failed, or not one page could be had.
    """
    domains = accounts[0].domains  # the same for all of them
    refused = {url: fault for url in query.urls if (fault := domains.fault_of(url))}
    allowed = tuple(url for url in query.urls if url not in refused)
    if not allowed:
        raise InputError(" ".join(dict.fromkeys(refused.values())))
    deadline = min(deadline, end_of_call(accounts, "fetch", (yield Now())))
    if not refused:
        return (yield from _Fetching(accounts, query, context, deadline).carry_out())
    rest = replace(query, urls=allowed)
    fetched = yield from _Fetching(accounts, rest, context, deadline).carry_out()
    return _with_refused(fetched, query.urls, refused)


def _with_refused(fetched: Fetched, urls: Sequence[str], refused: dict[str, str]) -> Fetched:
    found = iter(fetched.response.pages)
    pages = [Page(url=url, error=refused[url]) if url in refused else next(found) for url in urls]
    return replace(fetched, response=fetched.response.model_copy(update={"pages": pages}))


@dataclass(slots=True)
class _Fetching:
    """Pages on their way, from one provider or several.

    Attributes:
        pages: Those that came, by URL.
        reasons: Why a provider could not fetch a page, by URL and by the provider's name.
        faults: What kinds of fault these are, by URL.
        parts: What each provider brought.
        tried: What became of the providers.
    """

    accounts: Sequence[Account]
    query: PageQuery
    context: CallContext
    deadline: float
    pages: dict[str, Page] = field(default_factory=dict[str, Page])
    reasons: dict[str, dict[str, str]] = field(default_factory=dict[str, dict[str, str]])
    faults: dict[str, Fault] = field(default_factory=dict[str, Fault])
    parts: dict[str, Part] = field(default_factory=dict[str, Part])
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
            needs=lambda account: bool(self._missing(account)),
        )
        yield from in_turn(turns, self.tried, self._attempt, self.context)
        self._note_partial()
        if len(self.pages) < len(self.query.urls):
            yield from in_turn(
                skipped_turns(turns, self.tried), self.tried, self._attempt, self.context
            )

    def _note_partial(self) -> None:
        """Note of each provider that answered, but not for all pages, why it did not."""
        for name in self.parts:
            told = (reasons[name] for reasons in self.reasons.values() if name in reasons)
            if (reason := next(told, None)) is not None:
                self.tried.degraded[name] = reason

    def _missing(self, account: Account) -> tuple[str, ...]:
        """List the URLs to ask a provider for: what is nowhere only a named stand-in tries."""
        stands_in = any(each.fetch_fallback == account.name for each in self.accounts)
        final = Fault.FORBIDDEN if stands_in else Fault.FORBIDDEN | _NOWHERE
        if account.domains:  # where hosts are forbidden, an odd one may be one of them
            final |= Fault.REFUSED
        return tuple(
            url
            for url in self.query.urls
            if url not in self.pages and not self.faults.get(url, Fault.NONE) & final
        )

    def _attempt(self, account: Account, end: float, leave: Leave) -> Flow[bool | None]:
        """Ask one provider for what is missing; None leaves something for the next one."""
        urls = self._missing(account)
        rest = self.query if urls == self.query.urls else replace(self.query, urls=urls)
        try:
            part = yield from fetch_part(account, rest, end, self.context, leave)
        except (ProviderError, RequestError) as error:
            for url in urls:
                self._fail(url, account, str(error), error.fault)
            raise
        self.parts[account.name] = part
        for page in part.pages:
            if page.error is None:
                self.pages[page.url] = page.model_copy(update={"source_provider": account.name})
            else:
                self._fail(page.url, account, page.error, fault_of(page))
        return True if len(self.pages) == len(self.query.urls) else None

    def _fail(self, url: str, account: Account, reason: str, fault: Fault) -> None:
        self.reasons.setdefault(url, {})[account.name] = reason
        self.faults[url] = self.faults.get(url, Fault.NONE) | fault

    def _all_failed(self) -> WebToolsError:
        """Make the error: of the provider that failed first, or the reasons of the pages."""
        first = self.accounts[0].name
        if not self.parts or (first not in self.parts and self.tried.failure is not None):
            error = self.tried.error(self.context, "that can fetch")
        else:
            error = _all_failed(next(iter(self.parts)), self._failed_pages())
        for fault in self.faults.values():
            error.fault |= fault
        return error

    def _failed_pages(self) -> list[Page]:
        return [failed_page(url, self._reason(url), self.faults[url]) for url in self.query.urls]

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
        since = earliest(part.since for part in parts)
        is_cached = all(part.is_cached for part in parts) and self.tried.failure is None
        left = self._stood_in_for()
        response = FetchResponse(
            provider=next(each.provider for each in told if each.served),
            asked=told,
            pages=[
                self.pages.get(url) or Page(url=url, error=self._reason(url))
                for url in self.query.urls
            ],
            warnings=[*(w for part in parts for w in part.warnings), *self._stand_ins(), *unknown],
            cost_usd=usd,
            cost_is_estimate=bool(unknown or (cost and cost.is_estimate)),
            cache_hit=is_cached,
            retrieved_at=since or datetime.now(UTC),
        )
        return Fetched(response, left, since)

    def _stood_in_for(self) -> dict[str, str]:
        left: dict[str, str] = {}
        for url in self.pages:
            left = {**self.reasons.get(url, {}), **left}
        names = [name for name in self.tried.degraded if name in left or name in self.tried.skipped]
        return {name: left.get(name) or self.tried.degraded[name] for name in names}

    def _stand_ins(self) -> list[str]:
        """Name which pages another provider fetched, and why."""
        urls: dict[tuple[str, str, str], list[str]] = {}
        for url, page in self.pages.items():
            skipped = {name: self.tried.degraded[name] for name in self._skipped_before(page)}
            for name, reason in {**skipped, **self.reasons.get(url, {})}.items():
                if name != page.source_provider:
                    urls.setdefault((page.source_provider or "", name, reason), []).append(url)
        return [
            f'"{served}" fetched {", ".join(each)}, as "{name}" failed: {reason}'
            for (served, name, reason), each in urls.items()
        ]

    def _skipped_before(self, page: Page) -> list[str]:
        """List who is skipped and stands before the provider that fetched a page."""
        names = [account.name for account in self.accounts]
        before = names[: names.index(page.source_provider or "")]
        return [name for name in before if name in self.tried.skipped]


def _all_failed(name: str, pages: list[Page]) -> ProviderError:
    shown = pages[:_MOST_TOLD]
    told = [f"{page.url}: {page.error}" for page in shown]
    more = len(pages) - len(told)
    reasons = "; ".join([*told, *([f"and {more} more"] if more else [])])
    head = "The page" if len(pages) == 1 else f"All {len(pages)} pages"
    is_advised = any(Fault.ADVISED in fault_of(page) for page in shown)
    remedy = "" if is_advised else " Check the URLs or try other ones."
    message = f"{head} could not be fetched: {reasons}.{remedy}"
    return ProviderError(message, provider=name)
