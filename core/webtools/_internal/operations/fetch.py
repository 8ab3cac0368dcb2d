"""Fetch pages. Every URL has a page or an error, in the order of the call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from math import inf

from webtools._internal.faults import Fault, with_fault
from webtools._internal.operations.failover import (
    FAILOVER_ERRORS,
    Failover,
    common_facts,
    end_of_call,
)
from webtools._internal.operations.fetch_part import Part, earliest, failed_pages, fetch_part
from webtools._internal.operations.passage_choice import MAX_PASSAGE_CHARACTERS, choose_passages
from webtools._internal.pages.payment import PAYMENT_REQUIRED
from webtools._internal.pipeline.tool_call import Call
from webtools._internal.text.redaction import Redactor
from webtools.errors import InputError, ProviderError, UnavailableError, WebToolsError
from webtools.inputs.tool_inputs import MAX_TEXT_CHARACTERS, FetchInput
from webtools.providers import PROVIDERS, Account
from webtools.providers.protocols import PageQuery
from webtools.results import FetchResponse, Page, failed_page, fault_of, payment_of

# Faults after which no other provider gets the URL: the page is gone, robots.txt disallows it, or
# our own policy refuses it, because it may be private.
_FINAL_FAULTS = Fault.GONE | Fault.REFUSED | Fault.DISALLOWED
# Faults whose messages have a remedy of their own.
_REMEDIED = Fault.ADVISED | Fault.REFUSED | Fault.FORBIDDEN | Fault.DISALLOWED
_CHECK_URLS = " Check the URLs or try others."
_READ_DIRECTLY = (
    ' Check the URLs, or read them from their own sites: a provider of type "direct" does, by name '
    "or as fetchFallback."
)
_MAX_REASONS_IN_MESSAGE = 10


@dataclass(frozen=True, slots=True)
class Fetched:
    """The response of a fetch, with details for research.

    Attributes:
        response: The response.
        replaced: Why a provider failed whose pages another one fetched, by its name.
        oldest: When the oldest cached page was fetched; None if none was cached.
    """

    response: FetchResponse
    replaced: dict[str, str] = field(default_factory=dict[str, str])
    oldest: datetime | None = None


async def fetch(accounts: Sequence[Account], query: PageQuery, call: Call) -> FetchResponse:
    return (await fetch_pages(accounts, query, call)).response


async def fetch_pages(
    accounts: Sequence[Account],
    query: PageQuery,
    call: Call,
    deadline: float = inf,
) -> Fetched:
    """Fetch pages. The next provider gets those that a provider could not fetch.

    The call succeeds if any page was fetched.

    Raises:
        InputError: The operator's settings forbid the hosts of all URLs.
        WebToolsError: The providers failed, or every page did.
    """
    domains = accounts[0].domains  # the same for all providers
    refused = {url: fault for url in query.urls if (fault := domains.refusal(url))}
    allowed = tuple(url for url in query.urls if url not in refused)
    if not allowed:
        raise InputError(" ".join(dict.fromkeys(refused.values())))
    deadline = min(deadline, end_of_call(accounts, "fetch", call))
    work = _Fetching(accounts, replace(query, urls=allowed), call, deadline)
    await work.run()
    return work.fetched(query.urls, refused)


@dataclass(slots=True, eq=False)
class _Fetching:
    """A fetch in progress.

    Attributes:
        pages: The pages that were fetched, by URL.
        failed: The pages that could not be fetched, with their error, by URL and provider's name.
        parts: The pages that were requested from a provider, by its name.
        failover: The providers, and the outcomes of calling them.
    """

    accounts: Sequence[Account]
    query: PageQuery
    call: Call
    deadline: float
    pages: dict[str, Page] = field(default_factory=dict[str, Page])
    failed: dict[str, dict[str, Page]] = field(default_factory=dict[str, dict[str, Page]])
    parts: dict[str, Part] = field(default_factory=dict[str, Part])
    failover: Failover = field(init=False)

    def __post_init__(self) -> None:
        self.failover = Failover(
            self.call, self.accounts, self._query_for, self.deadline, "that can fetch"
        )

    async def run(self) -> None:
        """Request the missing pages from one provider after another.

        Raises:
            WebToolsError: No page could be fetched.
        """
        for api_call in self.failover:
            account, urls = api_call.account, self._urls_for(api_call.account)
            try:
                part = await fetch_part(api_call)
            except FAILOVER_ERRORS as error:
                self._record_pages(account, failed_pages(urls, error))
                self.failover.record_failure(api_call, error)
            else:
                self.parts[account.name] = part
                self._record_pages(account, part.pages)
                self.failover.record_response(api_call, is_complete=False)
                failed = [page for page in part.pages if page.error is not None]
                if failed and len(self.accounts) > 1:
                    self.failover.degraded[account.name] = str(failed[0].error)
        if not self.pages:
            raise self._error()

    def _query_for(self, account: Account) -> PageQuery | None:
        urls = self._urls_for(account)
        return replace(self.query, urls=urls) if urls else None

    def _urls_for(self, account: Account) -> tuple[str, ...]:
        """List the URLs to request from a provider.

        A page that is gone is requested only from the provider that `fetchFallback` names.
        """
        is_fallback = any(other.fetch_fallback == account.name for other in self.accounts)
        final = Fault.FORBIDDEN | (Fault.DISALLOWED if is_fallback else _FINAL_FAULTS)
        if account.domains:  # a refused URL may lead to a host that the settings forbid
            final |= Fault.REFUSED
        return tuple(
            url for url in self.query.urls if url not in self.pages and not self._fault(url) & final
        )

    def _record_pages(self, account: Account, pages: Sequence[Page]) -> None:
        for page in pages:
            if page.error is None:
                self.pages[page.url] = page.model_copy(update={"source_provider": account.name})
            else:
                self.failed.setdefault(page.url, {})[account.name] = page

    def _reasons(self, url: str) -> dict[str, str]:
        """Return why providers could not fetch a page, by their names."""
        return {name: str(page.error) for name, page in self.failed.get(url, {}).items()}

    def _fault(self, url: str) -> Fault:
        """Return the kinds of all failures of a page."""
        fault = Fault.NONE
        for page in self.failed.get(url, {}).values():
            fault |= fault_of(page)
        return fault

    def _cause(self, url: str) -> ProviderError:
        """Return an error with the facts of all failures of a page."""
        pages = self.failed.get(url, {}).values()
        coded = next((page for page in pages if page.error_code), None)
        code, payment = (coded.error_code, payment_of(coded)) if coded else (None, None)
        return with_fault(ProviderError("", code=code, payment=payment), self._fault(url))

    def _joined_reasons(self, url: str) -> str:
        (_, first), *others = self._reasons(url).items()
        *parts, last = [first, *(f'"{name}" failed too: {reason}' for name, reason in others)]
        return "; ".join([*(part.rstrip(".") for part in parts), last])

    def _error(self) -> WebToolsError:
        """Return the error of the provider that failed first, or the reasons of the pages."""
        first = self.accounts[0].name
        error: WebToolsError
        if not self.parts or (first not in self.parts and self.failover.first_error is not None):
            error = self.failover.all_failed()
        else:
            pages = [
                failed_page(url, self._joined_reasons(url), self._cause(url))
                for url in self.query.urls
            ]
            names = {name for failed in self.failed.values() for name in failed}
            is_by_api = all(
                PROVIDERS[account.type].pages is None
                for account in self.accounts
                if account.name in names
            )
            error = _error_of_pages(
                next(iter(self.parts)), pages, _READ_DIRECTLY if is_by_api else _CHECK_URLS
            )
        for url in self.failed:
            error.fault |= self._fault(url)
        return error

    def fetched(self, urls: Sequence[str], refused: Mapping[str, str]) -> Fetched:
        """Return the response.

        Args:
            urls: All URLs of the call.
            refused: Why the operator's settings forbid some of them.
        """
        parts = list(self.parts.values())
        oldest = earliest(part.oldest for part in parts)
        facts, unpriced = common_facts(
            self.call,
            self.accounts,
            [self.failover],
            served={page.source_provider or "" for page in self.pages.values()},
            costs=[part.cost for part in parts],
            oldest=oldest,
            is_cached=all(part.is_cached for part in parts) and self.failover.first_error is None,
        )
        warnings = [warning for part in parts for warning in part.warnings]
        response = FetchResponse(
            **facts,
            pages=[
                self.pages.get(url)
                or failed_page(url, refused.get(url) or self._joined_reasons(url), self._cause(url))
                for url in urls
            ],
            warnings=[*warnings, *self._replacement_warnings(), *unpriced],
        )
        return Fetched(response, self._replaced(), oldest)

    def _replaced(self) -> dict[str, str]:
        reasons: dict[str, str] = {}
        for url in self.pages:
            reasons = {**self._reasons(url), **reasons}
        return {name: reasons[name] for name in self.failover.degraded if name in reasons}

    def _replacement_warnings(self) -> list[str]:
        """Return warnings that name the pages that another provider fetched, and why."""
        urls: dict[tuple[str, str, str], list[str]] = {}
        for url, page in self.pages.items():
            served = page.source_provider or ""
            for name, reason in self._reasons(url).items():
                if name != served:
                    urls.setdefault((served, name, reason), []).append(url)
        return [
            f'"{served}" fetched {_counted(group)}{cause}: {reason}'
            for (served, name, reason), group in urls.items()
            for cause in ["" if name in self.failover.skipped else f', because "{name}" failed']
        ]


def _counted(urls: Sequence[str]) -> str:
    return urls[0] if len(urls) == 1 else f"{len(urls)} pages"


def _error_of_pages(name: str, pages: list[Page], remedy: str) -> ProviderError:
    listed_pages = pages[:_MAX_REASONS_IN_MESSAGE]
    groups: dict[str, list[str]] = {}
    for page in listed_pages:
        groups.setdefault(str(page.error).rstrip("."), []).append(page.url)
    reasons = "; ".join(f"{', '.join(urls)}: {reason}" for reason, urls in groups.items())
    if len(pages) == len(listed_pages) > len(groups) == 1:
        reasons = next(iter(groups))
    if len(pages) > len(listed_pages):
        reasons += f"; and {len(pages) - len(listed_pages)} more"
    head = "The page could not"
    if len(pages) > 1:
        head = f"None of the {len(pages)} pages could"
    is_advised = any(fault_of(page) & _REMEDIED for page in listed_pages)
    message = f"{head} be fetched: {reasons}.{'' if is_advised else remedy}"
    codes = {page.error_code for page in pages}
    code = codes.pop() if len(codes) == 1 else None
    kind = UnavailableError if code == PAYMENT_REQUIRED else ProviderError
    payment = payment_of(pages[0]) if code else None
    return kind(message, provider=name, code=code, payment=payment, retryable=False)


async def run_fetch(arguments: FetchInput, call: Call) -> FetchResponse:
    """Fetch pages with the arguments of the tool, and choose passages for a question."""
    chain = call.accounts.chain("fetch", arguments.provider or None)
    response = await fetch(chain, _page_query(arguments), call)
    if arguments.question:
        choose = partial(_choose_passages, response, arguments, call.accounts.redactor)
        response = await call.io.call_blocking(choose, alone=True)
    if warnings := call.warnings():
        return response.model_copy(update={"warnings": [*response.warnings, *warnings]})
    return response


def _choose_passages(
    response: FetchResponse, arguments: FetchInput, redactor: Redactor
) -> FetchResponse:
    """Choose passages of texts without keys: the second half of a key that is cut is not found."""
    pages = [
        page.model_copy(update={"text": redactor.text(page.text)}) if page.text else page
        for page in response.pages
    ]
    return choose_passages(
        response.model_copy(update={"pages": pages}),
        arguments.question,
        keep_text=arguments.text,
        max_characters=arguments.text_max_characters or None,
    )


def _page_query(arguments: FetchInput) -> PageQuery:
    """Return the query. With a question, providers that can do so choose passages."""
    has_question = bool(arguments.question)
    maximum = arguments.text_max_characters or MAX_PASSAGE_CHARACTERS
    return PageQuery(
        urls=tuple(arguments.urls),
        text=arguments.text or not (has_question or arguments.highlights or arguments.summary),
        highlights=arguments.highlights,
        summary=arguments.summary,
        text_max_characters=MAX_TEXT_CHARACTERS
        if has_question
        else arguments.text_max_characters or None,
        question=arguments.question,
        passage_characters=min(maximum, MAX_PASSAGE_CHARACTERS // len(arguments.urls))
        if has_question
        else 0,
        whole=arguments.whole,
        pages=arguments.pages,
    )
