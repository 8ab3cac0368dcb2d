"""The capabilities of providers: the functions of each, its queries and responses, its time-out."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from webtools.providers.about import Capability
from webtools.providers.protocols import (
    DocsQuery,
    Hits,
    PageQuery,
    Pages,
    Query,
    SearchQuery,
    Summary,
    SummaryQuery,
    Synthesis,
    SynthesisQuery,
)

PAGES = "pages"  # the function of a provider that fetches pages with requests of its own


class CapabilityFacts(NamedTuple):
    """The facts of a capability.

    Attributes:
        query: Type of its queries.
        response: Type of what `reader` returns.
        price: Name of the function that returns the maximum cost of a query.
        builder: Name of the function that builds the request; empty if the provider sends its own.
        reader: Name of the function that returns the response.
        others: Names of further functions that a provider needs.
        use: What it is used for, in messages.
        verb: What a call does with its query, in messages.
        timeout: Seconds for a whole call, unless the provider's entry sets `timeoutMs`.
    """

    query: type[Query]
    response: type[Any]
    price: str
    builder: str
    reader: str
    use: str
    verb: str
    others: tuple[str, ...] = ()
    timeout: float = 30.0

    @property
    def functions(self) -> tuple[str, ...]:
        """The functions that a provider needs. The first one says that it has the capability."""
        names = (self.builder or self.reader, self.price, self.reader, *self.others)
        return tuple(dict.fromkeys(names))


CAPABILITIES: Mapping[Capability, CapabilityFacts] = MappingProxyType(
    {
        "search": CapabilityFacts(
            query=SearchQuery,
            response=Hits,
            builder="search_request",
            reader="read_search",
            price="search_price",
            others=("native_filters",),
            use="web search",
            verb="searching for",
        ),
        "fetch": CapabilityFacts(
            query=PageQuery,
            response=Pages,
            builder="fetch_request",
            reader="read_pages",
            price="fetch_price",
            use="web fetch",
            verb="fetching",
        ),
        "summarize": CapabilityFacts(
            query=SummaryQuery,
            response=Summary,
            builder="summary_request",
            reader="read_summary",
            price="summary_price",
            use="summarize",
            verb="summarizing",
            timeout=120.0,
        ),
        "docs": CapabilityFacts(
            query=DocsQuery,
            response=Hits,
            builder="",
            reader="lookup",
            price="lookup_price",
            use="documentation search",
            verb="looking up",
        ),
        "synthesize": CapabilityFacts(
            query=SynthesisQuery,
            response=Synthesis,
            builder="synthesis_request",
            reader="read_synthesis",
            price="synthesis_price",
            use="synthesis",
            verb="synthesizing an answer to",
            timeout=120.0,
        ),
    }
)
_BY_QUERY: Mapping[type[Query], Capability] = MappingProxyType(
    {facts.query: name for name, facts in CAPABILITIES.items()}
)


def capability_of(query: Query) -> Capability:
    """Return the capability that serves a query."""
    return _BY_QUERY[type(query)]


def subject_of(query: Query) -> str:
    """Return the text or URL of a query that messages quote."""
    match query:
        case SearchQuery() | DocsQuery():
            return query.query
        case PageQuery(urls=(url,)):
            return url
        case PageQuery():
            return f"{query.urls[0]} and others"
        case SummaryQuery():
            return query.url
        case SynthesisQuery():
            return query.question
