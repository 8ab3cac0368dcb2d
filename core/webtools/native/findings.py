"""Collects what a response says, while a reader goes through its blocks."""

from __future__ import annotations

from dataclasses import dataclass, field

from webtools._internal.text.links import key_of
from webtools.native.blocks import Block
from webtools.native.records import NativeCitation, NativeError, NativeSource


@dataclass(slots=True)
class Findings:
    """The parts of `NativeSearches`, as they are read.

    Attributes:
        results: URLs of the pages that a search has returned.
        named: Pages that were opened before a search returned them, by `key_of`.
        stated_searches: Number of searches that the vendor states, or None.
        stated_usd: Cost that the vendor states, or None.
    """

    model: str = ""
    texts: list[str] = field(default_factory=list[str])
    queries: list[str] = field(default_factory=list[str])
    sources: dict[str, NativeSource] = field(default_factory=dict[str, NativeSource])
    citations: list[NativeCitation] = field(default_factory=list[NativeCitation])
    opened: list[str] = field(default_factory=list[str])
    results: set[str] = field(default_factory=set[str])
    named: set[str] = field(default_factory=set[str])
    errors: list[NativeError] = field(default_factory=list[NativeError])
    warnings: list[str] = field(default_factory=list[str])
    counted: int = 0
    pending: int = 0
    stated_searches: int | None = None
    stated_usd: float | None = None
    cost_has_tokens: bool = False
    stop: str = ""
    display_html: str = ""
    unreadable: int = 0
    length: int = 0

    def add_text(self, text: str) -> int:
        """Add a part of the answer, and return where it starts."""
        start = self.length
        self.texts.append(text)
        self.length += len(text)
        return start

    def add_result(self, item: Block) -> None:
        """Add the page of a search result."""
        if url := self.add_source(item):
            self.add_found(url)

    def add_found(self, url: str) -> None:
        """Note that a search has returned a page, unless the model had named it before."""
        if (key_of(url) or url) not in self.named:
            self.results.add(url)

    def add_source(self, item: Block, *url_names: str) -> str:
        """Add a page that is cited or listed, and return its URL or ""."""
        url = without_tag(item.url(*(url_names or ("url",))))
        if not url:
            self.unreadable += 1
            return ""
        source = NativeSource(
            url,
            _title(item, url),
            item.line("page_age", "date", "published_date", "last_updated"),
            item.line("snippet", "content", "description"),
        )
        known = self.sources.get(url)
        self.sources[url] = _merged(known, source) if known else source
        return url

    def add_citation(
        self, item: Block, span: tuple[int | None, int | None], *url_names: str
    ) -> None:
        """Add a citation and its source. A span that is empty or outside the text is dropped."""
        if url := self.add_source(item, *url_names):
            start, end = span
            is_span = start is not None and end is not None and 0 <= start < end <= self.length
            self.citations.append(
                NativeCitation(
                    url,
                    _title(item, url),
                    start if is_span else None,
                    end if is_span else None,
                    item.line("cited_text", "quotation"),
                )
            )

    def add_opened(self, url: str) -> None:
        """Add a page that the vendor opened."""
        if url:
            self.opened.append(without_tag(url))
            self.add_named(url)

    def add_named(self, url: str) -> None:
        """Add a page that the model has named: a later result with its URL does not count."""
        url = without_tag(url)
        if url and url not in self.results:
            self.named.add(key_of(url) or url)

    def unlisted(self) -> tuple[str, ...]:
        """Return the URLs of sources that no search has returned: the model may have made them up.

        An answer can cite what the model has opened, also in an earlier response, and a page that
        was found in a spelling of its own.
        """
        return tuple(url for url in self.sources if url not in self.results)

    def add_error(self, item: Block) -> None:
        """Add an error, if the object is one."""
        code = item.line("error_code", "code", "type") or str(item.index("code") or "")
        message = item.line("message", "error_message", "detail")
        if code or message:
            self.errors.append(NativeError(code or "error", message))

    def all_warnings(self) -> tuple[str, ...]:
        """Return the warnings, with one about sources without a URL."""
        if not self.unreadable:
            return tuple(self.warnings)
        count = "1 source" if self.unreadable == 1 else f"{self.unreadable} sources"
        return (*self.warnings, f"{count} without a usable URL (left out).")


def without_tag(url: str) -> str:
    """Remove the parameter that OpenAI adds to the URLs of its sources."""
    base, question, rest = url.partition("?")
    query, hash_sign, fragment = rest.partition("#")
    if "utm_source=openai" not in query:
        return url
    kept = "&".join(part for part in query.split("&") if part != "utm_source=openai")
    return base + (question + kept if kept else "") + hash_sign + fragment


def _title(item: Block, url: str) -> str:
    title = item.line("title")
    return "" if title in {url, item.line("url")} else title


def _merged(known: NativeSource, new: NativeSource) -> NativeSource:
    return NativeSource(
        known.url,
        known.title or new.title,
        known.published or new.published,
        known.snippet or new.snippet,
    )
