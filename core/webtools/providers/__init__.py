"""What a provider is made of, and the registry of those there are.

A provider is a module or an object with an `ABOUT` and the functions of what it can do. One of
ours is its module and a line here; another one is registered in code (`register`), or announced by
an installed package in the entry point group `webtools.providers`.
"""

from __future__ import annotations

from webtools.errors import (
    AuthenticationError,
    BadRequestError,
    ConfigError,
    InputError,
    ProviderError,
    QuotaError,
    RateLimitError,
    RequestTimeoutError,
    ResponseFormatError,
    UnavailableError,
)
from webtools.flows.drivers import Flow, Sleep
from webtools.http.messages import OK, Request, Response
from webtools.providers import brave, context7, direct, exa, kagi, perplexity
from webtools.providers.about import About, Capability, Options, SearchOptions
from webtools.providers.errors import (
    ITSELF,
    ErrorBody,
    ErrorTable,
    Meaning,
    bounded,
    failure,
    kind_of,
    read_error_body,
    read_failure,
    retry_after,
    wait_until,
)
from webtools.providers.fetched import PageFields, match_addresses, read_page_list
from webtools.providers.filters import (
    DATES,
    filters_left,
    filters_of_operators,
    site_of,
    site_operators,
    utc_day,
)
from webtools.providers.hits import HitFields, Item, Oddities, joined, read_hits, read_items
from webtools.providers.parsing import (
    json_object,
    line,
    maybe_list,
    maybe_object,
    maybe_objects,
    moment,
    number,
    quotable,
    strings,
    text,
)
from webtools.providers.prices import estimate, stated_or
from webtools.providers.protocols import (
    Account,
    Cost,
    DocsProvider,
    DocsQuery,
    Done,
    FetchProvider,
    FilterName,
    Hits,
    PageCall,
    PageProvider,
    PageQuery,
    Pages,
    Provider,
    Query,
    SearchProvider,
    SearchQuery,
    Source,
    Summary,
    SummaryProvider,
    SummaryQuery,
    Synthesis,
    SynthesisProvider,
    SynthesisQuery,
)
from webtools.providers.registry import Registry, Services
from webtools.results import Page, SearchResult

PROVIDERS = Registry(
    [
        Services(exa, search=exa, fetch=exa),
        Services(kagi, search=kagi, summarize=kagi),
        Services(brave, search=brave),
        Services(perplexity, search=perplexity, synthesize=perplexity),
        Services(context7, docs=context7),
        Services(direct, pages=direct),
    ]
)
register = PROVIDERS.register

__all__ = [
    "DATES",
    "ITSELF",
    "OK",
    "PROVIDERS",
    "About",
    "Account",
    "AuthenticationError",
    "BadRequestError",
    "Capability",
    "ConfigError",
    "Cost",
    "DocsProvider",
    "DocsQuery",
    "Done",
    "ErrorBody",
    "ErrorTable",
    "FetchProvider",
    "FilterName",
    "Flow",
    "HitFields",
    "Hits",
    "InputError",
    "Item",
    "Meaning",
    "Oddities",
    "Options",
    "Page",
    "PageCall",
    "PageFields",
    "PageProvider",
    "PageQuery",
    "Pages",
    "Provider",
    "ProviderError",
    "Query",
    "QuotaError",
    "RateLimitError",
    "Registry",
    "Request",
    "RequestTimeoutError",
    "Response",
    "ResponseFormatError",
    "SearchOptions",
    "SearchProvider",
    "SearchQuery",
    "SearchResult",
    "Services",
    "Sleep",
    "Source",
    "Summary",
    "SummaryProvider",
    "SummaryQuery",
    "Synthesis",
    "SynthesisProvider",
    "SynthesisQuery",
    "UnavailableError",
    "bounded",
    "estimate",
    "failure",
    "filters_left",
    "filters_of_operators",
    "joined",
    "json_object",
    "kind_of",
    "line",
    "match_addresses",
    "maybe_list",
    "maybe_object",
    "maybe_objects",
    "moment",
    "number",
    "quotable",
    "read_error_body",
    "read_failure",
    "read_hits",
    "read_items",
    "read_page_list",
    "register",
    "retry_after",
    "site_of",
    "site_operators",
    "stated_or",
    "strings",
    "text",
    "utc_day",
    "wait_until",
]
