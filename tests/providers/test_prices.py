"""Worst-case prices: the budget never reserves less than a response costs."""

from __future__ import annotations

from typing import Any

import offline
import pytest
from offline import answer
from playing import Play, plays
from recording import SCENARIOS

from webtools.messages import Response
from webtools.providers import PROVIDERS, Account, exa, kagi, perplexity
from webtools.providers.protocols import (
    Cost,
    DocsCall,
    DocsQuery,
    PageQuery,
    Query,
    SearchQuery,
    Source,
    SummaryQuery,
    SynthesisQuery,
)

URLS = ("https://a.example/1", "https://b.example/2", "https://c.example/3")
SYNTHESIS = SynthesisQuery("q", (Source(1, "A", URLS[0], "text " * 500),))
QUERIES: dict[str, Query] = {
    "search": SearchQuery("q", 5),
    "fetch": PageQuery(URLS),
    "summarize": SummaryQuery(URLS[0]),
    "docs": DocsQuery("q", 5),
    "synthesize": SYNTHESIS,
}


def worst(account: Account, query: Query) -> float:
    return PROVIDERS[account.type].worst_cost(query, account)


def with_options(kind: str, **options: Any) -> Account:
    return offline.account(kind, options=options)


# --- every provider ----------------------------------------------------------------------------


@pytest.mark.parametrize("kind", PROVIDERS)
@pytest.mark.parametrize("able", QUERIES)
def test_a_provider_has_a_price_for_what_it_can_do_and_for_nothing_else(
    kind: str, able: Any
) -> None:
    account = offline.account(kind)
    is_free = kind in {"direct", "browser", "searxng", "wikipedia"}
    query = QUERIES[able]
    if PROVIDERS[kind].can(able):
        price = worst(account, query)
        assert 0 <= price < 0.5
        assert (price == 0) == is_free
    else:
        with pytest.raises(TypeError, match=rf"^{kind} takes no {type(query).__name__}$"):
            worst(account, query)


# --- Exa ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("search_type", "limit", "extra"),
    [
        ("auto", 1, 0),
        ("auto", 10, 0),
        ("auto", 11, 1),
        ("fast", 100, 90),
        ("lite", 5, 0),
        ("deep", 12, 2),
        ("neural", 5, 0),
    ],
)
def test_exa_prices_a_search_by_type_and_by_results_above_ten(
    search_type: str, limit: int, extra: int
) -> None:
    prices = exa.ABOUT.prices
    price = round(prices[search_type] + extra * prices["extra result"], 6)
    account = with_options("exa", searchType=search_type)
    query = SearchQuery("q", limit)
    assert worst(account, query) == price
    items = [{"url": f"https://a.example/{i}"} for i in range(limit)]
    hits = exa.read_search(answer({"results": items}), query, account)
    assert hits.cost == Cost(price, is_estimate=True)


@pytest.mark.parametrize(
    ("options", "kinds"),
    [
        ({}, 1),
        ({"highlights": True}, 2),
        ({"highlights": True, "summary": True}, 3),
        ({"text": False, "summary": True}, 1),
        ({"text": False}, 1),
    ],
)
def test_exa_prices_pages_by_the_kinds_of_content(options: Any, kinds: int) -> None:
    price = round(len(URLS) * kinds * exa.ABOUT.prices["content"], 6)
    query = PageQuery(URLS, **options)
    account = offline.account("exa")
    assert worst(account, query) == price
    items = [{"id": url, "url": url, "text": "x"} for url in URLS]
    pages = exa.read_pages(answer({"results": items}), query, account)
    assert pages.cost == Cost(price, is_estimate=True)


# --- Kagi --------------------------------------------------------------------------------------


@pytest.mark.parametrize("api", ["v1", "v0"])
@pytest.mark.parametrize("limit", [1, 1024])
def test_kagi_prices_a_search_by_the_generation_of_its_api(api: str, limit: int) -> None:
    account = with_options("kagi", searchApi=api)
    assert worst(account, SearchQuery("q", limit)) == kagi.ABOUT.prices[api]


@pytest.mark.parametrize(
    ("engine", "maximum", "short"),
    [("cecil", 0.3, 0.03), ("agnes", 0.3, 0.03), ("muriel", 1.0, 1.0)],
)
def test_kagi_prices_a_summary_by_the_tokens_it_bills_at_most(
    engine: str, maximum: float, short: float
) -> None:
    account, query = offline.account("kagi"), SummaryQuery(URLS[0], engine=engine)
    assert worst(account, query) == maximum
    for tokens, price in [(1000, short), (10_000, maximum), (10**9, maximum)]:
        response = answer({"data": {"output": "x", "tokens": tokens}})
        result = kagi.read_summary(response, query, account)
        assert result.cost == Cost(price, is_estimate=True)


# --- Brave, Perplexity, Context7, direct -------------------------------------------------------


@pytest.mark.parametrize("search_type", ["web", "fast"])
def test_perplexity_prices_a_search_by_its_type(search_type: str) -> None:
    price = perplexity.ABOUT.prices[search_type]
    account = with_options("perplexity", searchType=search_type)
    query = SearchQuery("q", 20)
    assert worst(account, query) == price
    hits = perplexity.read_search(answer({"results": []}), query, account)
    assert hits.cost == Cost(price, is_estimate=True)


def test_perplexity_prices_a_synthesis_by_the_bytes_of_its_sources() -> None:
    account = offline.account("perplexity")

    def priced(text: str) -> float:
        return worst(account, SynthesisQuery("q", (Source(1, "A", URLS[0], text),)))

    empty = priced("")
    assert 0.02 < empty < 0.03
    assert priced("x" * 1_000_000) == pytest.approx(empty + 0.125, abs=1e-4)
    assert priced("字" * 1_000_000) == pytest.approx(empty + 0.375, abs=1e-4)


def test_context7_can_bill_those_with_a_key_alone() -> None:
    assert worst(offline.account("context7"), DocsQuery("q", 5)) == 0.02
    keyless = offline.accounts({"name": "c", "type": "context7"}).accounts[0]
    assert worst(keyless, DocsQuery("q", 5)) == 0.0


# --- recorded answers --------------------------------------------------------------------------


def watched(kind: str, monkeypatch: pytest.MonkeyPatch) -> list[tuple[Query, Account, Cost]]:
    """Return a list that takes down what every answer of a provider cost, as its reader tells."""
    costs: list[tuple[Query, Account, Cost]] = []
    module: Any = PROVIDERS[kind].provider

    def watch(reader: Any) -> Any:
        def read(response: Response, query: Query, account: Account) -> Any:
            result = reader(response, query, account)
            costs.append((query, account, result.cost))
            return result

        return read

    async def look_up(query: Query, account: Account, call: DocsCall) -> Any:
        result = await lookup(query, account, call)
        costs.append((query, account, result.cost))
        return result

    for name in ("read_search", "read_pages", "read_summary", "read_synthesis"):
        if hasattr(module, name):
            monkeypatch.setattr(module, name, watch(getattr(module, name)))
    if lookup := getattr(module, "lookup", None):
        monkeypatch.setattr(module, "lookup", look_up)
    return costs


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(scenario, marks=plays(scenario))
        for scenario in SCENARIOS
        if not SCENARIOS[scenario].fails
    ],
)
def test_no_recorded_answer_costs_more_than_the_worst_price(
    name: str, play: Play, monkeypatch: pytest.MonkeyPatch
) -> None:
    costs = watched(SCENARIOS[name].provider, monkeypatch)
    play()
    assert costs
    for query, account, cost in costs:
        assert cost.usd <= worst(account, query), query
