"""One provider's part of a fetch: cached pages, and as few requests as possible for the rest."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial

from pydantic import BaseModel, TypeAdapter

from webtools._internal.pages.robots import RobotsFile
from webtools._internal.pages.sections import put_first, section_of
from webtools._internal.pages.usage import Respect
from webtools._internal.pages.validators import Validators
from webtools._internal.pipeline.api_call import ApiCall
from webtools._internal.pipeline.cost import NOTHING, total
from webtools._internal.pipeline.once import (
    Cached,
    CacheFormat,
    CacheKey,
    forget,
    once,
    read_cached,
    shared,
    store,
)
from webtools._internal.pipeline.requests import metered, request
from webtools._internal.pipeline.retries import send_with_retries
from webtools._internal.pipeline.tool_call import Call
from webtools._internal.storage.cache_entries import cache_key
from webtools._internal.text.links import without_cut_url
from webtools._version import __version__
from webtools.errors import ProviderError, RequestError, WebToolsError
from webtools.providers import PROVIDERS, Account
from webtools.providers.about import DIRECT
from webtools.providers.protocols import (
    Cost,
    ExpiredPage,
    PageCall,
    PageProvider,
    PageQuery,
    Pages,
    ReportProgress,
)
from webtools.results import Page, failed_page

_WHOLE_TEXT = 1_000_000  # characters
_LOCAL_READERS = (DIRECT, "browser")  # these apply fragments here, and never send one


class CachedPage(BaseModel):
    """A page as it is cached.

    Attributes:
        page: The page.
        warnings: The warnings about it.
        validators: How it is revalidated; None if another program read it.
        lifetime: Seconds for which it is fresh; None if the site sets no limit.
    """

    page: Page
    warnings: list[str]
    validators: Validators | None = None
    lifetime: float | None = None

    def has_content(self) -> bool:
        """Return whether the page was read now and is not empty."""
        page = self.page
        return (
            page.error is None
            and page.stale_seconds is None
            and bool(page.text or page.highlights or page.summary or page.passages)
        )


_PAGE: CacheFormat[CachedPage] = CacheFormat(
    TypeAdapter(CachedPage),
    CachedPage.has_content,
    urls=lambda cached: [cached.page.url],
    lifetime=lambda cached: cached.lifetime,
    kept_seconds=lambda cached: cached.validators.kept_seconds() if cached.validators else 0.0,
)
_ROBOTS: CacheFormat[RobotsFile] = CacheFormat(TypeAdapter(RobotsFile), lambda _: True)


@dataclass(frozen=True, slots=True)
class Part:
    """The pages that were requested from one provider.

    Attributes:
        pages: One per URL, in the order of the query.
        warnings: The warnings about them.
        cost: What they cost; None if unknown.
        is_cached: Whether all of them were cached.
        oldest: When the oldest cached page was fetched; None if none was cached.
    """

    pages: list[Page]
    warnings: list[str]
    cost: Cost | None
    is_cached: bool
    oldest: datetime | None


async def fetch_part(api_call: ApiCall) -> Part:
    """Fetch pages from one provider. A page that fails carries its `error`.

    Raises:
        WebToolsError: The provider failed or is skipped, and no page is cached.
    """
    call, account, query = api_call.call, api_call.account, api_call.query
    assert isinstance(query, PageQuery)  # noqa: S101
    urls = query.urls
    if call.as_seen and account.type not in _LOCAL_READERS:
        query = replace(query, urls=tuple(call.as_seen.get(url, url) for url in urls))
    unsupported = _unsupported(account, query)
    if unsupported:
        query = replace(query, whole=False, pages="")
    query = _query_for(account, query)
    keys = [_key_of(account, query, url, call) for url in query.urls]
    entries = zip(query.urls, await read_cached(call, keys, with_expired=True), strict=True)
    known = {url: entry for url, entry in entries if entry is not None}
    cached = {url: entry for url, entry in known.items() if entry.expired_for < 0}
    expired = {url: entry for url, entry in known.items() if url not in cached}
    missing = tuple(dict.fromkeys(url for url in query.urls if url not in cached))
    responses: list[Pages] = []
    if missing:
        try:
            responses = await _request_once(api_call, replace(query, urls=missing), expired)
        except (ProviderError, RequestError) as error:
            if not cached:
                raise
            responses = [Pages(failed_pages(missing, error), NOTHING)]
    pages_of_responses = (page for response in responses for page in response.pages)
    fetched = dict(zip(missing, pages_of_responses, strict=False))
    warnings = [warning for entry in cached.values() for warning in entry.value.warnings]
    warnings += [warning for response in responses for warning in response.warnings]
    warnings += unsupported
    pages = [cached[url].value.page if url in cached else fetched[url] for url in query.urls]
    if call.as_seen:
        renamed = zip(pages, urls, strict=True)
        pages = [page.model_copy(update={"url": url}) for page, url in renamed]
    if not PROVIDERS[account.type].about.reads_whole_pages and any("#" in url for url in urls):
        pages, missed = await call.io.call_blocking(partial(_from_sections, pages), alone=True)
        warnings += missed
    return Part(
        pages=pages,
        warnings=list(dict.fromkeys(warnings)),
        cost=total(response.cost for response in responses) if missing else NOTHING,
        is_cached=not missing,
        oldest=earliest(entry.stored_at for entry in cached.values()),
    )


def _from_sections(pages: Sequence[Page]) -> tuple[list[Page], list[str]]:
    """Put the sections that URLs name first; warn about those that the text does not have."""
    ordered, warnings = list[Page](), list[str]()
    for page in pages:
        name = section_of(page.url) if page.text else ""
        # The provider may have cut the text in a URL, which would then be in its middle.
        text = put_first(without_cut_url(page.text or ""), name) if name else None
        ordered.append(page if text is None else page.model_copy(update={"text": text}))
        if name and text is None:
            warnings.append(f"{page.url}: the text has no section of that name.")
    return ordered, warnings


def _unsupported(account: Account, query: PageQuery) -> list[str]:
    """Return warnings about what a provider that reads pages its own way cannot do."""
    if PROVIDERS[account.type].about.reads_whole_pages:
        return []
    whole = "cannot return whole pages. Their main parts are returned; provider direct can."
    pages = f'cannot choose pages of PDF files, so pages="{query.pages}" was ignored; provider '
    clauses = {whole: query.whole, f"{pages}direct can.": query.pages}
    return [f'Provider "{account.name}" {clause}' for clause, is_set in clauses.items() if is_set]


def _query_for(account: Account, query: PageQuery) -> PageQuery:
    """Request the whole text if the provider cannot choose passages."""
    if not query.question or PROVIDERS[account.type].about.chooses_passages:
        return query
    return replace(
        query, text=True, question="", passage_characters=0, text_max_characters=_WHOLE_TEXT
    )


def _key_of(account: Account, query: PageQuery, url: str, call: Call) -> CacheKey[CachedPage]:
    kinds = (query.text, query.highlights, query.summary, query.text_max_characters)
    parts: list[object] = [
        *kinds,
        query.question,
        query.passage_characters,
        query.whole,
        query.pages,
    ]
    if PROVIDERS[account.type].pages is not None:
        # A later version may read a page differently, although its site says it is unchanged.
        parts += [__version__, _respect_of(call), _reads_robots(call)]
    return CacheKey(_PAGE, cache_key("fetch", account.identity, url, *parts), url, account.name)


def failed_pages(urls: Iterable[str], error: WebToolsError) -> list[Page]:
    """Return pages that have the error of a whole request."""
    return [failed_page(url, str(error), error) for url in urls]


def earliest(times: Iterable[datetime | None]) -> datetime | None:
    """Return the earliest of some times, or None."""
    return min(filter(None, times), default=None)


# --- one request for equal calls ---------------------------------------------------------------


async def _request_once(
    api_call: ApiCall, query: PageQuery, expired: Mapping[str, Cached[CachedPage]]
) -> list[Pages]:
    """Request pages and cache them, or wait for an equal call that does."""
    call = api_call.call
    if call.cache is None:
        return await _request(api_call, query, {})
    keys = [_key_of(api_call.account, query, url, call) for url in query.urls]
    all_keys = keys[0]._replace(hash=cache_key(*(key.hash for key in keys)))
    async with shared(call, all_keys, api_call.deadline) as slot:
        if slot.cached is None:
            responses = await _request(api_call, query, expired)
            await _store(keys, responses, call)
            slot.fill(responses)
    return [
        replace(
            response,
            pages=[_copy(page) for page in response.pages],  # callers may change their lists
            cost=NOTHING if slot.result.is_free else response.cost,
        )
        for response in slot.result.value
    ]


async def _store(keys: Sequence[CacheKey[CachedPage]], responses: list[Pages], call: Call) -> None:
    """Cache the pages that may be kept, and forget the others."""
    pages = [
        _cached_page(page, response, is_shared=_is_shared(call))
        for response in responses
        for page in response.pages
    ]
    pairs = list(zip(keys, pages, strict=True))
    await store(call, [(key, page) for key, page in pairs if _may_keep(page, call)])
    await forget(call, [key for key, page in pairs if not _may_keep(page, call)])


def _cached_page(page: Page, response: Pages, *, is_shared: bool) -> CachedPage:
    validators = response.validators.get(page.url)
    return CachedPage(
        page=page,
        warnings=_warnings_about(page.url, response),
        validators=validators,
        lifetime=validators.lifetime(is_shared=is_shared) if validators else None,
    )


def _may_keep(cached: CachedPage, call: Call) -> bool:
    validators = cached.validators
    return validators is None or validators.may_be_kept(is_shared=_is_shared(call))


def _is_shared(call: Call) -> bool:
    """Return whether several users may share the cache: one on a server, not a file."""
    return bool(call.accounts.config.storage.full_url)


def _copy(page: Page) -> Page:
    passages = None if page.passages is None else [*page.passages]
    lists = {"highlights": [*page.highlights], "passages": passages}
    return page.model_copy(update={**lists, "left_out": {**page.left_out}, "usage": {**page.usage}})


def _warnings_about(url: str, response: Pages) -> list[str]:
    """Return the warnings about a page: those that name it, and those that name no page."""
    urls = [page.url for page in response.pages]
    return [
        warning
        for warning in response.warnings
        if url in warning or not any(other in warning for other in urls)
    ]


# --- the requests ------------------------------------------------------------------------------


async def _request(
    api_call: ApiCall, query: PageQuery, expired: Mapping[str, Cached[CachedPage]]
) -> list[Pages]:
    call, services = api_call.call, PROVIDERS[api_call.account.type]
    report = call.begin_stage("fetching", len(query.urls))
    if services.pages is not None:
        known = {url: _expired_page(entry, call) for url, entry in expired.items()}
        return [await _request_each(services.pages, query, api_call, report, known)]
    size = services.about.max_urls
    starts = range(0, len(query.urls), size)
    groups = [replace(query, urls=query.urls[start : start + size]) for start in starts]
    outcomes = await call.io.gather(
        [partial(_request_group, replace(api_call, query=group), report) for group in groups]
    )
    errors = [outcome for outcome in outcomes if isinstance(outcome, WebToolsError)]
    if len(errors) == len(outcomes):
        raise errors[0]
    return [
        Pages(failed_pages(group.urls, outcome)) if isinstance(outcome, WebToolsError) else outcome
        for group, outcome in zip(groups, outcomes, strict=True)
    ]


async def _request_group(api_call: ApiCall, report: ReportProgress) -> Pages:
    """Request a group of pages with one request."""
    pages: Pages = (await request(api_call)).value
    for page in pages.pages:
        has_failed = page.error is not None
        report(page.url, has_failed)
    return pages


def _expired_page(entry: Cached[CachedPage], call: Call) -> ExpiredPage:
    value, stored_at = entry.value, entry.stored_at
    validators = value.validators or Validators(url=value.page.url)
    allowed = validators.stale_if_error(is_shared=_is_shared(call))
    return ExpiredPage(
        page=value.page,
        warnings=value.warnings,
        validators=validators,
        age=round(time.time() - stored_at.timestamp()) if stored_at else 0,
        may_replace_error=entry.expired_for <= allowed,
    )


async def _request_each(
    provider: PageProvider,
    query: PageQuery,
    api_call: ApiCall,
    report: ReportProgress,
    expired: Mapping[str, ExpiredPage],
) -> Pages:
    """Let a provider that reads pages itself fetch them one by one, until the turn ends."""
    api_call = replace(api_call, query=query)
    async with metered(api_call):
        page_io = replace(page_call(api_call, report), expired=expired)
        api_call.result = pages = await provider.pages(query, api_call.account, page_io)
    return pages


def page_call(api_call: ApiCall, report: ReportProgress) -> PageCall:
    """Return the I/O of a call that requests pages from their sites."""
    call = api_call.call
    # A copy, so that requests to sites do not count as requests to the provider: a site that does
    # not respond must not open its circuit breaker.
    of_sites = replace(api_call, is_free=True)
    return PageCall(
        io=call.io,
        send=partial(send_with_retries, api_call=of_sites),
        timeout=api_call.timeout,
        deadline=api_call.deadline,
        report_progress=report,
        robots=partial(_robots_file, api_call) if _reads_robots(call) else None,
        respect=_respect_of(call),
        redact=call.accounts.redactor.text,
    )


def _respect_of(call: Call) -> Respect:
    """Return the setting `fetch.respect`. Its default depends on whether robots.txt is obeyed."""
    return call.accounts.config.fetch.respect or ("obey" if call.options.robots else "warn")


def _reads_robots(call: Call) -> bool:
    return call.options.robots or _respect_of(call) == "obey"


async def _robots_file(
    api_call: ApiCall, url: str, fetch: Callable[[], Awaitable[RobotsFile]]
) -> RobotsFile:
    """Return a robots.txt. It is read from the cache even if pages are refreshed."""
    call, account = api_call.call, api_call.account
    cached_call = replace(call, options=replace(call.options, cache="use"))
    key = CacheKey(_ROBOTS, cache_key("robots", account.identity, url), url, account.name)
    async with once(cached_call, key, api_call.deadline) as slot:
        if slot.cached is None:
            slot.fill(await fetch())
    return slot.result.value
