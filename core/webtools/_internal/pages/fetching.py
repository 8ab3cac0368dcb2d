"""Fetch pages from their own sites.

Each hop of a redirect is checked like the first URL: the URL, then the addresses of its host. The
connection is made to an address that was checked; there is no second look-up that could return
another one.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from http import HTTPStatus
from itertools import chain
from typing import Any, TypeVar
from urllib.parse import urlsplit

from webtools._internal.faults import Fault, with_fault
from webtools._internal.http.proxies import Proxy, with_proxy
from webtools._internal.io.runtime import IO, gather_results
from webtools._internal.pages import robots, ssrf, twins, workers
from webtools._internal.pages.block_pages import (
    BOT_CHECK,
    SCRIPTED,
    SCRIPTED_IN_VAIN,
    is_challenge,
    names_missing_page,
)
from webtools._internal.pages.content import Content, Source
from webtools._internal.pages.processes import Alarm
from webtools._internal.pages.robots import CachedRobots, RobotsFile
from webtools._internal.pages.ssrf import Policy
from webtools._internal.pages.usage import (
    AI_INPUT_REFUSED,
    Usage,
    links_of,
    merge,
    of_headers,
    warning_of,
)
from webtools._internal.pages.validators import Validators
from webtools._internal.text.urls import Target, follow, parse
from webtools.errors import ProviderError, RequestError, RequestTimeoutError, WebToolsError
from webtools.messages import Request, Response

T = TypeVar("T")

MAX_REDIRECTS = 5
MAX_PAGE_BYTES = 16 * 1024 * 1024
HOSTS_AT_ONCE = 8
PAGES_OF_A_HOST_AT_ONCE = 4
_MAX_ADDRESSES = 4  # of a host, to connect to
_LOOK_UP_SECONDS = 2.0  # for a check of addresses that the proxy looks up again
_GRACE = 0.15  # share of the time-out that reading may add after a slow download
_LONGEST_GRACE = 2.0
_CHALLENGE_WITHIN = 100_000  # bytes
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_HEADERS = {
    "accept": "text/markdown,text/html;q=0.9,application/xhtml+xml;q=0.9,application/pdf;q=0.8,"
    "text/plain;q=0.8,application/json;q=0.7,application/xml;q=0.7,*/*;q=0.5"
}

_HTML_FIRST = {"accept": "text/html,application/xhtml+xml,*/*;q=0.8"}  # to read its links


async def fetch_all(
    io: IO, urls: Sequence[str], fetch: Callable[[str], Coroutine[Any, Any, T]]
) -> list[T]:
    """Fetch URLs concurrently, with limits on hosts and on pages of a host."""
    if len(urls) == 1:
        return [await fetch(urls[0])]
    groups: dict[str, list[str]] = {}
    for url in urls:
        groups.setdefault(host_of(url), []).append(url)

    async def fetch_host(urls: list[str]) -> list[T]:
        calls = [partial(fetch, url) for url in urls]
        return await gather_results(io, calls, PAGES_OF_A_HOST_AT_ONCE)

    hosts = [partial(fetch_host, group) for group in groups.values()]
    by_host: list[list[T]] = await gather_results(io, hosts, HOSTS_AT_ONCE)
    by_url = dict(zip(chain(*groups.values()), chain(*by_host), strict=True))
    return [by_url[url] for url in urls]


def host_of(url: str) -> str:
    """Return the host of a URL, or "" if it is malformed."""
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""


@dataclass(frozen=True, slots=True)
class FetchedPage:
    """A page that was fetched.

    Attributes:
        content: Its content; None if the cached page is unchanged.
        target: The final URL.
        validators: How it may be cached and is revalidated.
        usage: What the site allows programs to do with it.
        markdown_url: URL of the Markdown that the site offers in place of the page, if it was read.
        markdown_tokens: The site's estimate of the tokens in its Markdown.
    """

    content: Content | None
    target: Target
    validators: Validators
    usage: Usage
    markdown_url: str | None = None
    markdown_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Rendered:
    """What a browser made of a page.

    Attributes:
        response: Status and headers of the last response, with the page as it then was.
        target: The final URL.
        warnings: Clauses about what the page did not load, or what of it was not read.
    """

    response: Response
    target: Target
    warnings: list[str]


@dataclass(frozen=True, slots=True)
class _Visit:
    """A URL on the way to a page, after redirects and refreshes."""

    target: Target
    policy: Policy
    redirects: int = 0

    def to(self, location: str) -> _Visit:
        """Return the visit to the target of a redirect or a refresh.

        Raises:
            ProviderError: There were too many.
            InputError: The target must not be followed.
        """
        if self.redirects == MAX_REDIRECTS:
            message = f"the site redirects more than {MAX_REDIRECTS} times; use another source"
            raise ProviderError(message)
        policy = self.policy.after(self.target)
        return _Visit(follow(self.target, location), policy, self.redirects + 1)


@dataclass(frozen=True, slots=True)
class PageFetcher:
    """Fetches and reads the pages of a call.

    Attributes:
        name: Name of the provider, for errors.
        io: The I/O runtime of the call.
        send: Sends a request, with retries, until the deadline.
        check_site: Raises for a URL that the operator does not allow.
        choose_proxy: Returns the proxy for a URL, or None.
        find_fault: Returns the error for a response, or None.
        policy: Which private addresses are allowed.
        timeout: Seconds allowed for the whole call, for messages.
        deadline: Deadline of the call.
        whole: Return whole pages instead of their main parts.
        pages: Pages of PDF files to read; "" for all.
        robots: Returns a site's robots.txt; None to ignore robots.txt.
        obeys_usage: Whether pages that AI models should not read are refused.
        listing: The kind of file to read links from, as in `listings`; empty to read pages.
        max_bytes: Maximum size of a page.
        render: Loads a page in a browser, behind the same guard; None to read it as it is sent.
    """

    name: str
    io: IO
    send: Callable[[Request], Awaitable[Response]]
    check_site: Callable[[str], None]
    choose_proxy: Callable[[str], Proxy | None]
    find_fault: Callable[[Response], WebToolsError | None]
    policy: Policy
    timeout: float
    deadline: float
    robots: CachedRobots | None = None
    obeys_usage: bool = False
    whole: bool = False
    pages: str = ""
    listing: str = ""
    max_bytes: int = MAX_PAGE_BYTES
    render: Callable[[Target, Policy], Awaitable[Rendered]] | None = None

    async def fetch(self, url: str, known: Validators | None = None) -> FetchedPage:
        """Fetch and read a page, unless it is unchanged.

        Args:
            url: The URL.
            known: The validators of a cached page.

        Raises:
            WebToolsError: The page must not be fetched, the request failed, or it cannot be read.
        """
        visit = _Visit(parse(url), self.policy)
        while True:
            warnings: list[str] = []
            if self.render is None:
                visit, response, usage = await self._download(visit, self.robots, known)
            else:
                visit, response, usage, warnings = await self._render(visit, self.render)
            self._check_usage(usage)
            target = visit.target
            validators = Validators.of_headers(response.headers, target.url)
            if known is not None and response.status == HTTPStatus.NOT_MODIFIED:
                return FetchedPage(None, target, known.updated(validators), usage)
            content = await self._read(url, target, response)
            content = replace(content, warnings=[*content.warnings, *warnings])
            usage = merge(usage, content.usage)
            self._check_usage(usage)
            if not content.refresh:
                break
            visit = visit.to(content.refresh)
        is_twin = twins.is_markdown(response, target.url) and target.url != parse(url).url
        twin_url = target.url if is_twin else None
        tokens = twins.token_count(response)
        page = FetchedPage(content, target, validators, usage, twin_url, tokens)
        if content.twin:
            page = await self._read_twin(url, page, content)
        if page.content is not None and page.content.fault:
            raise ProviderError(page.content.fault)
        return page

    async def _read_twin(self, url: str, page: FetchedPage, content: Content) -> FetchedPage:
        """Return a page with the text of its announced Markdown, if that has more text."""
        origin = page.target
        try:
            first = _Visit(parse(content.twin), self.policy.after(origin))
            visit, response, usage = await self._download(first, self.robots)
            target = visit.target
            self._check_usage(usage)
            is_same = (target.scheme, target.site) == (origin.scheme, origin.site)
            if not is_same or not twins.is_markdown(response, target.url):
                return page
            twin = await self._read(url, target, response)
        except WebToolsError:
            return page
        is_missing = names_missing_page(twin.title or twin.text)
        if is_missing or twins.prose_length(twin.text) <= twins.prose_length(content.text):
            return page
        return FetchedPage(
            replace(
                twin,
                title=content.title or twin.title,
                author=content.author or twin.author,
                published_at=content.published_at or twin.published_at,
            ),
            page.target,
            page.validators.combined(Validators.of_headers(response.headers, target.url)),
            merge(page.usage, usage),
            target.url,
            twins.token_count(response),
        )

    # --- downloading ---------------------------------------------------------------------------

    async def _download(
        self, visit: _Visit, cached_robots: CachedRobots | None, known: Validators | None = None
    ) -> tuple[_Visit, Response, Usage]:
        while True:
            target, policy = visit.target, visit.policy
            self.check_site(target.url)
            rules: Usage = {}
            if cached_robots is not None:
                rules = await self._check_robots(target, policy, cached_robots)
            conditions = known.conditions(target.url) if known else {}
            response = await self._request(target, policy, conditions)
            if response.status == HTTPStatus.NOT_ACCEPTABLE:
                response = await self._request(target, policy, {**conditions, "accept": "*/*"})
            location = _location(response)
            if response.status not in _REDIRECTS or not location:
                if not (conditions and response.status == HTTPStatus.NOT_MODIFIED):
                    self._check_response(response)
                return visit, response, merge(rules, of_headers(response.headers, target.url))
            visit = visit.to(location)

    async def _render(
        self, visit: _Visit, render: Callable[[Target, Policy], Awaitable[Rendered]]
    ) -> tuple[_Visit, Response, Usage, list[str]]:
        """Load a page in a browser, which follows redirects itself."""
        self.check_site(visit.target.url)
        ssrf.check(visit.target, visit.policy)
        usage: Usage = {}
        if self.robots is not None:
            usage = await self._check_robots(visit.target, visit.policy, self.robots)
        workers.prepare()
        rendered = await render(visit.target, visit.policy)
        final = rendered.target
        policy = visit.policy if final.site == visit.target.site else visit.policy.after(final)
        if self.robots is not None and final.url != visit.target.url:
            usage = merge(usage, await self._check_robots(final, policy, self.robots))
        self._check_response(rendered.response)
        usage = merge(usage, of_headers(rendered.response.headers, final.url))
        visit = replace(visit, target=final, policy=policy)
        return visit, rendered.response, usage, rendered.warnings

    def _check_usage(self, usage: Usage) -> None:
        if self.obeys_usage and (refusal := warning_of(usage)):
            message = f"{refusal}, and fetch.respect obeys it; use another source"
            raise with_fault(ProviderError(message, code=AI_INPUT_REFUSED), Fault.DISALLOWED)

    async def _check_robots(self, target: Target, policy: Policy, cached: CachedRobots) -> Usage:
        """Check that the site's robots.txt allows the page, and return what else it says.

        The file may be a cached one.
        """
        address = robots.address_of(target.url)

        async def fetch_file() -> RobotsFile:
            try:
                _, response, _ = await self._download(_Visit(parse(address), policy), None)
            except (RequestError, ProviderError) as error:
                return robots.file_for(error)
            return robots.file_of(response.body)

        file = await cached(address, fetch_file)
        robots.check(target.url, file)
        if not file.text:
            return {}
        source = robots.source_of(target.url, file, max(0.0, self.deadline - self.io.now()))
        try:
            usage = (await self._read_apart(source)).usage
        except ProviderError as error:
            if Fault.DISALLOWED in error.fault:
                error.code = robots.DISALLOWED
                raise
            raise robots.unreadable(target.url, error) from None
        self._check_usage(usage)
        return usage

    async def _request(
        self, target: Target, policy: Policy, conditions: Mapping[str, str]
    ) -> Response:
        """Send one request, to an address that the policy allows."""
        ssrf.check(target, policy)
        headers = {**(_HTML_FIRST if self.listing else _HEADERS), **conditions}
        request = Request(
            "GET", target.url, headers, max_bytes=self.max_bytes, may_be_cut=not self.listing
        )
        try:
            if (proxy := self.choose_proxy(target.url)) is not None:
                if proxy.source:  # a proxy of the provider's own settings may look names up
                    await self._check_if_resolvable(target, policy)
                request = with_proxy(request, proxy)
            else:
                addresses = await self._look_up(target, self.deadline)
                checked = ssrf.check_addresses(target, addresses, policy)
                request = replace(request, addresses=checked[:_MAX_ADDRESSES])
            workers.prepare()  # the process starts during the download
            return await self.send(request)
        except RequestError as error:
            raise self._explain(error) from error.__cause__

    async def _check_if_resolvable(self, target: Target, policy: Policy) -> None:
        """Check the addresses of a host that a proxy will look up, if it can be looked up here."""
        end = min(self.deadline, self.io.now() + _LOOK_UP_SECONDS)
        try:
            addresses = await self._look_up(target, end)
        except RequestError:
            return  # behind many proxies only names of the local network can be looked up
        # The name servers of some proxies return fake addresses for every name.
        ssrf.check_addresses(target, addresses, replace(policy, fake_ips=True))

    async def _look_up(self, target: Target, deadline: float) -> tuple[str, ...]:
        if target.address is not None:
            return (target.host,)
        addresses: tuple[str, ...] = await self.io.resolve(target.host, target.port, deadline)
        if not addresses:
            raise RequestError(f'the host name "{target.host}" has no address', retryable=False)
        return addresses

    def _explain(self, error: RequestError) -> RequestError:
        cause = str(error).rstrip(".")
        if isinstance(error, RequestTimeoutError):
            cause += f" (time-out {self.timeout:g} s; change it with the provider's timeoutMs)"
        hint = "try again later" if error.retryable else "check the URL or use another source"
        failure = type(error)(f"{cause}; {hint}", provider=self.name, retryable=error.retryable)
        return with_fault(failure, Fault.ADVISED)

    def _check_response(self, response: Response) -> None:
        error = self.find_fault(response)
        # The marks of a challenge are ASCII; detecting the charset could block an event loop.
        if error is not None and is_challenge(response.body[:_CHALLENGE_WITHIN].decode("latin-1")):
            error = error.with_message(f"HTTP {response.status}: {BOT_CHECK}")
            error.fault = Fault.NONE  # the check says nothing about the page
        if error is not None:
            raise error
        if response.status >= HTTPStatus.MULTIPLE_CHOICES:
            raise ProviderError(f"HTTP {response.status}: a redirect without a target")

    # --- reading -------------------------------------------------------------------------------

    async def _read(self, url: str, target: Target, response: Response) -> Content:
        grace = min(_LONGEST_GRACE, _GRACE * self.timeout)
        source = Source(
            body=response.body,
            content_type=response.headers.get("content-type", ""),
            refresh=response.headers.get("refresh", ""),
            requested_url=url,
            url=target.url,
            seconds=max(grace, self.deadline - self.io.now()),
            whole=self.whole,
            pages=self.pages,
            listing=self.listing,
            is_start=response.is_start,
            twin=twins.announced(links_of(response.headers.get("link", "")), target.url),
        )
        try:
            return await self._read_apart(source)
        except ProviderError as error:
            if self.render is not None and str(error) == SCRIPTED:
                raise ProviderError(SCRIPTED_IN_VAIN) from None
            raise

    async def _read_apart(self, source: Source) -> Content:
        alarm = Alarm()
        try:
            content: Content = await self.io.call_blocking(
                partial(workers.read_apart, source, alarm), alone=True
            )
        finally:
            alarm.ring()  # a cancelled call must not leave a process at work
        return content


def _location(response: Response) -> str:
    location = response.headers.get("location", "").strip()
    try:
        return location.encode("latin-1").decode()  # some servers send UTF-8 as it is
    except UnicodeError:
        return location
