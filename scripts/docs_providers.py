"""Tables of the documentation about settings and providers: keys, options, limits, prices."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from typing import Any

from docs_tables import NOTHING, Row, fields, listed, summary, table, usd
from pydantic import BaseModel, SecretStr

from webtools._internal.operations.search_filters import LOCAL
from webtools._internal.pages import fetching
from webtools._internal.pipeline.api_call import timeout_of
from webtools.config.accounts import DEFAULT_LIMIT
from webtools.config.config_file import CONFIG_VARIABLE
from webtools.config.config_models import Config, ProviderConfig, StorageConfig
from webtools.config.environment import variables as known_variables
from webtools.config.first_steps import KEYLESS_VARIABLE
from webtools.config.parts import (
    LOG_BACKUPS,
    LOG_BYTES,
    MAX_RESULTS,
    ROTATE_CHECK_MS,
    TTL_MS,
    BudgetConfig,
    CacheConfig,
    FetchConfig,
    LogConfig,
    ResearchConfig,
)
from webtools.providers import PROVIDERS, Account, Capability
from webtools.providers.protocols import (
    DocsQuery,
    FilterName,
    PageQuery,
    Query,
    SearchQuery,
    Source,
    SummaryQuery,
    SynthesisQuery,
)

# --- settings ----------------------------------------------------------------------------------

_HEAD = ("Key", "Value", "Meaning", "Default")
_SEARCH_LIMIT = (
    "Results per query where the call names no limit.",
    f"`maxResults`, else {DEFAULT_LIMIT}",
)


def settings() -> str:
    """Describe every key of the config file."""
    parts: dict[str, tuple[str, type[BaseModel]]] = {
        "At the top": ("", Config),
        "An entry of `providers`": ("providers[].", ProviderConfig),
        "`cache`": ("cache.", CacheConfig),
        "`log`": ("log.", LogConfig),
        "`research`": ("research.", ResearchConfig),
        "`budget`": ("budget.", BudgetConfig),
        "`fetch`": ("fetch.", FetchConfig),
        "`storage`": ("storage.", StorageConfig),
    }
    sections = [
        f"### {title}\n\n{summary(model)}\n\n{table(_HEAD, _setting_rows(prefix, model))}"
        for title, (prefix, model) in parts.items()
    ]
    return "\n\n".join(sections)


def _setting_rows(prefix: str, model: type[BaseModel]) -> Iterator[Row]:
    own = _setting_facts()
    for _, (key, values, meaning, default) in fields(model):
        name = f"{prefix}{key.strip('`')}"
        yield [f"`{name}`", *_around(meaning, own.get(name, (values, default)))]


def _around(meaning: str, facts: tuple[str, str]) -> Row:
    values, default = facts
    return values, meaning, default


def _setting_facts() -> dict[str, tuple[str, str]]:
    """Return values and defaults that the models do not tell."""
    seconds = {
        able: timeout_of(_account("kagi"), able) for able in PROVIDERS["kagi"].capabilities()
    }
    usual, long = (f"{seconds[able] * 1000:,.0f}" for able in ("search", "summarize"))
    waits = f"{usual}; summaries and written answers {long}"
    keyless = listed((f"`{k}`" for k, item in PROVIDERS.items() if not item.about.needs_key), "and")
    runs = (f"`{k}`" for k, item in PROVIDERS.items() if item.about.url_variables)
    return {
        "providers": ("list: the entries below", "required"),
        "defaultProvider": ("a `name` of `providers`", "the first that can"),
        "providers[].name": ("text, each another one", "required"),
        "providers[].type": (listed(f"`{k}`" for k in PROVIDERS), "required"),
        "providers[].apiKey": (
            "text; variables in it are not expanded",
            f"required, but for {keyless}",
        ),
        "providers[].baseUrl": (
            "http(s) URL",
            f"the API itself; required for {listed(runs, 'and')}",
        ),
        "providers[].timeoutMs": ("whole number, 1 to 600,000", waits),
        "providers[].proxy": ("http(s) URL, or `none`", "what the [environment](#proxies) names"),
        "providers[].options": ("object: see the page of the provider", NOTHING),
        "providers[].fetchFallback": ("a `name` of `providers`, or `direct`", NOTHING),
        "cache.path": ("path", "`webtools.sqlite3` in the user's cache folder"),
        "storage.url": ("`redis://` or `rediss://` URL", "the file `cache.path`"),
        "log.path": ("path", "`web-search.ndjson` in the user's log folder"),
        "research.chain": ("object: a command and a list of names", "see the page on research"),
        "research.synthesis": (
            "`extractive`, `perplexity` or `none`",
            "`extractive` for `web-deep`, else none",
        ),
    }


def variables() -> str:
    """List the variables of the environment."""
    rows = [
        [
            listed(f"`{name}`" for name in value.about.variables),
            f"switches {value.about.title} on",
        ]
        for value in PROVIDERS.values()
        if value.about.variables
    ]
    rows.insert(0, [f"`{CONFIG_VARIABLE}`", "path of the config file"])
    rows.append([f"`{KEYLESS_VARIABLE}`", "as `keyless`: 1 for yes, 0 for no"])
    numbers = {
        "maxResults": MAX_RESULTS,
        "cache.ttlMs": TTL_MS,
        "log.maxBytes": LOG_BYTES,
        "log.maxBackups": LOG_BACKUPS,
        "log.rotateCheckMs": ROTATE_CHECK_MS,
    }
    names = known_variables()[-len(numbers) :]  # the last ones are not about keys
    for name, (key, bounds) in zip(names, numbers.items(), strict=True):
        rows.append([f"`{name}`", f"as `{key}`, {bounds.minimum:,} to {bounds.maximum:,}"])
    return table(("Variable", "Meaning"), rows)


# --- providers ---------------------------------------------------------------------------------

_ABLE: dict[Capability, str] = {
    "search": "search",
    "fetch": "fetch pages",
    "summarize": "summarize",
    "docs": "look up documentation",
    "synthesize": "write answers",
}


def providers(folder: str = "") -> str:
    """Show what each provider can do, with links to the pages in a folder."""
    rows = [
        [f"[{item.about.title}]({folder}{name}.md)", f"`{name}`", *_ticks(name), _need(name)]
        for name, item in PROVIDERS.items()
    ]
    return table(("Provider", "Type", *_ABLE.values(), "Key"), rows)


def who_can(folder: str = "") -> str:
    """List for each thing who can do it, with links to the pages in a folder."""
    return "\n".join(
        f"- **{_ABLE[able].capitalize()}**: "
        + ", ".join(
            f"[{item.about.title}]({folder}{name}.md)"
            for name, item in PROVIDERS.items()
            if item.can(able)
        )
        for able in _ABLE
    )


def _ticks(name: str) -> Row:
    return ["yes" if PROVIDERS[name].can(able) else "" for able in _ABLE]


def _need(name: str) -> str:
    about = PROVIDERS[name].about
    if about.needs_key:
        return "required"
    return "optional" if about.key_variables else "none"


def provider_facts(name: str) -> str:
    """Describe a provider: what it can do, its options, its limits."""
    options = table(("Option", "Value", "Meaning", "Default"), _option_rows(name))
    facts = table(("What", "Value"), _facts(name))
    filters = _filters(name)
    return "\n\n".join([facts, *filters, "### Options", options])


def _facts(name: str) -> Iterator[Row]:
    services = PROVIDERS[name]
    about = services.about
    yield ["Type in the config file", f"`{name}`"]
    yield ["Can", ", ".join(_ABLE[able] for able in services.capabilities())]
    yield ["Key", ", ".join([_need(name), *(f"`{variable}`" for variable in about.key_variables)])]
    if about.url_variables:
        yield [
            "Address",
            ", ".join(["`baseUrl`", *(f"`{variable}`" for variable in about.url_variables)]),
        ]
    if about.origin:
        yield ["API", f"`{about.origin}`"]
    if about.docs:
        yield ["Its documentation", f"[read on {about.docs_date}]({about.docs})"]
    if services.search:
        yield ["Most results per query", f"{about.max_results:,}"]
    if services.fetch:
        yield ["Most pages per request", f"{about.max_urls:,}"]
    if services.pages:
        yield ["Redirects followed", f"{fetching.MAX_REDIRECTS}"]
        yield ["Largest page", f"{fetching.MAX_PAGE_BYTES // 1024 // 1024} MiB"]
        at_once = (
            f"{fetching.HOSTS_AT_ONCE} hosts, {fetching.PAGES_OF_A_HOST_AT_ONCE} pages of each"
        )
        yield ["At the same time", at_once]


def _option_rows(name: str) -> Iterator[Row]:
    about = PROVIDERS[name].about
    for field, row in fields(about.options):
        if field == "default_search_limit":
            meaning, default = _SEARCH_LIMIT
            yield [row[0], f"whole number, 1 to {about.max_results:,}", meaning, default]
        elif row[1] == "whole number":
            yield [row[0], "whole number, at least 1", *row[2:]]
        else:
            yield row


_CASES: dict[str, tuple[FilterName, dict[str, Any]]] = {
    "one domain to include": ("include_domains", {"include_domains": ("a.example",)}),
    "several domains to include": (
        "include_domains",
        {"include_domains": ("a.example", "b.example")},
    ),
    "domains to exclude": ("exclude_domains", {"exclude_domains": ("a.example",)}),
    "published on or after": ("start_published_date", {"start_published_date": date(2026, 1, 1)}),
    "published on or before": ("end_published_date", {"end_published_date": date(2026, 2, 1)}),
    "published in a range": (
        "end_published_date",
        {"start_published_date": date(2026, 1, 1), "end_published_date": date(2026, 2, 1)},
    ),
    "category `news`": ("category", {"category": "news"}),
    "another category": ("category", {"category": "publication"}),
    "country": ("country", {"country": "DE"}),
    "language": ("language", {"language": "de"}),
    "safe search": ("safe_search", {"safe_search": "strict"}),
    "page of results": ("page", {"page": 2}),
    "content of the pages": ("content", {"content": True}),
    "similar pages": ("similar", {"similar": True}),
}
_REFUSED = {"similar": "not at all; another provider is asked, or the call refused"}


def _filters(name: str) -> list[str]:
    search = PROVIDERS[name].search
    if search is None:
        return []
    rows: list[Row] = []
    for title, (wanted, given) in _CASES.items():
        native = wanted in search.native_filters(SearchQuery("q", 5, **given), _account(name))
        here = _REFUSED.get(wanted, "here" if wanted in LOCAL else "not at all; a warning says so")
        rows.append([title, "the API" if native else here])
    if PROVIDERS[name].about.chooses_passages:
        rows.append(["passages of a fetched page for a question", "the API"])
    return ["### Who applies a filter", table(("Filter", "Applied by"), rows)]


def _account(name: str, **options: Any) -> Account:
    about = PROVIDERS[name].about
    chosen = about.options.model_validate(options)
    return Account(name, name, about.origin, SecretStr("test-key-canary-1"), chosen)


# --- prices ------------------------------------------------------------------------------------

_URL = "https://example.com/"
_TEN = SearchQuery("q", 10)
_ANSWER = SynthesisQuery("q", (Source(1, "", _URL, "x" * 24_000),))
_PRICED: dict[str, list[tuple[str, dict[str, Any], Query]]] = {
    "exa": [
        *(
            (f"search for up to 10 results, `searchType` {item}", {"searchType": item}, _TEN)
            for item in ("auto", "lite", "fast", "neural", "deep")
        ),
        ("search for 20 results, `searchType` auto", {}, SearchQuery("q", 20)),
        ("a page, one kind of content", {}, PageQuery((_URL,))),
        (
            "a page: text, highlights, summary",
            {},
            PageQuery((_URL,), highlights=True, summary=True),
        ),
    ],
    "kagi": [
        ("search, `searchApi` v1", {}, _TEN),
        ("search, `searchApi` v0", {"searchApi": "v0"}, _TEN),
        ("search for 10 results with content", {}, SearchQuery("q", 10, content=True)),
        ("a page", {}, PageQuery((_URL,))),
        ("a summary", {}, SummaryQuery(_URL)),
    ],
    "perplexity": [
        ("search, `searchType` web", {}, _TEN),
        ("search, `searchType` fast", {"searchType": "fast"}, _TEN),
        *(
            (
                f"an answer from 24,000 characters, `synthesisPreset` {item}",
                {"synthesisPreset": item},
                _ANSWER,
            )
            for item in ("fast", "low", "medium", "high")
        ),
    ],
    "tavily": [
        *(
            (f"search, `searchDepth` {item}", {"searchDepth": item}, _TEN)
            for item in ("basic", "fast", "ultra-fast", "advanced")
        ),
        *(
            (f"up to 5 pages, `extractDepth` {item}", {"extractDepth": item}, PageQuery((_URL,)))
            for item in ("basic", "advanced")
        ),
    ],
    "serper": [
        ("search for up to 10 results", {}, _TEN),
        ("search for more", {}, SearchQuery("q", 20)),
    ],
    "firecrawl": [
        ("search for up to 10 results", {}, _TEN),
        ("search for 20 results", {}, SearchQuery("q", 20)),
        ("search for 10 results with content", {}, SearchQuery("q", 10, content=True)),
        ("a page", {}, PageQuery((_URL,))),
    ],
    "linkup": [
        (f"search, `depth` {item}", {"depth": item}, _TEN)
        for item in ("flash", "fast", "standard", "deep")
    ],
    "parallel": [
        *(
            (f"search for up to 10 results, `mode` {item}", {"mode": item}, _TEN)
            for item in ("turbo", "fast", "basic", "advanced")
        ),
        ("search for 20 results, `mode` advanced", {}, SearchQuery("q", 20)),
        ("a page", {}, PageQuery((_URL,))),
    ],
    "jina": [("a page as long as may be", {}, PageQuery((_URL,)))],
    "context7": [("a look-up with a key, beyond the plan's allowance", {}, DocsQuery("q", 5))],
}
_USUAL: dict[Capability, tuple[str, dict[str, Any], Query]] = {
    "search": ("search", {}, _TEN),
    "fetch": ("a page", {}, PageQuery((_URL,))),
    "summarize": ("a summary", {}, SummaryQuery(_URL)),
    "docs": ("a look-up", {}, DocsQuery("q", 5)),
    "synthesize": ("an answer from 24,000 characters", {}, _ANSWER),
}


def prices(name: str) -> str:
    """Write the most that calls cost, and of what day the price list is."""
    services = PROVIDERS[name]
    cases = _PRICED.get(name) or [_USUAL[able] for able in services.capabilities()]
    rows = [
        [label, usd(services.worst_cost(query, _account(name, **options)))]
        for label, options, query in cases
    ]
    listed_on = f"\n\nFrom the price list of {services.about.price_list}." * bool(
        services.about.prices
    )
    return table(("Call", "USD at most"), rows) + listed_on
