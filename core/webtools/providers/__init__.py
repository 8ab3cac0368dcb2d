"""The table of providers. A new one is its module, a line here, a test file and a cassette."""

from __future__ import annotations

from dataclasses import dataclass
from typing import get_args

from webtools.providers import brave, context7, direct, exa, kagi, perplexity
from webtools.providers.protocols import (
    Account,
    Capability,
    DocsProvider,
    DocsQuery,
    FetchProvider,
    PageProvider,
    PageQuery,
    Provider,
    Query,
    SearchProvider,
    SearchQuery,
    SummaryProvider,
    SummaryQuery,
    SynthesisProvider,
    SynthesisQuery,
)

__all__ = ["PROVIDERS", "Account", "Capability", "Services"]


@dataclass(frozen=True, slots=True)
class Services:
    """A provider's module, once as a whole and once for each thing it can do.

    A provider fetches either with requests to its API (`fetch`) or in its own way (`pages`).
    """

    about: Provider
    search: SearchProvider | None = None
    fetch: FetchProvider | None = None
    summarize: SummaryProvider | None = None
    docs: DocsProvider | None = None
    synthesize: SynthesisProvider | None = None
    pages: PageProvider | None = None

    def can(self, capability: Capability) -> bool:
        """Tell whether the provider can do something; the fields bear the capabilities' names."""
        return bool(getattr(self, capability) or (capability == "fetch" and self.pages))

    def capabilities(self) -> tuple[Capability, ...]:
        """Name what the provider can do."""
        every: tuple[Capability, ...] = get_args(Capability)
        return tuple(name for name in every if self.can(name))

    def worst_cost(self, query: Query, account: Account) -> float:
        """Give the most that one call for a query may cost, in USD, by the price tables.

        Raises:
            TypeError: The provider takes no such query.
        """
        fetcher = self.fetch or self.pages
        if isinstance(query, SearchQuery) and self.search:
            price = self.search.search_price(query, account)
        elif isinstance(query, PageQuery) and fetcher:
            price = fetcher.fetch_price(query, account)
        elif isinstance(query, SummaryQuery) and self.summarize:
            price = self.summarize.summary_price(query, account)
        elif isinstance(query, DocsQuery) and self.docs:
            price = self.docs.lookup_price(query, account)
        elif isinstance(query, SynthesisQuery) and self.synthesize:
            price = self.synthesize.synthesis_price(query, account)
        else:
            message = f"{self.about.NAME} takes no {type(query).__name__}"
            raise TypeError(message)
        return round(price, 6)


PROVIDERS: dict[str, Services] = {
    exa.NAME: Services(exa, search=exa, fetch=exa),
    kagi.NAME: Services(kagi, search=kagi, summarize=kagi),
    brave.NAME: Services(brave, search=brave),
    perplexity.NAME: Services(perplexity, search=perplexity, synthesize=perplexity),
    context7.NAME: Services(context7, docs=context7),
    direct.NAME: Services(direct, pages=direct),
}
