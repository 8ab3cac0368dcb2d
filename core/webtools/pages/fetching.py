"""Fetches pages from their own sites, as a flow: check, look up, check, send, follow, read.

Every hop of a redirect goes through the whole chain, and the connection is made to an address
that was checked: there is no second look-up that could give another one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from http import HTTPStatus
from urllib.parse import urlsplit

from webtools.errors import ProviderError, RequestError, RequestTimeoutError, WebToolsError
from webtools.flows.drivers import Flow, Gather, Now, Offload, Resolve
from webtools.http.messages import Request, Response
from webtools.http.proxies import through
from webtools.pages import ssrf, workers
from webtools.pages.block_pages import BOT_CHECK, is_challenge
from webtools.pages.reading import Content, Source
from webtools.pages.ssrf import Policy, Target
from webtools.pipeline.retries import Job, send_with_retries
from webtools.providers import Account
from webtools.providers.direct import missing_libraries, read_error
from webtools.providers.protocols import Done, PageQuery, Pages, untold
from webtools.results import Page

MAX_REDIRECTS = 5
MAX_PAGE_BYTES = 16 * 1024 * 1024
HOSTS_AT_ONCE = 8
PAGES_OF_A_HOST_AT_ONCE = 4
_MAX_ADDRESSES = 4  # of a host that are tried
_LOOK_UP_SECONDS = 2.0  # for a check that is worth no more where a proxy looks up again
_GRACE = 0.15  # of the time of a call: what reading has where all of it was spent on the way
_LONGEST_GRACE = 2.0
_CHALLENGE_WITHIN = 100_000  # bytes
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_HEADERS = {
    "accept": "text/html,application/xhtml+xml,application/pdf;q=0.9,text/markdown;q=0.9,"
    "text/plain;q=0.9,application/json;q=0.8,application/xml;q=0.8,*/*;q=0.5"
}
_HIGHLIGHTS = 3
_LONGEST_HIGHLIGHT = 500
_SHORTEST_HIGHLIGHT = 60
_NO_PROSE = re.compile(r"\s*(?:#|```|\||[-*+] |\d+\. |>|\[Page )")


_Found = tuple[Page, list[str]]


def fetch_pages(
    query: PageQuery, account: Account, deadline: float, done: Done = untold
) -> Flow[Pages]:
    """Fetch every URL until `deadline`; what fails is a page with its reason.

    Raises:
        ConfigError: The extra `fetch` is not installed.
    """
    error = yield Offload(missing_libraries)
    if error is not None:
        raise error
    found = yield from _each(query, account, deadline, done)
    warnings = [warning for _, told in found for warning in told]
    return Pages([page for page, _ in found], warnings=[*_general(query, account), *warnings])


def _each(query: PageQuery, account: Account, deadline: float, done: Done) -> Flow[list[_Found]]:
    """Fetch all URLs, some hosts at the same time and of each host some pages."""
    if len(query.urls) == 1:
        return [(yield from _page(query.urls[0], query, account, deadline, done))]
    groups: dict[str, list[str]] = {}
    for url in query.urls:
        groups.setdefault(_host(url), []).append(url)
    hosts = [_of_host(urls, query, account, deadline, done) for urls in groups.values()]
    answers: list[dict[str, _Found]] = yield Gather(hosts, HOSTS_AT_ONCE)
    found = {url: each for answer in answers for url, each in answer.items()}
    return [found[url] for url in query.urls]


def _host(url: str) -> str:
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""


def _of_host(
    urls: list[str], query: PageQuery, account: Account, deadline: float, done: Done
) -> Flow[dict[str, _Found]]:
    flows = [_page(url, query, account, deadline, done) for url in urls]
    outcomes: list[_Found] = yield Gather(flows, PAGES_OF_A_HOST_AT_ONCE)
    return dict(zip(urls, outcomes, strict=True))


def _page(
    url: str, query: PageQuery, account: Account, deadline: float, done: Done
) -> Flow[_Found]:
    """Fetch one page; its failure is part of the result, so that it loses no other page."""
    found = yield from _page_or_reason(url, query, account, deadline)
    done(url, found[0].error is not None)
    return found


def _page_or_reason(url: str, query: PageQuery, account: Account, deadline: float) -> Flow[_Found]:
    job = Job(account, "fetch", "fetching", url)
    try:
        visit = yield from _visit(url, job, deadline)
        content = yield from _content(url, visit, job, deadline)
    except WebToolsError as error:
        return _failed(url, error)
    page, warnings = _presented(url, content, query, account)
    return page, [*_moved(url, visit), *warnings]


def _failed(url: str, error: WebToolsError) -> _Found:
    reason = str(error).rstrip(".")
    return Page(url=url, error=reason), []


# --- getting the bytes -------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Visit:
    target: Target
    response: Response


def _visit(url: str, job: Job, deadline: float) -> Flow[_Visit]:
    policy = policy_of(job.account)
    target = ssrf.parse(url)
    for _ in range(MAX_REDIRECTS + 1):
        job.account.domains.check(target.url)
        response = yield from _ask(target, policy, job, deadline)
        location = _location(response)
        if response.status not in _REDIRECTS or not location:
            return _Visit(target, _accepted(response, job))
        policy, target = policy.after(target), ssrf.follow(target, location)
    raise ProviderError(f"the site redirects more than {MAX_REDIRECTS} times; use another source")


def _location(response: Response) -> str:
    location = response.headers.get("location", "").strip()
    try:
        return location.encode("latin-1").decode()  # some servers send UTF-8 as it is
    except UnicodeError:
        return location


def policy_of(account: Account) -> Policy:
    """Read the policy from an account's options."""
    options = account.options
    named = [site for entry in options.allow_private_hosts for site in ssrf.sites(entry)]
    return Policy(frozenset(named), options.allow_fake_ips)


def _ask(target: Target, policy: Policy, job: Job, deadline: float) -> Flow[Response]:
    """Send one request, to an address that the policy has nothing against."""
    ssrf.check(target, policy)
    request = Request("GET", target.url, _HEADERS, max_bytes=MAX_PAGE_BYTES)
    try:
        if (proxy := job.account.proxy_for(target.url)) is not None:
            if proxy.source:  # an entry's own is the operator's word that it may look names up
                yield from _check_where_known(target, policy, deadline)
            request = through(request, proxy)
        else:
            found = yield from _addresses(target, deadline)
            checked = ssrf.check_addresses(target, found, policy)
            request = replace(request, addresses=checked[:_MAX_ADDRESSES])
        workers.prepare()  # it starts while the page is on its way
        return (yield from send_with_retries(request, job, deadline))
    except RequestError as error:
        raise _explained(error, job) from error.__cause__


def _check_where_known(target: Target, policy: Policy, deadline: float) -> Flow[None]:
    """Check the addresses of a host that a proxy will look up, if this network knows them."""
    now: float = yield Now()
    try:
        found = yield from _addresses(target, min(deadline, now + _LOOK_UP_SECONDS))
    except RequestError:
        return  # behind many a proxy there are no names but those of the network itself
    # Fake addresses are what some proxies' own name servers give out for every name.
    ssrf.check_addresses(target, found, replace(policy, fake_ips=True))


def _addresses(target: Target, deadline: float) -> Flow[tuple[str, ...]]:
    if target.address is not None:
        return (target.host,)
    found: tuple[str, ...] = yield Resolve(target.host, target.port, deadline)
    if not found:
        raise RequestError(f'the host name "{target.host}" has no address', retryable=False)
    return found


def _explained(error: RequestError, job: Job) -> RequestError:
    cause = str(error).rstrip(".")
    if isinstance(error, RequestTimeoutError):
        cause += f" (allowed: {job.timeout:g} s; timeoutMs of the provider sets it)"
    hint = "try again later" if error.retryable else "check the URL or use another source"
    message = f"no answer from the site: {cause}; {hint}"
    return type(error)(message, provider=job.account.name, retryable=error.retryable)


def _accepted(response: Response, job: Job) -> Response:
    error: WebToolsError | None = read_error(response, job.account, job.capability)
    if error is not None and _is_challenge(response.body):
        error = error.with_message(f"HTTP {response.status}: {BOT_CHECK}")
    if error is not None:
        raise error
    if response.status >= HTTPStatus.MULTIPLE_CHOICES:
        raise ProviderError(f"HTTP {response.status}: a redirect that leads nowhere")
    return response


def _is_challenge(body: bytes) -> bool:
    # What marks one is ASCII; to find the charset could take longer than an event loop can wait.
    return is_challenge(body[:_CHALLENGE_WITHIN].decode("latin-1"))


# --- reading them ------------------------------------------------------------------------------


def _content(url: str, visit: _Visit, job: Job, deadline: float) -> Flow[Content]:
    now: float = yield Now()
    grace = min(_LONGEST_GRACE, _GRACE * job.timeout)
    reading = workers.Reading(
        Source(
            body=visit.response.body,
            content_type=visit.response.headers.get("content-type", ""),
            asked=url,
            url=visit.target.url,
            seconds=max(grace, deadline - now),
        )
    )
    try:
        content: Content = yield Offload(reading.content, alone=True)
    finally:
        reading.stop()  # a cancelled call leaves nothing behind that is still at work
    return content


# --- presenting them ---------------------------------------------------------------------------


def _presented(url: str, content: Content, query: PageQuery, account: Account) -> _Found:
    most = query.text_max_characters or account.options.default_fetch_text_max_characters
    wants_text = query.text or not query.highlights  # a summary cannot be had
    text = cut(content.text, most) if most else content.text
    warnings = [f"{url}: {warning}." for warning in content.warnings]
    if wants_text and len(text) < len(content.text):
        warnings.append(f"{url}: the first {len(text):,} of {len(content.text):,} characters.")
    page = Page(
        url=url,
        title=content.title,
        text=text if wants_text else None,
        highlights=lead(content.text) if query.highlights else [],
        published_at=content.published_at,
        author=content.author,
    )
    return page, warnings


def cut(text: str, most: int) -> str:
    """Cut a text to so many characters, at white space where there is some nearby."""
    if len(text) <= most:
        return text
    kept = text[:most]
    end = max(kept.rfind(" "), kept.rfind("\n"))
    return kept[:end].rstrip() if end > most * 0.8 else kept


def lead(text: str) -> list[str]:
    """Give the first paragraphs of prose: what a fetch without a query has for highlights."""
    paragraphs = [p.strip() for p in text.split("\n\n") if p.strip() and not _NO_PROSE.match(p)]
    long = [p for p in paragraphs if len(p) >= _SHORTEST_HIGHLIGHT]
    return [cut(p, _LONGEST_HIGHLIGHT) for p in (long or paragraphs)[:_HIGHLIGHTS]]


def _general(query: PageQuery, account: Account) -> list[str]:
    name = account.name
    said: list[str] = []
    if query.summary:
        instead = "" if query.text or query.highlights else " The text is given instead."
        said.append(f'Provider "{name}" cannot summarize pages.{instead}')
    if query.highlights:
        said.append(
            f'Highlights of provider "{name}" are the first paragraphs of each page, as there is '
            "no query to choose by."
        )
    if proxy := next(filter(None, map(account.proxy_for, query.urls)), None):
        whose = f"that {proxy.source} names" if proxy.source else f'of provider "{name}"'
        said.append(
            f"The proxy {whose} looks the hosts up, so only their names and literal "
            "addresses could be checked for private networks."
        )
    return said


def _moved(url: str, visit: _Visit) -> list[str]:
    before, after = _host(url).removeprefix("www."), visit.target.host.removeprefix("www.")
    return [] if before == after else [f"{url} was redirected to {visit.target.url}."]
