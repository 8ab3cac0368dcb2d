"""Every provider killed in turn, in every way, for every command: the next one serves."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from webtools import ProviderError, RequestError, ResearchEnvelope, WebTools
from webtools._internal.pipeline import retries
from webtools.choices import Command
from webtools.errors import WebToolsError
from webtools_sandbox import SandboxServer

QUERY = "python asyncio cancel task"
CHAINS: dict[Command, list[str]] = {
    "web": ["exa", "brave"],
    "web-deep": ["exa", "brave"],
    "web-news": ["exa", "brave"],
    "web-docs": ["context7", "exa", "brave"],
}
QUERIES: dict[Command, str] = {
    "web": "heap queue",
    "web-deep": "heap queue",
    "web-news": "python",
    "web-docs": QUERY,
}
WAYS: dict[str, dict[str, Any]] = {
    "401": {"status": 401},
    "402": {"status": 402},
    "429": {"status": 429},
    "429 with Retry-After": {"status": 429, "retry_after": 120},
    "500": {"status": 500},
    "503": {"status": 503},
    "reset": {"reset": True},
    "timeout": {"delay": 300.0},
    "HTML": {"body": "html"},
    "cut JSON": {"body": "cut"},
    "empty body": {"body": "empty"},
}
EMPTY: dict[str, dict[str, Any]] = {
    "exa": {"body": {"results": []}},
    "brave": {"body": {"type": "search", "results": [], "web": {"results": []}, "grounding": {}}},
    "context7": {"body": {"results": []}},
}


@pytest.fixture
def settings(webtools_sandbox: SandboxServer, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    monkeypatch.setattr(retries, "FIRST_DELAY", 0.0)
    return webtools_sandbox.config()


def hurry(settings: dict[str, Any], *names: str) -> None:
    """Leave these providers little time; the others have what a busy machine needs."""
    for entry in settings["providers"]:
        if entry["name"] in names:
            entry["timeoutMs"] = 1000  # of which the search of a reader needs little


def research(web: WebTools, command: Command, **options: Any) -> ResearchEnvelope:
    return web.research(QUERIES[command], command=command, recency_days=3650, **options)


@pytest.mark.parametrize("command", CHAINS)
def test_the_first_of_the_chain_serves(web: WebTools, command: Command) -> None:
    response = research(web, command)
    assert response.meta.provider_chain == CHAINS[command]
    assert response.meta.provider_used == CHAINS[command][0]
    assert response.meta.degraded == []
    assert {result.source_provider for result in response.results} == {CHAINS[command][0]}


@pytest.mark.parametrize(
    ("command", "victim", "way"),
    [(command, chain[0], way) for command, chain in CHAINS.items() for way in WAYS]
    + [(command, name, "500") for command, chain in CHAINS.items() for name in chain[1:]],
)
def test_the_next_provider_serves_if_one_fails(
    settings: dict[str, Any],
    webtools_sandbox: SandboxServer,
    command: Command,
    victim: str,
    way: str,
) -> None:
    webtools_sandbox.fault(provider=victim, times=None, **WAYS[way])
    if way == "timeout":
        hurry(settings, victim)
    with WebTools(settings) as web:
        response = research(web, command)
    chain = CHAINS[command]
    is_first = victim == chain[0]
    assert response.meta.provider_used == chain[is_first]
    assert response.meta.degraded == ([victim] if is_first else [])
    assert any(f'"{victim}"' in warning for warning in response.meta.warnings) == is_first
    assert response.results
    assert {result.source_provider for result in response.results} == {chain[is_first]}


@pytest.mark.parametrize("command", CHAINS)
def test_an_empty_result_leads_to_the_next_provider_and_is_not_degraded(
    web: WebTools, webtools_sandbox: SandboxServer, command: Command
) -> None:
    first, second, *_ = CHAINS[command]
    webtools_sandbox.fault(provider=first, times=None, **EMPTY[first])
    result = research(web, command)
    assert result.meta.provider_used == second
    assert result.meta.degraded == (["exa"] if command == "web-deep" else [])  # it read no page
    assert any(f'"{first}"' in warning for warning in result.meta.warnings)


@pytest.mark.parametrize("command", CHAINS)
def test_a_chain_without_results_returns_none(
    web: WebTools, webtools_sandbox: SandboxServer, command: Command
) -> None:
    *failing, last = CHAINS[command]
    for name in failing:
        webtools_sandbox.fault(provider=name, times=None, status=500)
    webtools_sandbox.fault(provider=last, times=None, **EMPTY[last])
    result = research(web, command)
    assert (result.results, result.synthesis, result.meta.provider_used) == ([], None, None)
    assert result.meta.degraded == failing
    assert result.meta.confidence == "low"


@pytest.mark.parametrize("way", WAYS)
def test_the_error_of_a_chain_names_each_provider(
    settings: dict[str, Any], webtools_sandbox: SandboxServer, way: str
) -> None:
    webtools_sandbox.fault(times=None, **WAYS[way])
    if way == "timeout":
        hurry(settings, "exa", "brave", "context7")
    web = WebTools(settings)
    errors: list[WebToolsError] = []
    with pytest.raises((ProviderError, RequestError)) as failed:
        research(web, "web")
    errors.append(failed.value)
    result = asyncio.run(web.acall_tool("web_research", {"query": "json", "command": "web-docs"}))
    assert result.is_error
    assert re.search(r"\bexa(, brave)?: ", str(failed.value))
    assert "brave: " in str(failed.value)


@pytest.mark.parametrize("command", ["web", "web-deep", "web-news"])
def test_a_provider_that_does_not_accept_the_query_is_replaced(
    settings: dict[str, Any], webtools_sandbox: SandboxServer, command: Command
) -> None:
    chain = {"chain": {command: ["brave", "exa"]}}
    with WebTools({**settings, "research": chain}) as web:
        question = f"{QUERIES[command]} " * 60
        result = web.research(question, command=command, recency_days=3650)
    assert (result.meta.provider_used, result.meta.degraded) == ("exa", ["brave"])
    assert result.results
    assert any(re.match(r'"brave".*\b400\b.*\b50\b', warning) for warning in result.meta.warnings)
    assert not [path for path in webtools_sandbox.stats()["requests"] if "/res/v1" in path]


# --- the others: a configured chain, who reads, who writes --------------------------------------

FAULTS = WAYS
DEEP = "how does a heap queue keep its smallest item first"


def _research_with_fallback(
    settings: dict[str, Any], command: Command, victim: str, way: str, **options: Any
) -> ResearchEnvelope:
    if way == "timeout":
        hurry(settings, victim)
    with WebTools(settings) as web:
        return web.research(DEEP, command=command, **options)


@pytest.mark.parametrize("way", FAULTS)
def test_a_failing_perplexity_as_synthesizer_is_replaced(
    settings: dict[str, Any], webtools_sandbox: SandboxServer, way: str
) -> None:
    webtools_sandbox.fault(provider="perplexity", times=None, **FAULTS[way])
    result = _research_with_fallback(
        settings, "web-deep", "perplexity", way, synthesis="perplexity"
    )
    assert (result.meta.provider_used, result.meta.degraded) == ("exa", ["perplexity"])
    assert len(result.results) == 5
    assert result.synthesis is not None  # sentences of the sources
    [warning] = [item for item in result.meta.warnings if item.startswith('"perplexity"')]
    cause = warning.partition(": ")[2]
    assert sum(cause in item for item in result.meta.warnings) == 1


@pytest.mark.parametrize("way", FAULTS)
def test_a_failing_exa_as_reader_is_replaced(
    settings: dict[str, Any], webtools_sandbox: SandboxServer, way: str
) -> None:
    settings = _with_own_reader(settings, webtools_sandbox)
    webtools_sandbox.fault(path="/contents", times=None, **FAULTS[way])
    result = _research_with_fallback(settings, "web-deep", "exa", way)
    assert (result.meta.provider_used, result.meta.degraded) == ("exa", ["exa"])
    assert len(result.results) == 5
    assert result.synthesis is not None
    assert any(warning.startswith('"own reader"') for warning in result.meta.warnings)


@pytest.mark.parametrize("way", [way for way in FAULTS if way != "HTML"])  # which a page is
def test_pages_that_a_direct_reader_cannot_read_keep_their_snippets(
    settings: dict[str, Any], webtools_sandbox: SandboxServer, way: str
) -> None:
    settings = {**_with_own_reader(settings, webtools_sandbox), "defaultProvider": "own reader"}
    webtools_sandbox.fault(provider="pages", times=None, **FAULTS[way])
    result = _research_with_fallback(settings, "web-deep", "own reader", way)
    assert result.meta.provider_used == "exa"
    assert len(result.results) == 5
    assert result.meta.degraded == ["own reader"]
    assert any("snippet" in item for item in result.meta.warnings)


def _with_own_reader(
    settings: dict[str, Any], sandbox: SandboxServer, hosts: Sequence[str] | None = None
) -> dict[str, Any]:
    """Give Exa a reader beside it that may read the sandbox's pages."""
    if hosts is None:
        hosts = (f"127.0.0.1:{sandbox.port}", f"localhost:{sandbox.port}")
    options = {"allowPrivateHosts": list(hosts)}
    reader = {"name": "own reader", "type": "direct", "options": options}
    entries = [
        {**entry, "fetchFallback": "own reader"} if entry["type"] == "exa" else entry
        for entry in settings["providers"]
    ]
    return {**settings, "providers": [*entries, reader]}


# --- the chain ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("query", "command", "chain"),
    [
        ("heap queue", "web", ["exa", "brave"]),
        ("heap queue api", "web", ["context7", "exa", "brave"]),
        ("heap queue", "web-docs", ["context7", "exa", "brave"]),
        ("library news", "web-news", ["context7", "exa", "brave"]),
    ],
)
def test_documentation_comes_first_for_questions_about_it(
    web: WebTools, query: str, command: Command, chain: list[str]
) -> None:
    assert [step.provider for step in web.plan(query, command=command).chain] == chain


def test_the_settings_may_name_the_chain(settings: dict[str, Any]) -> None:
    research_part = {"chain": {"web": ["kagi", "exa"]}}
    with WebTools({**settings, "research": research_part}) as web:
        result = research(web, "web")
        assert (result.meta.provider_chain, result.meta.provider_used) == (["kagi", "exa"], "kagi")
        assert research(web, "web-news").meta.provider_chain == ["exa", "brave"]


OTHERS = (
    '"exa", "brave", "tavily", "searxng", "serper", "you", "firecrawl", "linkup", '
    '"parallel", "jina-search", "kagi" or "wikipedia"'
)


def error_of(web: WebTools, command: str, query: str = "json") -> str:
    result = web.call_tool("web_research", {"query": query, "command": command})
    assert result.details["error"]["type"] == "ConfigError"
    return result.text


@pytest.mark.parametrize(
    ("command", "query", "types"),
    [
        ("web", "json", OTHERS),
        ("web-news", "json", OTHERS),
        ("web-docs", "json", f'"context7", {OTHERS}'),
        ("web", "json library", f'"context7", {OTHERS}'),
    ],
)
def test_a_file_without_providers_is_answered_with_the_usable_types(
    settings: dict[str, Any], tmp_path: Path, command: str, query: str, types: str
) -> None:
    only = [entry for entry in settings["providers"] if entry["type"] == "perplexity"]
    path = tmp_path / "web-search.json"
    path.write_text(json.dumps({"providers": only}))
    path.chmod(0o600)
    with WebTools(config=str(path)) as web:
        message = error_of(web, command, query)
    assert str(path) in message
    assert f" {types})" in message
