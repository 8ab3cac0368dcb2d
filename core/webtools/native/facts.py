"""What the search of each vendor serves, by route and model, with date and source.

Only what a source states is listed: a route, a model or a filter that is missing is not served.
"""

from __future__ import annotations

import re
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import date
from typing import Literal, TypeAlias

Vendor: TypeAlias = Literal["openai", "anthropic", "google", "xai", "groq", "perplexity"]
MAX_AGE_DAYS = 200
"""Facts that are older than this should be checked again."""


@dataclass(frozen=True, slots=True)
class Route:
    """Where a model is called.

    Attributes:
        base_url: Base URL that the client uses, such as `https://api.openai.com/v1`.
        api: Name of the API: `responses`, `messages` or `generateContent`.
        model: Name of the model.
        reasoning_effort: Requested reasoning effort, such as `minimal`; "" for the default.
        has_functions: Whether the request also has function tools.
    """

    base_url: str
    api: str
    model: str
    reasoning_effort: str = ""
    has_functions: bool = False


@dataclass(frozen=True, slots=True)
class Facts:
    """What the search of a vendor serves on one route for some models.

    Attributes:
        vendor: The vendor.
        api: Name of the API.
        base_urls: The base URLs of the route, without a final slash.
        models: Names of the models, without the date of a snapshot.
        usd_per_search: Price of a search in USD, without tokens.
        read_on: Day on which the source was read.
        source: Where the facts are from, with the version.
        unconfirmed: What the sources do not confirm, or "".
        tool: Type of the tool in a request; "" if webtools only reads the responses.
        filters: Arguments of `web_search` that the vendor applies.
        max_domains: Maximum number of domains in a list, or None if no maximum is documented.
        takes_both_lists: Whether domains can be included and excluded in one request.
        has_cap: Whether a request can limit the number of searches.
        charges_by: What the price is for: each search, or each response with a search.
        refused_efforts: Reasoning efforts with which the models do not search.
        beside_functions: Whether the search works beside function tools: "works", with a
            parameter of the request ("parameter"), or not ("refused").
    """

    vendor: Vendor
    api: str
    base_urls: tuple[str, ...]
    models: tuple[str, ...]
    usd_per_search: float
    read_on: date
    source: str
    unconfirmed: str = ""
    tool: str = ""
    filters: frozenset[str] = frozenset()
    max_domains: int | None = None
    takes_both_lists: bool = False
    has_cap: bool = False
    charges_by: Literal["search", "response"] = "search"
    refused_efforts: tuple[str, ...] = ()
    beside_functions: Literal["works", "parameter", "refused"] = "works"

    def has_model(self, model: str) -> bool:
        """Return whether a model, or a dated snapshot of it, is listed."""
        name = model.removeprefix("models/") if self.vendor == "google" else model
        return _SNAPSHOT.sub("", name) in self.models

    def has_base_url(self, base_url: str) -> bool:
        """Return whether this is the vendor's own URL."""
        return base_url.rstrip("/") in self.base_urls


_SNAPSHOT = re.compile(r"-(?:20\d{6}|20\d\d-\d\d-\d\d)$", re.ASCII)
_DAY = date(2026, 11, 26)
_PRICES = "LiteLLM 1.110.2, model_prices_and_context_window.json"
_OPENAI = ("https://api.openai.com/v1",)
_GOOGLE = (
    "https://generativelanguage.googleapis.com",
    "https://generativelanguage.googleapis.com/v1beta",
)
_COUNTRY_AND_INCLUDED = frozenset({"include_domains", "country"})
_DATES = frozenset({"start_published_date", "end_published_date"})

FACTS: tuple[Facts, ...] = (
    Facts(
        vendor="openai",
        api="responses",
        base_urls=_OPENAI,
        models=(
            "gpt-6-astra",
            "gpt-6-sol",
            "gpt-6-luna",
            "gpt-6.1-sol",
            "gpt-6.1-terra",
            "gpt-5.6",
            "gpt-5.6-sol",
            "gpt-5.6-terra",
            "gpt-5.6-luna",
            "gpt-5.5",
            "gpt-5.5-pro",
            "gpt-5.4-mini",
            "gpt-5.4-nano",
            "gpt-5.4-pro",
            "gpt-5.2",
            "gpt-5.2-pro",
            "gpt-5.1",
            "gpt-5",
            "gpt-5-mini",
            "gpt-5-nano",
            "gpt-5-pro",
            "o3",
            "o3-pro",
        ),
        usd_per_search=0.01,
        read_on=_DAY,
        source=f"openai 3.57.0, WebSearchToolParam; {_PRICES}",
        tool="web_search",
        filters=_COUNTRY_AND_INCLUDED,
        max_domains=100,
        refused_efforts=("minimal",),
    ),
    Facts(
        vendor="openai",
        api="responses",
        base_urls=_OPENAI,
        models=("gpt-4.1", "gpt-4.1-mini"),
        usd_per_search=0.025,
        read_on=_DAY,
        source=f"openai 3.57.0, WebSearchToolParam; {_PRICES}",
        tool="web_search",
        filters=_COUNTRY_AND_INCLUDED,
        max_domains=100,
    ),
    Facts(
        vendor="anthropic",
        api="messages",
        base_urls=("https://api.anthropic.com",),
        models=(
            "claude-haiku-4-5",
            "claude-haiku-5-5",
            "claude-sonnet-4-5",
            "claude-sonnet-4-6",
            "claude-sonnet-5",
            "claude-sonnet-5-5",
            "claude-opus-4-5",
            "claude-opus-4-6",
            "claude-opus-4-7",
            "claude-opus-4-8",
            "claude-opus-5",
            "claude-opus-5-5",
            "claude-fable-5",
            "claude-fable-5-1",
        ),
        usd_per_search=0.01,
        read_on=_DAY,
        source=f"anthropic 2.14.0, WebSearchTool20250305Param; {_PRICES}",
        tool="web_search_20250305",
        filters=_COUNTRY_AND_INCLUDED | {"exclude_domains"},
        has_cap=True,
    ),
    Facts(
        vendor="google",
        api="generateContent",
        base_urls=_GOOGLE,
        models=(
            "gemini-4-argon",
            "gemini-4-hydrogen",
            "gemini-3.8-flash",
            "gemini-3.7-flash",
            "gemini-3.6-flash",
            "gemini-3.5-flash",
            "gemini-3.5-flash-lite",
            "gemini-3.1-pro-preview",
            "gemini-3.1-flash-lite",
            "gemini-3-flash-preview",
        ),
        usd_per_search=0.014,
        read_on=_DAY,
        source=f"google-genai 3.6.1, GoogleSearch; {_PRICES}",
        tool="google_search",
        filters=_DATES,
        beside_functions="parameter",
    ),
    Facts(
        vendor="google",
        api="generateContent",
        base_urls=_GOOGLE,
        models=("gemini-2.5-pro", "gemini-2.5-flash", "gemini-2.5-flash-lite"),
        usd_per_search=0.035,
        read_on=_DAY,
        source=f"google-genai 3.6.1, GoogleSearch; {_PRICES}",
        tool="google_search",
        filters=_DATES,
        charges_by="response",
        beside_functions="refused",
    ),
    Facts(
        vendor="xai",
        api="responses",
        base_urls=("https://api.x.ai/v1",),
        models=(),
        usd_per_search=0.005,
        read_on=_DAY,
        source="xai-sdk 1.21.0; https://docs.x.ai/developers/pricing",
    ),
    Facts(
        vendor="groq",
        api="chat/completions",
        base_urls=("https://api.groq.com/openai/v1",),
        models=(),
        usd_per_search=0.005,
        read_on=_DAY,
        source=f"groq 1.7.0; {_PRICES}",
        unconfirmed="the price for groq/compound; this is that of gpt-oss",
    ),
    Facts(
        vendor="perplexity",
        api="agent",
        base_urls=("https://api.perplexity.ai/v1",),
        models=(),
        usd_per_search=0.005,
        read_on=_DAY,
        source="https://docs.perplexity.ai/docs/getting-started/pricing (Agent API)",
        unconfirmed="the price: copies of the page differ, 0.0025 or 0.005; this is the dearer one",
    ),
)
"""The table. Rows without `tool` are for reading responses only."""


_stand_ins: list[Facts] = []


@contextmanager
def stand_in(vendor: Vendor, base_url: str) -> Generator[None]:
    """Treat a base URL as that of a vendor, for tests and demos without the vendor."""
    rows = [
        replace(facts, base_urls=(base_url.rstrip("/"),))
        for facts in FACTS
        if facts.vendor == vendor
    ]
    _stand_ins.extend(rows)
    try:
        yield
    finally:
        for facts in rows:
            _stand_ins.remove(facts)


def find_facts(route: Route) -> Facts | str:
    """Return the facts of a route, or why it has no facts."""
    table = (*FACTS, *_stand_ins)
    rows = [facts for facts in table if facts.has_base_url(route.base_url)]
    if not rows:
        return "the base URL is not one of a vendor in the table"
    if not (rows := [facts for facts in rows if facts.api == route.api]):
        return f"the search of this vendor is not known for the API {route.api!r}"
    if not rows[0].tool:
        return f"webtools reads what {rows[0].vendor} searched, but does not request it"
    served = [facts for facts in rows if facts.has_model(route.model)]
    return served[0] if served else f"the search of the model {route.model!r} is not known"


def search_cost(vendor: str, model: str, searches: int) -> float | None:
    """Return what the searches of a response cost in USD by the table, or None if unknown.

    The price of an unknown model is the vendor's highest.
    """
    rows = [facts for facts in FACTS if facts.vendor == vendor]
    exact = [facts for facts in rows if facts.has_model(model)]
    row = max(exact or rows, key=lambda facts: facts.usd_per_search, default=None)
    if row is None:
        return None
    charged = min(searches, 1) if row.charges_by == "response" else searches
    return round(charged * row.usd_per_search, 6)


def is_old(read_on: date, today: date) -> bool:
    """Return whether facts should be checked again."""
    return (today - read_on).days > MAX_AGE_DAYS
