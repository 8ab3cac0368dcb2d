"""The capabilities of each built-in provider, checked against the protocols by type checkers."""

from webtools.providers import (
    DocsProvider,
    FetchProvider,
    PageProvider,
    SearchProvider,
    SummaryProvider,
    SynthesisProvider,
    brave,
    browser,
    context7,
    direct,
    exa,
    firecrawl,
    jina,
    jina_search,
    kagi,
    linkup,
    parallel,
    perplexity,
    searxng,
    serper,
    tavily,
    wikipedia,
    you,
)

SEARCH: list[SearchProvider] = [
    *(exa, kagi, brave, perplexity, tavily, wikipedia, searxng, serper, you, firecrawl, linkup),
    *(parallel, jina_search),
]
FETCH: list[FetchProvider] = [exa, kagi, tavily, firecrawl, parallel, jina]
PAGES: list[PageProvider] = [direct, browser]
SUMMARIZE: list[SummaryProvider] = [kagi]
DOCS: list[DocsProvider] = [context7]
SYNTHESIZE: list[SynthesisProvider] = [perplexity]
