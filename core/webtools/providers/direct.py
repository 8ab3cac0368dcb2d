"""Direct: pages fetched from their own sites, without an API or a key.

What may be fetched is decided by `pages.ssrf`; how it goes is in `pages.fetching`.
"""

from __future__ import annotations

from functools import partial
from http import HTTPStatus
from importlib.util import find_spec
from typing import TYPE_CHECKING

from pydantic import Field, field_validator

from webtools._internal.http.messages import Response
from webtools._internal.pages import INSTALL
from webtools._internal.pages.fetching import Terms, fetch_content, host_of, of_each
from webtools._internal.pages.ssrf import Policy, sites
from webtools.errors import ConfigError, Fault, InputError, ProviderError, WebToolsError
from webtools.providers.about import DIRECT, About, Account, Capability, Options
from webtools.providers.error_tables import kind_of, retry_after
from webtools.providers.fetched import missing_parts, with_parts
from webtools.providers.parsing import free
from webtools.providers.protocols import PageCall, PageQuery, Pages
from webtools.results import Page, failed_page

if TYPE_CHECKING:
    from webtools._internal.pages.content import Content
    from webtools._internal.pages.fetching import Terms

_LIBRARIES = ("trafilatura", "pypdf")
_INSTALLED: set[str] = set()  # those of them that were found
_REMEDIES = {
    401: "the page needs a log-in; use another source",
    402: "the page is for paying readers; use another source",
    403: "the site refuses this program; use another source",
    404: "there is no such page; check the URL or search for it",
    410: "the page is gone; search for another one",
    429: "the site gets too many requests; try again later",
    451: "the page is withheld for legal reasons; use another source",
}
_FAULTS = {404: Fault.GONE | Fault.ADVISED, 410: Fault.GONE, 429: Fault.ADVISED}

_Found = tuple[Page, list[str]]  # a page, and what else the caller should know


class DirectOptions(Options):
    """Options of a direct entry.

    Attributes:
        default_fetch_text_max_characters: Bound on a page's text where the call sets none.
        allow_private_hosts: Sites that may have private addresses, each exactly `host` (for the
            ports 80 and 443) or `host:port`; everything private is refused otherwise.
        allow_fake_ips: Take 198.18.0.0/15 for public: some proxies give out fake addresses there.
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
    origin="",  # there is no API: every page has its own
    needs_key=False,
    options=DirectOptions,
)
fetch_price = free  # their own sites ask for nothing
# Serves where no other can fetch.
IMPLICIT = Account(DIRECT, DIRECT, ABOUT.origin, None, DirectOptions())


def missing_libraries() -> ConfigError | None:
    """Make the error for the extra that is not installed; None when it is."""
    missing = [name for name in _LIBRARIES if not _is_installed(name)]
    if not missing:
        return None
    return ConfigError(f"Reading pages needs {' and '.join(missing)}: {INSTALL}")


def _is_installed(name: str) -> bool:
    """Return whether a library is there; looking for it takes as long as a cached answer."""
    if name not in _INSTALLED and find_spec(name) is not None:
        _INSTALLED.add(name)
    return name in _INSTALLED


async def pages(query: PageQuery, account: Account, call: PageCall) -> Pages:
    """Fetch the pages of a query, one request each and some at the same time.

    Raises:
        ConfigError: The extra `fetch` is not installed.
    """
    error = await call.io.call_blocking(missing_libraries)
    if error is not None:
        raise error
    terms = Terms(
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
    )
    fetch = partial(_fetch, terms=terms, query=query, account=account, call=call)
    found = await of_each(call.io, query.urls, fetch)
    warnings = [warning for _, told in found for warning in told]
    return Pages([page for page, _ in found], warnings=[*_general(query, account), *warnings])


def _policy_of(account: Account) -> Policy:
    options: DirectOptions = account.options
    named = [site for entry in options.allow_private_hosts for site in sites(entry)]
    return Policy(frozenset(named), options.allow_fake_ips)


async def _fetch(
    url: str, terms: Terms, query: PageQuery, account: Account, call: PageCall
) -> _Found:
    """Fetch one page; its failure is part of the result, so that it loses no other page."""
    try:
        content, target = await fetch_content(url, terms)
        page, warnings = _presented(url, content, query, account)
        if host_of(url).removeprefix("www.") != target.host.removeprefix("www."):
            warnings = [f"{url} was redirected to {target.url}.", *warnings]
    except WebToolsError as error:
        page, warnings = failed_page(url, str(error).rstrip("."), error.fault), []
    call.done(url, page.error is not None)
    return page, warnings


def _presented(url: str, content: Content, query: PageQuery, account: Account) -> _Found:
    whole = Page(
        url=url,
        title=content.title,
        text=content.text,
        published_at=content.published_at,
        author=content.author,
    )
    most = query.text_max_characters or account.options.default_fetch_text_max_characters
    page, warnings = with_parts(whole, query, most)
    return page, [*(f"{url}: {warning}." for warning in content.warnings), *warnings]


def _general(query: PageQuery, account: Account) -> list[str]:
    said = missing_parts(query, account.name)
    if proxy := next(filter(None, map(account.proxy_for, query.urls)), None):
        whose = f"that {proxy.source} names" if proxy.source else f'of provider "{account.name}"'
        said.append(
            f"The proxy {whose} looks the hosts up, so only their names and literal "
            "addresses could be checked for private networks."
        )
    return said


def read_error(
    response: Response, account: Account, _capability: Capability
) -> ProviderError | None:
    """Describe what a site's status means and what to do."""
    status = response.status
    if status < HTTPStatus.BAD_REQUEST:
        return None
    try:
        phrase = f" {HTTPStatus(status).phrase}"
    except ValueError:
        phrase = ""
    remedy, fault = "check the URL or use another source", Fault.NONE
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        remedy = "the site is in trouble; try again later or use another source"
        fault = Fault.ADVISED
    return kind_of(status)(
        f"HTTP {status}{phrase}: {_REMEDIES.get(status, remedy)}",
        provider=account.name,
        status=status,
        retry_after=retry_after(response),
        fault=_FAULTS.get(status, fault),
    )
