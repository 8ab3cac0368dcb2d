"""What a session has done: its sources with their numbers, queries, calls, cost and refusals."""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from webtools._internal.pipeline.tape_lines import NativeRecord
from webtools._internal.session.spelled_urls import is_spelled, words_of
from webtools._internal.storage.budget import micro_usd_of
from webtools._internal.text.links import key_of, urls_in
from webtools._internal.text.narrowing import is_array
from webtools._internal.text.redaction import MARK
from webtools._internal.text.web_urls import is_library_page
from webtools.choices import Origin
from webtools.page_urls import page_key
from webtools.results import (
    FetchResponse,
    Page,
    SearchResponse,
    SearchResult,
    SessionSource,
    SiteMap,
    SummaryResponse,
)
from webtools.results.research_models import ResearchEnvelope, ResearchResult
from webtools.tools import Tool

LINK = "link"  # the origin of a URL that only a page has
MAX_KEPT = 5000  # links of pages, the newest
_MAX_LINKS = 1000  # of one page


@dataclass(slots=True, eq=False)
class SeenSource:
    """See `SessionSource`."""

    url: str
    title: str
    how: Origin
    number: int = 0
    is_read: bool = False
    is_cited: bool = False


@dataclass(slots=True, eq=False)
class Use:
    """How often a tool was called, or a provider requested, and with what outcome.

    Attributes:
        count: Number of calls or requests.
        failed: How many calls failed.
        micro_usd: The known cost of the requests.
        unknown: Number of requests whose cost is unknown.
        is_estimate: Whether a part of the cost is from a price list.
    """

    count: int = 0
    failed: int = 0
    micro_usd: int = 0
    unknown: int = 0
    is_estimate: bool = False


@dataclass(slots=True, eq=False)
class Seen:
    """A URL that may be opened, as it was seen, and where: an `Origin` or `LINK`."""

    url: str
    origin: str


class History:
    """What a session has done.

    Attributes:
        seen: The URLs that may be opened, by `key_of`.
        sources: The sources, by `page_key`.
        queries: The queries and questions, in order.
        refused: The URLs that were refused, in order.
        tools: The calls of each tool.
        providers: The requests to each provider, and the searches of a model's vendor.
        notes: What the report says about the search of a model's vendor, each once.
        left_out: Length and URL of what a state must not have, because it has a key.
        loaded: The URLs of the states that were loaded, in each spelling.
        next_number: The number of the next source.

    Args:
        is_gated: Whether pages are requested as they were seen, without the caller's fragment.
    """

    def __init__(self, *, is_gated: bool = False) -> None:
        self._is_gated = is_gated
        self.seen: dict[str, Seen] = {}
        self.sources: dict[str, SeenSource] = {}
        self.queries: list[str] = []
        self.refused: list[str] = []
        self.tools: dict[str, Use] = {}
        self.providers: dict[str, Use] = {}
        self.notes: dict[str, None] = {}
        self.left_out: dict[str, None] = {}
        self.loaded: set[str] = set()
        self.next_number = 1
        # The last ones of a vendor: a result may come with a later record.
        self._native_queries: list[str] = []
        self._planned_numbers: dict[str, int] = {}  # by `page_key`
        self._numbered: set[int] = set()
        self._spellings: dict[str, str] = {}  # the key of each spelling that was seen
        self._links: deque[str] = deque()  # keys, the oldest first

    def see(self, url: str, origin: str) -> bool:
        """Let a URL be opened, and return whether it can be requested at all.

        A URL of which a key was redacted is not that of a page any more.
        """
        key = self._spellings.get(url) or key_of(url)
        if key is None or MARK in url:
            return False
        seen = self.seen.get(key)
        if seen is not None and origin == LINK:
            return True  # a page cannot change how a URL is written that was seen elsewhere
        self._spellings[url] = key
        if seen is None:
            self.seen[key] = Seen(url, origin)
            if origin == LINK:
                self._links.append(key)
                if len(self._links) > MAX_KEPT:
                    self._forget_link(self._links.popleft())
        elif seen.origin == LINK and origin != "page":  # a link that was opened stays one
            self._spellings.pop(seen.url, None)  # as the page has written it
            self._spellings[url] = key
            seen.url, seen.origin = url, origin
        return True

    def _forget_link(self, key: str) -> None:
        if (seen := self.seen.get(key)) is not None and seen.origin == LINK:
            self.seen.pop(key, None)
            self._spellings.pop(seen.url, None)

    def find(self, url: str) -> Seen | None:
        """Return a URL as it was seen: in this spelling, or else in the first one. None if not."""
        key = self._spellings.get(url)
        if key is not None and (seen := self.seen.get(key)) is not None:
            return Seen(url, seen.origin)
        key = key_of(url)
        return None if key is None else self.seen.get(key)

    def add(
        self, url: str, how: Origin, title: str = "", *, is_read: bool = False, cites: bool = True
    ) -> SeenSource:
        """Add a source, or what is new of it. A source that `cites` gets a number.

        A URL that cannot be requested, such as one with a login on a tape, is not kept.
        """
        key = page_key(url)
        source = self.sources.get(key) or SeenSource(url, title, how)
        if url in self._spellings or key_of(url):
            source = self.sources.setdefault(key, source)
            if source.how == "argument" and how != "argument":
                source.url, source.how = url, how  # in place of the caller's own spelling
        source.title = source.title or title
        source.is_read |= is_read
        if cites and not source.number:
            self._give_number(source, self._planned_numbers.get(key, 0))
        return source

    def restore(self, source: SeenSource) -> None:
        """Add a source of a state with its number, or a new one if another source has it."""
        number, source.number = source.number, 0
        source = self.sources.setdefault(page_key(source.url), source)
        if number:
            self._give_number(source, number)

    def plan_numbers(self, numbers: Mapping[str, int]) -> None:
        """Give sources the numbers of a tape, by URL, once they are added."""
        self._planned_numbers |= {page_key(url): number for url, number in numbers.items()}

    def _give_number(self, source: SeenSource, wanted: int) -> None:
        with _lock:
            if source.number:
                return
            if not wanted or wanted in self._numbered:
                wanted = self.next_number
            source.number = wanted
            self._numbered.add(wanted)
            self.next_number = max(self.next_number, wanted + 1)

    def numbers_of(self, response: object) -> dict[str, int]:
        """Return the numbers of the sources of a response, by URL."""
        items = (
            *getattr(response, "results", ()),
            *getattr(response, "pages", ()),
            response,
        )
        urls = dict.fromkeys(getattr(item, "url", "") for item in items)
        sources = {url: self.sources.get(page_key(url)) for url in urls if url}
        return {url: source.number for url, source in sources.items() if source and source.number}

    def number_of(self, url: str) -> int:
        """Return the number of a source; a new one if it has none."""
        return self._use(url).number

    def _use(self, url: str) -> SeenSource:
        """Add a source, in the spelling in which it was seen."""
        return self.add(*self._as_seen(url))

    def listed(self) -> list[SessionSource]:
        """Return the sources in the order of their numbers, then those without a number."""
        sources = sorted([*self.sources.values()], key=lambda each: each.number or 10**9)
        return [
            SessionSource(
                number=each.number,
                url=each.url,
                title=each.title,
                how=each.how,
                is_read=each.is_read,
                is_cited=each.is_cited,
            )
            for each in sources
        ]

    # --- what a call does and returns ----------------------------------------------------------

    def begin(self, tool: Tool, queries: Iterable[str]) -> None:
        """Count a call, and note its queries."""
        with _lock:
            self.tools.setdefault(tool.name, Use()).count += 1
            self.queries += queries

    def fail(self, tool: Tool) -> None:
        """Note that a call failed."""
        with _lock:
            self.tools.setdefault(tool.name, Use()).failed += 1

    def charge(
        self,
        charges: Iterable[tuple[str, float | None]],
        count: int = 1,
        *,
        is_estimate: bool = False,
    ) -> None:
        """Add requests, each to a provider and with its cost, None for an unknown one."""
        with _lock:
            for name, usd in charges:
                use = self.providers.setdefault(name, Use())
                use.count += count
                use.unknown += usd is None
                use.micro_usd += micro_usd_of(usd or 0.0)
                use.is_estimate |= is_estimate and usd is not None

    def add_native(self, native: NativeRecord) -> None:
        """Add searches that the vendor of a model has made."""
        self.queries += native.queries
        self.refused += native.refused
        self.notes |= dict.fromkeys(native.notes)
        unlisted = set(native.unlisted)
        words = words_of([*self._native_queries, *native.queries])
        self._native_queries = native.queries or self._native_queries
        for url, title in native.sources:
            if not key_of(url):
                continue
            if url not in unlisted and not is_spelled(url, words):
                self.see(url, "native")
            source = self.add(url, "native", title)
            source.is_cited |= url in native.citations
        if native.searches or native.cost_usd:
            charges = [(native.vendor, native.cost_usd)]
            self.charge(charges, native.searches, is_estimate=native.is_estimate)

    def record(self, response: object, question: str | None = None) -> None:
        """Add what the response of a call shows. Failed pages add nothing.

        Args:
            response: The response.
            question: The question of a fetch, for which passages were chosen.
        """
        match response:
            case SearchResponse():
                words = words_of(response.queries)
                for result in response.results:
                    self._find(result, words)
                    if result.content is not None:
                        self._read(result.content, result.title, words)
            case FetchResponse():
                words = words_of([question or ""])
                for page in response.pages:
                    self._read(page, page.title or "", words)
            case SummaryResponse():
                self._use(response.url).is_read = True
            case SiteMap():
                self._use(response.url)
                self._see_links(response.url, (entry.url for entry in response.entries))
            case ResearchEnvelope():
                self._record_research(response)
            case _:
                pass

    def _record_research(self, envelope: ResearchEnvelope) -> None:
        shown = {passage.url for passage in envelope.passages}
        read = {result.url for result in envelope.results if result.url_final}
        words = words_of([envelope.meta.query])
        for result in envelope.results:
            source = self._find(result, words)
            if result.url in shown or result.url_final:
                source.is_read = True
                self._see_final(result.url, result.url_final)
        for passage in envelope.passages:
            if passage.url in read:  # others are from excerpts, which the question has chosen
                self._see_links(passage.url, urls_in(passage.text, may_be_cut=True), words)

    def _find(self, result: SearchResult | ResearchResult, words: Sequence[str]) -> SeenSource:
        """Add a result. A URL that a query has in it opens only as it was seen before."""
        url = result.url
        if is_library_page(url) or is_spelled(url, words):
            return self.add(*self._as_seen(url), result.title)
        self.see(url, "search")
        _, how = self._as_seen(url)
        return self.add(url, how, result.title)

    def _read(self, page: Page, title: str, words: Sequence[str]) -> None:
        if page.error is not None:
            return
        self.add(*self._as_seen(page.url), title, is_read=True)
        self._see_final(page.url, page.url_final)
        for text in (page.text, *(each.text for each in page.passages or ())):
            self._see_links(page.url, urls_in(text or "", may_be_cut=True), words)

    def _see_final(self, url: str, final: str | None) -> None:
        """Let the target of a redirect be opened, if the URL was seen.

        The target of another one, which is the caller's own, may repeat any part of it.
        """
        seen = self.find(url)
        if final and seen is not None:
            self.see(final, LINK if seen.origin == LINK else "page")

    def _see_links(self, url: str, links: Iterable[str], words: Sequence[str] = ()) -> None:
        """Let the links of a page be opened, if the page itself was seen and no query has them.

        A page that was requested as the caller spelled it may repeat that in its links.
        """
        seen = self.find(url)
        if seen is not None and (self._is_gated or seen.url == url):
            for link in islice(links, _MAX_LINKS):
                if not is_spelled(link, words):
                    self.see(link, LINK)

    def _as_seen(self, url: str) -> tuple[str, Origin]:
        """Return a URL as it was seen, and how: by one look, as another thread may see it now."""
        seen = self.find(url)
        if seen is None:
            return url, "argument"
        return seen.url, "page" if seen.origin == LINK else seen.origin  # type: ignore[return-value]


def queries_of(arguments: Mapping[str, Any]) -> list[str]:
    """Return the queries and the question among the arguments of a call."""
    queries = None if arguments.get("similar") else arguments.get("queries")
    texts = [*queries] if is_array(queries) else [queries]  # of a tape, any value
    texts += arguments.get("query"), arguments.get("question")
    return [text for text in texts if text and isinstance(text, str)]


_lock = threading.Lock()  # held while a number is given


def _after_fork_in_child() -> None:
    global _lock  # noqa: PLW0603  # another thread of the parent may have held it
    _lock = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork_in_child)
