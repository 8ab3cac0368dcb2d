"""What a vendor's search did, in one form for all vendors."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from webtools._internal.text.domains import NO_VALUES, Site, covered, read_site, site_of_url
from webtools.native.facts import search_cost

_REDIRECTS = "vertexaisearch.cloud.google.com"  # its links hide the page that they lead to


@dataclass(frozen=True, slots=True)
class NativeSource:
    """A page that the vendor's search returned.

    Attributes:
        url: URL of the page. Google's is a redirect that expires.
        title: Title, or "".
        published: Date or age as the vendor wrote it, or "".
        snippet: Snippet, or "".
    """

    url: str
    title: str = ""
    published: str = ""
    snippet: str = ""


@dataclass(frozen=True, slots=True)
class NativeCitation:
    """A source that the answer cites.

    Attributes:
        url: URL of the source.
        title: Title, or "".
        start: First character of the cited part of `NativeSearches.text`, or None if unknown.
        end: Character after the last one of it, or None.
        quotation: What the vendor quotes from the source, or "".
    """

    url: str
    title: str = ""
    start: int | None = None
    end: int | None = None
    quotation: str = ""


@dataclass(frozen=True, slots=True)
class NativeError:
    """An error of the vendor in a response that succeeded.

    Attributes:
        code: Code of the vendor, such as `max_uses_exceeded`.
        message: Message of the vendor, or "".
    """

    code: str
    message: str = ""


@dataclass(frozen=True, slots=True)
class NativeSearches:
    """What a response says about the vendor's searches.

    Texts are cleaned, except `text` and `display_html`. All are foreign.

    Attributes:
        vendor: The vendor.
        model: Name of the model, or "".
        text: The answer, as the vendor wrote it. Offsets of citations count its characters.
        queries: What the vendor searched for.
        sources: The pages that it found or cites, each once.
        citations: The citations of the answer.
        opened: Pages that it opened. The model may have written their URLs.
        unlisted: URLs of sources that it opened, but that no search has returned.
        searches: Number of searches that are charged.
        is_count_estimated: Whether `searches` was counted, because the vendor states no number.
        pending: Number of searches without a result. It comes with the next response.
        cost_usd: Cost of the searches in USD, or None if unknown.
        is_cost_estimated: Whether `cost_usd` is from the table of prices.
        cost_has_tokens: Whether `cost_usd` is that of the whole response.
        errors: The errors.
        stop: Why the answer is not complete, such as `pause_turn` or `cut`; "" if it is.
        display_html: What Google requires you to display with the answer, as HTML.
        refused: URLs of sources, citations and pages outside the domains of `within`.
        warnings: What could not be read.
    """

    vendor: str
    model: str = ""
    text: str = ""
    queries: tuple[str, ...] = ()
    sources: tuple[NativeSource, ...] = ()
    citations: tuple[NativeCitation, ...] = ()
    opened: tuple[str, ...] = ()
    unlisted: tuple[str, ...] = ()
    searches: int = 0
    is_count_estimated: bool = False
    pending: int = 0
    cost_usd: float | None = None
    is_cost_estimated: bool = False
    cost_has_tokens: bool = False
    errors: tuple[NativeError, ...] = ()
    stop: str = ""
    display_html: str = ""
    refused: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    def record(self) -> dict[str, Any]:
        """Return the arguments of `Session.record_native`: `session.record_native(**record())`.

        The cost is that of the searches. If the vendor states only that of the whole response, it
        is estimated from the table.
        """
        usd, is_estimate = self.cost_usd, self.is_cost_estimated
        if self.cost_has_tokens:
            usd, is_estimate = search_cost(self.vendor, self.model, self.searches), True
        return {
            "vendor": self.vendor,
            "queries": self.queries,
            "sources": [{"url": item.url, "title": item.title} for item in self.sources],
            "citations": [*dict.fromkeys(item.url for item in self.citations)],
            "unlisted": self.unlisted,
            "refused": self.refused,
            "searches": self.searches,
            "cost_usd": usd,
            "is_estimate": is_estimate,
            "notes": self._notes(),
        }

    def _notes(self) -> list[str]:
        """Return what a report should say beside the numbers."""
        errors = [f"{item.code}: {item.message}".removesuffix(": ") for item in self.errors]
        notes = [f"{self.vendor} reported an error of its search: {error}" for error in errors]
        if self.stop:
            notes.append(f"{self.vendor} ended an answer early: {self.stop}")
        return [*notes, *self.warnings]

    def within(
        self, include_domains: str | Iterable[str] = (), exclude_domains: str | Iterable[str] = ()
    ) -> NativeSearches:
        """Return this without what is outside some domains; `refused` has the URLs.

        A redirect that hides its page is outside, if there is any domain.

        Args:
            include_domains: Domains as in `web_search`.
            exclude_domains: Domains as in `web_search`.

        Raises:
            ValueError: A domain is not valid.
        """
        rule = _Domains(_sites(include_domains), _sites(exclude_domains))
        sources = tuple(source for source in self.sources if rule.allows(source.url))
        citations = tuple(citation for citation in self.citations if rule.allows(citation.url))
        opened = tuple(url for url in self.opened if rule.allows(url))
        urls = [source.url for source in self.sources]  # those of the citations, too
        urls += self.opened
        refused = dict.fromkeys([*self.refused, *(url for url in urls if not rule.allows(url))])
        return replace(
            self, sources=sources, citations=citations, opened=opened, refused=tuple(refused)
        )


def _sites(domains: str | Iterable[str]) -> list[Site]:
    entries = [domains] if isinstance(domains, str) else domains
    return [read_site(entry) for entry in entries if entry.strip().casefold() not in NO_VALUES]


@dataclass(frozen=True, slots=True)
class _Domains:
    include: list[Site]
    exclude: list[Site]

    def allows(self, url: str) -> bool:
        if not (self.include or self.exclude):
            return True
        site = site_of_url(url)
        if site is None or site.host == _REDIRECTS:
            return False
        is_included = not self.include or covered([site], self.include) is not None
        return is_included and covered([site], self.exclude) is None
