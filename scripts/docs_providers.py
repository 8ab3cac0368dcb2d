"""Tables of the documentation about settings and providers: keys, options, filters, prices."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from docs_tables import Row, fields, listed, table, usd, value_with_default
from pydantic import BaseModel, SecretStr
from pydantic.alias_generators import to_camel

from webtools._internal.operations.search_filters import LOCAL
from webtools._internal.pipeline.api_call import timeout_of
from webtools.config.config_file import CONFIG_VARIABLE
from webtools.config.config_models import PARTS, Config, ProviderConfig
from webtools.config.environment import SETTINGS
from webtools.config.paths import RECORD_VARIABLE, REPLAY_VARIABLE
from webtools.providers import PROVIDERS, Account, Capability
from webtools.providers.about import PageOptions, SearchOptions
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


def settings() -> str:
    """Describe every key of the config file."""
    top = [row for row in _setting_rows("", Config) if row[1] != "an object"]
    entry = _setting_rows("", ProviderConfig)
    parts = [row for name, model in PARTS.items() for row in _setting_rows(f"{name}.", model)]
    titles = ("### Top level", "### An entry of `providers`", "### Parts")
    return "\n\n".join(
        f"{title}\n\n{table(('Key', 'Value', 'Meaning'), rows)}"
        for title, rows in zip(titles, (top, entry, parts), strict=True)
    )


def _setting_rows(prefix: str, model: type[BaseModel]) -> Iterator[Row]:
    special = _special_values(model)
    for _, (key, values, meaning, default) in fields(model):
        name = f"{prefix}{key.strip('`')}"
        numbers = values.removeprefix("whole number, ").removesuffix(", at most 1,000,000,000")
        yield [f"`{name}`", special.get(name) or value_with_default(numbers, default), meaning]


def _special_values(model: type[BaseModel]) -> dict[str, str]:
    """Return values and defaults that the models do not state."""
    seconds = {
        able: timeout_of(_account("kagi"), able) for able in PROVIDERS["kagi"].capabilities()
    }
    usual, long = (f"{seconds[able] * 1000:,.0f}" for able in ("search", "summarize"))
    of_provider = f", default {usual}; summaries and answers {long}"
    own_server = listed(
        [f"`{name}`" for name, services in PROVIDERS.items() if services.about.url_variables]
    )
    return {
        "providers": "list, required",
        "defaultProvider": "`name` of an entry",
        "name": "text, unique, required",
        "type": "a [type](providers/index.md), required",
        "apiKey": "text",
        "baseUrl": f"http(s) URL, required for {own_server}",
        "timeoutMs": f"1 to 600,000{of_provider if model is ProviderConfig else ''}",
        "proxy": "http(s) URL or `none`",
        "options": "object",
        "fetchFallback": "`name` of an entry, or `direct`",
        "cache.path": "path, default: in your cache folder",
        "storage.url": "`redis://` or `rediss://` URL",
        "log.path": "path, default: in your log folder",
        "research.chain": "object of lists",
        "research.synthesis": "`extractive`, `none` or a provider",
    }


def variables() -> str:
    """List the environment variables."""
    rows = [
        [listed(f"`{name}`" for name in names), f"key of {listed(titles, 'and')}"]
        for names, titles in _titles_by_variables("key_variables").items()
    ]
    rows += [
        [listed(f"`{name}`" for name in names), f"address of your {listed(titles, 'and')}"]
        for names, titles in _titles_by_variables("url_variables").items()
    ]
    rows += [
        [f"`{CONFIG_VARIABLE}`", "path of the config file"],
        [f"`{RECORD_VARIABLE}`", "path of a tape to record all calls to"],
        [f"`{REPLAY_VARIABLE}`", "path of a tape that answers all calls"],
    ]
    for name, setting in SETTINGS.items():
        key = ".".join(filter(None, (setting.part, to_camel(setting.name))))
        rows.append([f"`{name}`", f"`{key}`{'' if setting.bounds else ': 1 or 0'}"])
    return table(("Variable", "Sets"), rows)


def _titles_by_variables(attribute: str) -> dict[tuple[str, ...], list[str]]:
    titles: dict[tuple[str, ...], list[str]] = {}
    for services in PROVIDERS.values():
        if names := getattr(services.about, attribute):
            titles.setdefault(names, []).append(services.about.title)
    return titles


# --- all providers -----------------------------------------------------------------------------


_ABLE: dict[Capability, str] = {
    "search": "search",
    "fetch": "fetch pages",
    "summarize": "summarize",
    "docs": "look up documentation",
    "synthesize": "write answers",
}
_SHORT: dict[Capability, str] = {"fetch": "fetch", "docs": "library docs"}
_URL = "https://example.com/"
_TEN = SearchQuery("q", 10)


def providers(folder: str = "") -> str:
    """Show what each provider can do and what it costs, with links to the pages in a folder."""
    head = (
        "Provider",
        "Type",
        "Can",
        "USD per 1,000 searches",
        "USD per 1,000 pages",
        "Free of charge",
        "Key",
    )
    rows = [
        [
            f"[{services.about.title}]({folder}{name}.md)",
            f"`{name}`",
            ", ".join(_SHORT.get(able, _ABLE[able]) for able in services.capabilities()),
            _price_of_thousand(name, "search"),
            _price_of_thousand(name, "fetch"),
            services.about.free_plan,
            _key(name),
        ]
        for name, services in PROVIDERS.items()
    ]
    return f"{table(head, rows)}\n\n{_price_lists()}"


def _price_of_thousand(name: str, able: Capability) -> str:
    """Write the most that 1,000 searches or pages cost, with a key and default options."""
    services = PROVIDERS[name]
    if not services.can(able):
        return ""
    count = services.about.max_urls if able == "fetch" else 1
    query = _TEN if able == "search" else PageQuery((_URL,) * count)
    price = services.worst_cost(query, _account(name)) / count * 1000
    return usd(price) if price else "free"


def _key(name: str) -> str:
    about = PROVIDERS[name].about
    need = "required" if about.needs_key else "optional" if about.key_variables else "none"
    return f"[{need}]({about.key_url})" if about.key_url else need


def _price_lists() -> str:
    """Write the days of the price lists."""
    titles: dict[str, list[str]] = {}
    for services in PROVIDERS.values():
        if day := services.about.price_list:
            titles.setdefault(day, []).append(services.about.title)
    usual = max(titles, key=lambda day: len(titles[day]))
    others = [
        f"{listed(names, 'and')} ({day})" for day, names in sorted(titles.items()) if day != usual
    ]
    return f"Prices are as of {usual}, except those of {listed(others, 'and')}."


# --- filters -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Filter:
    """A row of the table of filters: a way to use a filter."""

    title: str
    name: FilterName
    values: dict[str, Any]


_FROM, _TO = date(2026, 1, 1), date(2026, 2, 1)
_FILTERS = (
    Filter("one domain to include", "include_domains", {"include_domains": ("a.example",)}),
    Filter("several domains", "include_domains", {"include_domains": ("a.example", "b.example")}),
    Filter("domains to exclude", "exclude_domains", {"exclude_domains": ("a.example",)}),
    Filter("first date", "start_published_date", {"start_published_date": _FROM}),
    Filter("last date", "end_published_date", {"end_published_date": _TO}),
    Filter(
        "first and last date",
        "end_published_date",
        {"start_published_date": _FROM, "end_published_date": _TO},
    ),
    Filter("category `news`", "category", {"category": "news"}),
    Filter("other categories", "category", {"category": "publication"}),
    Filter("country", "country", {"country": "DE"}),
    Filter("language", "language", {"language": "de"}),
    Filter("safe search", "safe_search", {"safe_search": "strict"}),
    Filter("page of results", "page", {"page": 2}),
    Filter("content of the pages", "content", {"content": True}),
    Filter("similar pages", "similar", {"similar": True}),
)
_MOST_MISSING = 5  # providers after "all but"
_OTHERWISE: dict[FilterName, str] = {"similar": "next provider, or an error"}


def filters() -> str:
    """Show which providers apply each filter, and what happens with the others."""
    searching = [name for name, services in PROVIDERS.items() if services.search]
    rows: list[Row] = []
    for case in _FILTERS:
        native = [name for name in searching if _is_native(name, case)]
        applied_here = "applied by webtools" if case.name in LOCAL else "ignored, with a warning"
        rows.append(
            [case.title, _names(native, searching), _OTHERWISE.get(case.name, applied_here)]
        )
    return table(("Filter", "Applied by the API of", "With other providers"), rows)


def _is_native(name: str, case: Filter) -> bool:
    search = PROVIDERS[name].search
    query = SearchQuery("q", 5, **case.values)
    return search is not None and case.name in search.native_filters(query, _account(name))


def _names(names: list[str], every: list[str]) -> str:
    """List providers, or "all but" the few that are missing."""
    titles = {name: PROVIDERS[name].about.title for name in every}
    missing = [titles[name] for name in every if name not in names]
    if len(missing) <= _MOST_MISSING:
        return f"all but {listed(missing, 'and')}" if missing else "all"
    return ", ".join(titles[name] for name in names)


# --- one provider ------------------------------------------------------------------------------

_COMMON_OPTIONS = {*SearchOptions.model_fields, *PageOptions.model_fields}


def provider(name: str) -> str:
    """Describe a provider: its key, its limits and its own options."""
    rows = list(_option_rows(name))
    options = table(("Option", "Value", "Meaning"), rows) if rows else ""
    return "\n\n".join(part for part in ("\n".join(_facts(name)), options) if part)


def _facts(name: str) -> Iterator[str]:
    services = PROVIDERS[name]
    about = services.about
    if about.key_variables:
        need = "" if about.needs_key else " (optional)"
        yield f"- Key{need}: `apiKey`, or {listed(f'`{each}`' for each in about.key_variables)}"
    if about.url_variables:
        names = listed(f"`{each}`" for each in about.url_variables)
        yield f"- Address: `baseUrl`, or {names}"
    if services.search or about.max_urls > 1:
        yield f"- At most {' and '.join(_limits(name))}"
    if about.docs:
        yield f"- [API documentation]({about.docs}), read on {about.docs_date}"


def _limits(name: str) -> Iterator[str]:
    services = PROVIDERS[name]
    if services.search:
        yield f"{services.about.max_results:,} results per search"
    if services.about.max_urls > 1:
        yield f"{services.about.max_urls:,} pages per request"


def _option_rows(name: str) -> Iterator[Row]:
    for field_name, (key, values, meaning, default) in fields(PROVIDERS[name].about.options):
        if field_name not in _COMMON_OPTIONS:
            yield [key, value_with_default(values, default), meaning]


def _account(name: str, **options: Any) -> Account:
    about = PROVIDERS[name].about
    chosen = about.options.model_validate(options)
    return Account(name, name, about.origin, SecretStr("test-key-canary-1"), chosen)


# --- prices ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Priced:
    """A call in a table of prices, with the values of an option that changes its price."""

    title: str
    query: Query
    option: str = ""
    values: Iterable[str] = field(default_factory=tuple[str, ...])


_ANSWER = SynthesisQuery("q", (Source(1, "", _URL, "x" * 24_000),))
_TWENTY = SearchQuery("q", 20)
_CONTENT = SearchQuery("q", 10, content=True)
_PAGE = PageQuery((_URL,))
PRICED: dict[str, list[Priced]] = {
    "exa": [
        Priced("search", _TEN, "searchType", ("auto", "fast", "neural", "lite", "deep")),
        Priced("search for 20 results", _TWENTY),
        Priced("page, one kind of content", _PAGE),
        Priced("page, all three kinds", PageQuery((_URL,), highlights=True, summary=True)),
    ],
    "kagi": [
        Priced("search", _TEN, "searchApi", ("v1", "v0")),
        Priced("search with the content of 10 pages", _CONTENT),
        Priced("page", _PAGE),
        Priced("summary", SummaryQuery(_URL)),
    ],
    "perplexity": [
        Priced("search", _TEN, "searchType", ("web", "fast")),
        Priced(
            "answer from 24,000 characters",
            _ANSWER,
            "synthesisPreset",
            ("fast", "low", "medium", "high"),
        ),
    ],
    "tavily": [
        Priced("search", _TEN, "searchDepth", ("basic", "fast", "ultra-fast", "advanced")),
        Priced("up to 5 pages", _PAGE, "extractDepth", ("basic", "advanced")),
    ],
    "serper": [Priced("search", _TEN), Priced("search for more than 10 results", _TWENTY)],
    "firecrawl": [
        Priced("search", _TEN),
        Priced("search for 20 results", _TWENTY),
        Priced("search with the content of 10 pages", _CONTENT),
        Priced("page", _PAGE),
    ],
    "linkup": [Priced("search", _TEN, "depth", ("flash", "fast", "standard", "deep"))],
    "parallel": [
        Priced("search", _TEN, "mode", ("turbo", "fast", "basic", "advanced")),
        Priced("search for 20 results, `advanced`", _TWENTY),
        Priced("page", _PAGE),
    ],
    "context7": [Priced("look-up beyond your plan", DocsQuery("q", 5))],
}
_FLAT: dict[Capability, Priced] = {
    "search": Priced("search", _TEN),
    "fetch": Priced("page", _PAGE),
}


def prices(name: str) -> str:
    """Write the most that calls cost."""
    flat = [_FLAT[able] for able in PROVIDERS[name].capabilities() if able in _FLAT]
    rows = (row for case in PRICED.get(name, flat) for row in _price_rows(name, case))
    return table(("Call", "USD at most"), rows)


def _price_rows(name: str, case: Priced) -> Iterator[Row]:
    """Yield a row for each price, with the values of the option that lead to it."""
    values: dict[str, list[str]] = {}
    for value in case.values or ("",):
        options = {case.option: value} if value else {}
        price = usd(PROVIDERS[name].worst_cost(case.query, _account(name, **options)))
        values.setdefault(price, []).append(f"`{value}`")
    for price, words in values.items():
        title = f"{case.title}, {listed(words)}" if case.option else case.title
        yield [title, price]
