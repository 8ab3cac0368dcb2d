"""Direct: pages fetched from their own sites, without an API or a key.

`pages.ssrf` decides what may be fetched, and `pages.fetching` fetches it.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from http import HTTPStatus

from pydantic import Field, field_validator

from webtools._internal.faults import Fault, with_fault
from webtools._internal.io.runtime import gather_results
from webtools._internal.pages import missing_libraries
from webtools._internal.pages.fetching import FetchedPage, PageFetcher, fetch_all, host_of
from webtools._internal.pages.payment import PAYMENT_REQUIRED, describe, payment_of
from webtools._internal.pages.ssrf import Policy, sites
from webtools._internal.pages.usage import merge, warning_of
from webtools._internal.pages.validators import Validators
from webtools.errors import (
    InputError,
    ProviderError,
    RequestError,
    UnavailableError,
    WebToolsError,
)
from webtools.messages import Response
from webtools.providers.about import DIRECT, About, Account, Capability, Options
from webtools.providers.error_tables import error_class
from webtools.providers.fetched import missing_parts, text_limit, with_parts
from webtools.providers.parsing import free
from webtools.providers.protocols import PageCall, PageQuery, Pages
from webtools.providers.waiting_times import retry_after
from webtools.results import Page, failed_page

_REMEDIES = {
    401: "the page needs a log-in; use another source",
    403: "the site refuses this program; use another source",
    404: "there is no such page; check the URL or search for it",
    410: "the page is gone; search for another one",
    429: "the site received too many requests; try again later",
    451: "the page is blocked for legal reasons; use another source",
}
_FAULTS = {404: Fault.GONE, 410: Fault.GONE}

_PageWithWarnings = tuple[Page, list[str]]


class DirectOptions(Options):
    """Options of a direct entry.

    Attributes:
        default_fetch_text_max_characters: Maximum characters of a page, if the call sets none.
        allow_private_hosts: Private sites that may be read, each as `host` (ports 80 and 443) or
            `host:port`.
        allow_fake_ips: Treat 198.18.0.0/15 as public. Some proxies use it for fake addresses.
    """

    default_fetch_text_max_characters: int | None = None
    allow_private_hosts: list[str] = Field(default_factory=list[str])
    allow_fake_ips: bool = False

    @field_validator("allow_private_hosts")
    @classmethod
    def _check_sites(cls, entries: list[str]) -> list[str]:
        for entry in entries:
            try:
                sites(entry)
            except InputError as error:
                raise ValueError(str(error)) from None
        return entries


ABOUT = About(
    name=DIRECT,
    title="Direct",
    origin="",  # there is no API
    needs_key=False,
    options=DirectOptions,
    reads_whole_pages=True,
)
fetch_price = free


async def pages(query: PageQuery, account: Account, call: PageCall) -> Pages:
    """Fetch the pages concurrently, with one request each.

    Raises:
        ConfigError: The extra `fetch` is not installed.
    """
    error = await call.io.call_blocking(missing_libraries)
    if error is not None:
        raise error
    return await read_pages(query, account, call, page_fetcher(account, call))


async def read_pages(
    query: PageQuery,
    account: Account,
    call: PageCall,
    fetcher: PageFetcher,
    at_once: int = 0,
) -> Pages:
    """Read the pages with a fetcher, `at_once` at the same time if that is given."""
    fetcher = replace(fetcher, whole=query.whole, pages=query.pages)
    validators: dict[str, Validators] = {}
    fetch = partial(
        _fetch, fetcher=fetcher, query=query, account=account, call=call, validators=validators
    )
    if at_once:
        results = await gather_results(call.io, [partial(fetch, u) for u in query.urls], at_once)
    else:
        results = await fetch_all(call.io, query.urls, fetch)
    warnings = _general_warnings(query, account)
    for _, page_warnings in results:
        warnings += page_warnings
    return Pages([page for page, _ in results], warnings=warnings, validators=validators)


def page_fetcher(account: Account, call: PageCall) -> PageFetcher:
    """Return what fetches the pages of a call, with the guard of the account."""
    return PageFetcher(
        name=account.name,
        io=call.io,
        send=call.send,
        check_site=account.domains.check,
        choose_proxy=account.proxy_for,
        find_fault=lambda response: read_error(response, account, "fetch"),
        policy=_policy_of(account),
        timeout=call.timeout,
        deadline=call.deadline,
        robots=call.robots,
        obeys_usage=call.respect == "obey",
    )


def _policy_of(account: Account) -> Policy:
    options: DirectOptions = account.options
    private = [site for entry in options.allow_private_hosts for site in sites(entry)]
    return Policy(frozenset(private), options.allow_fake_ips)


async def _fetch(
    url: str,
    fetcher: PageFetcher,
    query: PageQuery,
    account: Account,
    call: PageCall,
    validators: dict[str, Validators],
) -> _PageWithWarnings:
    """Fetch one page. An error becomes the page's error, so that the other pages are kept."""
    expired = call.expired.get(url)
    try:
        fetched = await fetcher.fetch(url, expired.validators if expired else None)
        validators[url] = fetched.validators
        if fetched.content is None and expired is not None:
            usage = merge(expired.page.usage, fetched.usage)
            page = expired.page.model_copy(update={"usage": usage})
            warnings = [*expired.warnings]
        else:
            page, warnings = _read_content(url, fetched, query, account, call)
        if call.respect == "warn" and (warning := warning_of(page.usage)):
            warnings = list(dict.fromkeys([*warnings, f"{url}: {warning}."]))
    except WebToolsError as error:
        reason = str(error).rstrip(".")
        page, warnings = failed_page(url, reason, error), []
        if expired is not None and expired.may_replace_error and _is_outage(error):
            page = expired.page.model_copy(update={"stale_seconds": expired.age})
            text = (
                f"the site failed ({reason}), so the page as of {expired.age:,} s ago is returned"
            )
            warnings = [*expired.warnings, f"{url}: {text}."]
    call.report_progress(url, page.error is not None)
    return page, warnings


def _is_outage(error: WebToolsError) -> bool:
    status = error.status or 0
    return isinstance(error, RequestError) or status >= HTTPStatus.INTERNAL_SERVER_ERROR


def _read_content(
    url: str, fetched: FetchedPage, query: PageQuery, account: Account, call: PageCall
) -> _PageWithWarnings:
    content, target = fetched.content, fetched.target
    assert content is not None  # noqa: S101  # no condition was sent
    limit = text_limit(query, account)
    is_cut = query.highlights or (limit is not None and len(content.text) > limit)
    full_page = Page(
        url=url,
        title=content.title,
        text=call.redact(content.text) if is_cut else content.text,
        published_at=content.published_at,
        author=content.author,
        url_final=target.url,
        page_count=content.page_count,
        left_out=content.left_out,
        usage=fetched.usage,
        markdown_url=fetched.markdown_url,
        markdown_tokens=fetched.markdown_tokens,
    )
    page, warnings = with_parts(full_page, query, limit)
    warnings = [*(f"{url}: {warning}." for warning in content.warnings), *warnings]
    if host_of(url).removeprefix("www.") != target.host.removeprefix("www."):
        warnings = [f"{url} was redirected to {target.url}.", *warnings]
    return page, warnings


def _general_warnings(query: PageQuery, account: Account) -> list[str]:
    warnings = missing_parts(query, account.name)
    if proxy := next(filter(None, map(account.proxy_for, query.urls)), None):
        owner = f"from {proxy.source}" if proxy.source else f'of provider "{account.name}"'
        warnings.append(
            f"The proxy {owner} looks up the hosts, so only host names and literal "
            "addresses were checked for private networks."
        )
    return warnings


def read_error(
    response: Response, account: Account, _capability: Capability
) -> ProviderError | None:
    """Return the error for a site's HTTP status."""
    status = response.status
    if status < HTTPStatus.BAD_REQUEST:
        return None
    try:
        phrase = f" {HTTPStatus(status).phrase}"
    except ValueError:
        phrase = ""
    payment = payment_of(response)
    if payment is not None:
        error: ProviderError = UnavailableError(
            f"HTTP {status}{phrase}: the site asks for {describe(payment)} to read this page; use "
            "another source",
            provider=account.name,
            status=status,
            retryable=False,
            code=PAYMENT_REQUIRED,
            payment=payment,
        )
        return with_fault(error, Fault.ADVISED)
    remedy = "check the URL or use another source"
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        remedy = "the site has an error; try again later or use another source"
    error = error_class(status)(
        f"HTTP {status}{phrase}: {_REMEDIES.get(status, remedy)}",
        provider=account.name,
        status=status,
        retry_after=retry_after(response),
    )
    return with_fault(error, _FAULTS.get(status, Fault.NONE) | Fault.ADVISED)
