"""Searches without a key: only where asked for, only where nobody else can, and saying who was."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from webtools import WebTools
from webtools.config import Settings
from webtools.errors import ConfigError, UnavailableError
from webtools.pipeline import retries
from webtools.providers import firecrawl, tavily, wikipedia, you
from webtools_sandbox import SandboxServer

NOTICES = [
    f"{title} was asked, without a key: no configured provider can search, and keyless is on."
    for title in ("Tavily", "You.com", "Firecrawl", "Wikipedia")
]


@pytest.fixture(autouse=True)
def sandbox(
    webtools_sandbox: SandboxServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> SandboxServer:
    """Let the sandbox be all those who need no key, for a user who has set up nothing."""
    monkeypatch.setattr(retries, "FIRST_DELAY", 0.0)
    monkeypatch.setenv("HOME", str(tmp_path))
    for module in (tavily, you, firecrawl, wikipedia):
        origin = webtools_sandbox.base_url(module.ABOUT.name)
        monkeypatch.setattr(module, "ABOUT", replace(module.ABOUT, origin=origin))
    return webtools_sandbox


def configured(sandbox: SandboxServer, *names: str, **top: Any) -> Mapping[str, Any]:
    made = sandbox.config()
    entries = [entry for entry in made["providers"] if entry["name"] in names]
    return {**made, "defaultProvider": None, "providers": entries, **top}


def requests(sandbox: SandboxServer) -> list[str]:
    found = list(sandbox.stats()["requests"])
    sandbox.reset_stats()
    return found


# --- asked for ---------------------------------------------------------------------------------


def test_without_a_word_nobody_is_asked_and_the_error_says_the_word(
    sandbox: SandboxServer,
) -> None:
    with WebTools() as web, pytest.raises(ConfigError) as caught:
        web.search("heap queue")
    without_key = str(caught.value).splitlines()[-1]
    assert "WebTools(keyless=True)" in without_key
    assert "Tavily, You.com, Firecrawl and Wikipedia" in without_key
    assert requests(sandbox) == []


def test_the_variable_sends_a_search_to_tavily_and_says_so(
    sandbox: SandboxServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WEB_SEARCH_KEYLESS", "1")
    with WebTools() as web:
        found = web.search("heap queue")
        shown = web.call_tool("web_search", {"queries": ["heap queue"]})
        assert {tool.name for tool in web.tools()} >= {"web_search", "web_research"}
        assert "summarize" not in {tool.name for tool in web.tools()}
    assert {result.source_provider for result in found.results} == {"tavily"}
    assert found.warnings == NOTICES[:1]
    assert (found.cost_usd, [each.provider for each in found.asked]) == (0, ["tavily"])
    assert NOTICES[0] in shown.text
    assert requests(sandbox) == ["/tavily/search"]


@pytest.mark.parametrize(("word", "is_on"), [("TRUE", True), (" 0 ", False), ("maybe", False)])
def test_the_variable_takes_yes_and_no(word: str, is_on: bool) -> None:
    accounts = Settings(environ={"WEB_SEARCH_KEYLESS": word}).accounts()
    assert bool(accounts.stand_ins) == is_on
    odd = ["WEB_SEARCH_KEYLESS is neither 1 nor 0, so it is ignored."]
    assert list(accounts.warnings) == (odd if word == "maybe" else [])


def test_the_caller_s_word_goes_before_that_of_the_settings(sandbox: SandboxServer) -> None:
    on = configured(sandbox, "context7", keyless=True)
    assert WebTools(on).search("heap queue").warnings == NOTICES[:1]
    off = configured(sandbox, "context7")
    assert WebTools(off, keyless=True).search("heap queue").warnings == NOTICES[:1]
    with pytest.raises(ConfigError, match='or set "keyless" to true, which asks Tavily, You'):
        WebTools(on, keyless=False).search("heap queue")
    with pytest.raises(ConfigError, match=r"WebTools\(keyless=True\) .* asks Tavily, You"):
        WebTools().research("heap queue")
    with pytest.raises(ConfigError, match='"keyless": true asks Tavily, You'):
        WebTools({"providers": [{"name": "d", "type": "direct"}]}).research("heap queue")


# --- only where nobody else can ----------------------------------------------------------------


def test_a_configured_provider_that_can_search_is_never_replaced(sandbox: SandboxServer) -> None:
    sandbox.fault(provider="exa", status=402, times=None)
    with (
        WebTools(configured(sandbox, "exa", "context7", keyless=True)) as web,
        pytest.raises(Exception, match="HTTP 402"),
    ):
        web.search("heap queue")
    assert not {"/tavily/search", "/wikipedia/w/api.php"} & {*requests(sandbox)}


def test_research_goes_to_documentation_first_and_then_without_a_key(
    sandbox: SandboxServer,
) -> None:
    with WebTools(configured(sandbox, "context7", keyless=True)) as web:
        plan = web.plan("json decoder", command="web-docs")
        found = web.research("glacier lake")
    assert [step.provider for step in plan.chain] == [
        "context7",
        "tavily",
        "you",
        "firecrawl",
        "wikipedia",
    ]
    assert found.results[0].source_provider == "tavily"
    assert NOTICES[0] in found.meta.warnings
    assert NOTICES[1] not in found.meta.warnings


def test_a_stand_in_can_be_asked_for_by_its_name() -> None:
    with WebTools(keyless=True) as web:
        assert web.search("heap queue", provider="wikipedia").warnings == NOTICES[-1:]
        with pytest.raises(ConfigError, match='known are: "tavily", "you", "firecrawl", "wiki'):
            web.search("heap queue", provider="exa")


# --- put aside ---------------------------------------------------------------------------------


def test_who_answers_429_is_put_aside_for_the_next(sandbox: SandboxServer) -> None:
    sandbox.fault(provider="tavily", status=429, retry_after=600)
    with WebTools(keyless=True) as web:
        first = web.search("heap queue")
        second = web.search("json decoder")
        research = web.research("csv dialects")
    assert first.warnings[-2:] == second.warnings[-2:] == NOTICES[:2]
    assert {result.source_provider for result in (*first.results, *second.results)} == {"you"}
    reason = second.asked[0].reason
    assert reason is not None
    assert reason.startswith("it is skipped until ")
    assert research.results[0].source_provider == "you"
    assert sandbox.stats()["requests"] == {"/tavily/search": 1, "/you/v1/agents/search": 3}


def test_where_all_of_them_are_put_aside_the_error_names_them(sandbox: SandboxServer) -> None:
    for name in ("tavily", "you", "firecrawl", "wikipedia"):
        sandbox.fault(provider=name, status=503, times=None)
    with WebTools(keyless=True) as web, pytest.raises(UnavailableError) as caught:
        web.search("heap queue")
    assert "tavily: Tavily API returned HTTP 503" in str(caught.value)
    assert "wikipedia: Wikipedia API returned HTTP 503" in str(caught.value)
