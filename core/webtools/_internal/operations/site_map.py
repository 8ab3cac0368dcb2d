"""List the pages of a site from its llms.txt, its sitemaps, and the links of the start page."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from typing import Literal, TypeAlias
from urllib.parse import unquote, urljoin, urlsplit

from pydantic import BaseModel, TypeAdapter

from webtools._internal.faults import Fault
from webtools._internal.grounding.ranking import Document, rank_documents
from webtools._internal.grounding.terms import lowered, stems_of
from webtools._internal.io.runtime import gather_results
from webtools._internal.operations.failover import end_of_call
from webtools._internal.operations.fetch_part import page_call
from webtools._internal.pages import missing_libraries
from webtools._internal.pages.content import Content
from webtools._internal.pages.fetching import MAX_PAGE_BYTES, FetchedPage, PageFetcher
from webtools._internal.pages.listings import LINKS, LLMS, ROBOTS, SITEMAP
from webtools._internal.pipeline.api_call import ApiCall
from webtools._internal.pipeline.once import CacheFormat, CacheKey, once
from webtools._internal.pipeline.requests import metered
from webtools._internal.pipeline.tool_call import Call
from webtools._internal.storage.cache_entries import cache_key
from webtools._internal.text.urls import PORTS, Target, parse
from webtools.errors import ProviderError, RequestError, WebToolsError
from webtools.inputs.map import DEFAULT_MAP_LIMIT, MapInput
from webtools.messages import Request, Response
from webtools.page_urls import page_key
from webtools.providers.direct import page_fetcher
from webtools.providers.protocols import PageQuery, Pages, ReportProgress
from webtools.results import Page, ProviderAttempt, SiteEntry, SiteMap

MAX_REQUESTS = 20  # of a call, redirects included
MAX_BYTES = 64 * 1024 * 1024  # of all files of a call
MAX_ENTRIES = 50_000
_MAX_CACHED = 2_000_000  # characters of the entries
_MAX_RANKED = 2000  # entries that contain a word of `find`
_SITEMAPS_AT_ONCE = 4
_MAX_REASONS = 5
_Origin: TypeAlias = Literal["llms.txt", "sitemap", "links"]
_Entry: TypeAlias = tuple[str, str, _Origin]  # URL, title, where it was found
_NOT_WORDS = re.compile(r"[\W_]+|\.(?:html?|php|aspx?|md)\b")


class Listing(BaseModel):
    """The pages of a site as they are cached, with warnings about what could not be read."""

    entries: list[_Entry]
    warnings: list[str] = []
    is_complete: bool = True

    def is_cacheable(self) -> bool:
        """Return whether every file was read, and the entries are not too long to keep."""
        size = sum(len(url) + len(title) for url, title, _ in self.entries)
        return self.is_complete and size <= _MAX_CACHED


_LISTING: CacheFormat[Listing] = CacheFormat(
    TypeAdapter(Listing),
    Listing.is_cacheable,
    urls=lambda listing: [url for url, _, _ in listing.entries],
)


async def map_site(arguments: MapInput, call: Call) -> SiteMap:
    """List the pages of a site, those that fit `find` first.

    Raises:
        InputError: The URL must not be fetched.
        WebToolsError: No page could be listed.
    """
    error = await call.io.call_blocking(missing_libraries)
    if error is not None:
        raise error
    account = call.accounts.direct
    account.domains.check(arguments.url)
    query = PageQuery((arguments.url,))
    api_call = ApiCall(call, account, query, end_of_call([account], "fetch", call))
    identity = cache_key("map", account.identity, arguments.url, call.options.robots)
    key = CacheKey(_LISTING, identity, arguments.url, account.name)
    async with once(call, key, api_call.deadline) as slot:
        if slot.cached is None:
            slot.fill(await _list_pages(api_call))
    listing = slot.result
    entries = listing.value.entries
    choose = partial(_choose, entries, arguments.find, arguments.limit or DEFAULT_MAP_LIMIT)
    chosen, warnings = await call.io.call_blocking(choose, alone=True)
    return SiteMap(
        provider=account.name,
        attempts=[ProviderAttempt(provider=account.name, served=True)],
        url=arguments.url,
        find=arguments.find,
        entries=[SiteEntry(url=url, title=title, source=origin) for url, title, origin in chosen],
        total=len(entries),
        warnings=[*listing.value.warnings, *warnings, *call.warnings()],
        cost_usd=0.0,
        cache_hit=listing.stored_at is not None,
        retrieved_at=listing.stored_at or datetime.now(UTC),
    )


async def _list_pages(api_call: ApiCall) -> Listing:
    call, url = api_call.call, api_call.subject
    report = call.begin_stage("mapping", MAX_REQUESTS)
    async with metered(api_call):
        io_of_pages = page_call(api_call, report)
        usage = _Usage(io_of_pages.send)
        # A list of pages is what a search engine shows. `fetch.respect` is about their texts.
        io_of_pages = replace(io_of_pages, send=usage.send, respect="ignore")
        fetcher = page_fetcher(api_call.account, io_of_pages)
        search = _Search(fetcher, usage, report, parse(url))
        await search.run()
        listing: Listing = await call.io.call_blocking(search.listing, alone=True)
        api_call.result = Pages([Page(url=url)])
    return listing


@dataclass(slots=True, eq=False)
class _Usage:
    """Counts the requests and bytes of a call, and refuses requests beyond the limits."""

    send_one: Callable[[Request], Awaitable[Response]]
    requests: list[str] = field(default_factory=list[str])  # lists, because threads add to them
    sizes: list[int] = field(default_factory=list[int])

    @property
    def room(self) -> int:
        """Number of bytes that are left."""
        return MAX_BYTES - sum(self.sizes)

    async def send(self, request: Request) -> Response:
        """Send a request.

        Raises:
            ProviderError: The call has sent too many.
        """
        self.requests.append(request.url)
        if len(self.requests) > MAX_REQUESTS:
            raise ProviderError(f"the map is limited to {MAX_REQUESTS} requests")
        response = await self.send_one(request)
        self.sizes.append(len(response.body))
        return response


@dataclass(frozen=True, slots=True)
class _Failed:
    """The error of a file. It is recorded in the order of the files, not of the responses."""

    error: WebToolsError


@dataclass(slots=True, eq=False)
class _Search:
    """The search for the pages of a site.

    Attributes:
        fetcher: Fetches the files, with the guard of all fetches.
        usage: The requests and bytes of the call.
        report: Reports a file.
        start: The start page; after its redirects once it was read.
        hosts: The hosts of the site, without `www.`, with their ports.
        files: What was read, by kind, with its URL.
        failures: Why files could not be read, by URL.
        absent: The files that are missing, with the reason.
        is_complete: Whether no file failed for a reason that may pass.
    """

    fetcher: PageFetcher
    usage: _Usage
    report: ReportProgress
    start: Target
    hosts: set[str] = field(default_factory=set[str])
    files: dict[str, list[tuple[str, Content]]] = field(
        default_factory=dict[str, list[tuple[str, Content]]]
    )
    failures: dict[str, str] = field(default_factory=dict[str, str])
    absent: dict[str, str] = field(default_factory=dict[str, str])
    is_complete: bool = True
    foreign: int = 0
    unread_sitemaps: int = 0

    async def run(self) -> None:
        """Read the start page, then llms.txt and robots.txt, then the sitemaps.

        Raises:
            InputError: The start page must not be fetched.
            RequestError: Its site does not respond.
        """
        self.hosts.add(_site_of(self.start.url))
        try:
            page = await replace(self.fetcher, listing=LINKS).fetch(self.start.url)
        except ProviderError as error:
            self._record_failure(self.start.url, error)
        else:
            self.start = page.target
            self.files[LINKS] = [(self.start.url, _content_of(page))]
            self.hosts.add(_site_of(self.start.url))
        self.report(self.start.url, LINKS not in self.files)
        # Only an allowed private site may lead to another one, as for redirects.
        policy = self.fetcher.policy.after(self.start)
        self.fetcher = replace(self.fetcher, policy=policy)
        wanted = [(LLMS, url) for url in _llms_urls(self.start)]
        await self._read([*wanted, (ROBOTS, urljoin(self.start.url, "/robots.txt"))])
        named = [url for _, robots in self.files.get(ROBOTS, []) for url in robots.sitemaps]
        await self._read_sitemaps([*named, urljoin(self.start.url, "/sitemap.xml")])

    async def _read_sitemaps(self, queue: list[str]) -> None:
        """Read sitemaps, and those that an index among them lists."""
        queue = list(dict.fromkeys(queue))
        seen = set(queue)
        while queue and len(self.usage.requests) < MAX_REQUESTS and self.usage.room > 0:
            if self.fetcher.io.now() >= self.fetcher.deadline:
                self.is_complete = False
                break
            wave, queue = queue[:_SITEMAPS_AT_ONCE], queue[_SITEMAPS_AT_ONCE:]
            for url, content in await self._read([(SITEMAP, url) for url in wave]):
                for nested in content.sitemaps:
                    if _site_of(nested) not in {*self.hosts, _site_of(url)}:
                        self.foreign += 1
                    elif nested not in seen:
                        seen.add(nested)
                        queue.append(nested)
        self.unread_sitemaps = len(queue)

    async def _read(self, wanted: Sequence[tuple[str, str]]) -> list[tuple[str, Content]]:
        """Read files at the same time, and return those that could be read, with their URLs."""
        size = min(MAX_PAGE_BYTES, max(1, self.usage.room // len(wanted)))
        calls = [partial(self._read_one, kind, url, size) for kind, url in wanted]
        outcomes = await gather_results(self.fetcher.io, calls, _SITEMAPS_AT_ONCE)
        files: list[tuple[str, Content]] = []
        for (kind, url), outcome in zip(wanted, outcomes, strict=True):
            if isinstance(outcome, Content):
                files.append((url, outcome))
                self.files.setdefault(kind, []).append((url, outcome))
            else:
                self._record_failure(url, outcome.error)
        return files

    async def _read_one(self, kind: str, url: str, size: int) -> Content | _Failed:
        outcome: Content | _Failed
        try:
            page = await replace(self.fetcher, listing=kind, max_bytes=size).fetch(url)
        except WebToolsError as error:
            outcome = _Failed(error)
        else:
            outcome = _content_of(page)
        self.report(url, isinstance(outcome, _Failed))
        return outcome

    def _record_failure(self, url: str, error: WebToolsError) -> None:
        reason = str(error).rstrip(".")
        if Fault.GONE in error.fault:
            self.absent[url] = reason
        else:
            self.failures[url] = reason
        if isinstance(error, RequestError) or error.retryable:
            self.is_complete = False

    # --- the result ----------------------------------------------------------------------------

    def listing(self) -> Listing:
        """Return the pages of the site, each once.

        Raises:
            ProviderError: It lists no page.
        """
        pages: dict[str, _Entry] = {}
        left_out = 0
        for url, title, origin in self._links():
            if _site_of(url) not in self.hosts:
                self.foreign += origin == "sitemap"  # pages link to other sites all the time
                continue
            key = page_key(url)
            known = pages.get(key)
            if known is None and len(pages) >= MAX_ENTRIES:
                left_out += 1
            elif known is None:
                pages[key] = url, title, origin
            elif title and not known[1]:
                pages[key] = known[0], title, known[2]
        if not pages:
            raise self._error()
        warnings = [*self._warnings()]
        if left_out:
            warnings.append(f"{left_out:,} pages beyond the first {MAX_ENTRIES:,} are left out.")
        return Listing(entries=[*pages.values()], warnings=warnings, is_complete=self.is_complete)

    def _links(self) -> Iterator[_Entry]:
        origins: tuple[_Origin, ...] = ("llms.txt", "sitemap", "links")
        for origin in origins:
            for _, content in self.files.get(origin, []):
                yield from ((url, title, origin) for url, title in content.links)

    def _warnings(self) -> Iterator[str]:
        # That a file is missing matters only if the site names it.
        named = {url for kind in (ROBOTS, SITEMAP) for url in self._sitemaps_in(kind)}
        failures = self.failures | {
            url: reason for url, reason in self.absent.items() if url in named
        }
        for url, reason in [*failures.items()][:_MAX_REASONS]:
            yield f"{url} could not be read: {reason}."
        if len(failures) > _MAX_REASONS:
            yield f"{len(failures) - _MAX_REASONS} more files could not be read."
        for files in self.files.values():
            for url, content in files:
                yield from (f"{url}: {warning}." for warning in content.warnings)
        if self.unread_sitemaps:
            yield (
                f"{self.unread_sitemaps:,} sitemaps were not read, because a map is limited to "
                f"{MAX_REQUESTS} requests, {MAX_BYTES // 2**20} MiB and the time of the call."
            )
        if self.foreign:
            yield f"{self.foreign:,} URLs of other hosts in the sitemaps were dropped."

    def _sitemaps_in(self, kind: str) -> Iterable[str]:
        return (url for _, content in self.files.get(kind, []) for url in content.sitemaps)

    def _error(self) -> ProviderError:
        reasons = [f"{url}: {reason}" for url, reason in (self.failures | self.absent).items()]
        for files in self.files.values():
            reasons += [f"{url}: it lists no page of the site" for url, _ in files]
        message = f"No page of {self.start.host} could be listed. Tried {'; '.join(reasons)}."
        return ProviderError(message, provider=self.fetcher.name)


def _content_of(page: FetchedPage) -> Content:
    assert page.content is not None  # noqa: S101  # no cached page was passed
    return page.content


def _site_of(url: str) -> str:
    """Return the host of a URL without `www.`, with its port unless it is the default one."""
    parts = urlsplit(url)
    host = (parts.hostname or "").removeprefix("www.")
    return host if parts.port in {None, *PORTS.values()} else f"{host}:{parts.port}"


def _llms_urls(start: Target) -> list[str]:
    """Return where an llms.txt may be: the folder of the page, the first folder, the root."""
    parts = [part for part in start.path.partition("?")[0].split("/") if part]
    folders = parts[:-1] if parts and "." in parts[-1] else parts
    paths = ["/".join(["", *folders[:depth], LLMS]) for depth in (len(folders), 1, 0)]
    return [urljoin(start.url, path) for path in dict.fromkeys(paths)]


# --- choosing ----------------------------------------------------------------------------------


def _choose(entries: Sequence[_Entry], find: str, limit: int) -> tuple[list[_Entry], list[str]]:
    """Return the best entries for some words, else the first ones, and warnings."""
    if not find:
        return [*entries[:limit]], []
    texts = [lowered(_words_of(url, title)) for url, title, _ in entries]
    stems = stems_of(find, texts)
    candidates = [place for place, text in enumerate(texts) if any(stem in text for stem in stems)]
    # If a word is on very many pages, only those with the most words are ranked.
    candidates.sort(key=lambda place: -sum(stem in texts[place] for stem in stems))
    documents = [
        Document(_words_of(entries[place][0], entries[place][1]), place)
        for place in candidates[:_MAX_RANKED]
    ]
    ranked = dict.fromkeys(
        match.document.number for match in rank_documents(find, documents).ranked
    )
    if not ranked:
        warning = f"No title or URL contains a word of `find`, so the first {limit} are listed."
        return [*entries[:limit]], [warning]
    return [entries[place] for place in [*ranked][:limit]], []


def _words_of(url: str, title: str) -> str:
    parts = urlsplit(url)
    return f"{title} {_NOT_WORDS.sub(' ', unquote(f'{parts.path} {parts.query}'))}".strip()
