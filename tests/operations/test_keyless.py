"""Searches without a key: only with the setting, only without another provider, and named."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from webtools import WebTools
from webtools._internal.pipeline import retries
from webtools.config import Settings
from webtools.errors import ConfigError
from webtools.providers import firecrawl, tavily, wikipedia, you
from webtools_sandbox import SandboxServer

TITLES = ["Tavily", "You.com", "Firecrawl", "Wikipedia"]


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
    config = sandbox.config()
    entries = [entry for entry in config["providers"] if entry["name"] in names]
    return {**config, "defaultProvider": None, "providers": entries, **top}


def requests(sandbox: SandboxServer) -> list[str]:
    result = list(sandbox.stats()["requests"])
    sandbox.reset_stats()
    return result


def titles(warnings: list[str]) -> list[str]:
    """The providers that the notices about requests without a key name."""
    notices = [warning for warning in warnings if "keyless" in warning]
    return [title for notice in notices for title in TITLES if title in notice]


# --- asked for ---------------------------------------------------------------------------------


def test_without_the_setting_no_request_is_sent_and_the_error_names_it(
    sandbox: SandboxServer,
) -> None:
    with WebTools() as web, pytest.raises(ConfigError) as caught:
        web.search("heap queue")
    without_key = str(caught.value).splitlines()[-1]
    assert "WebTools(keyless=True)" in without_key
    assert all(title in without_key for title in TITLES)
    assert requests(sandbox) == []


def test_the_variable_sends_a_search_to_tavily_with_a_warning(
    sandbox: SandboxServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WEB_SEARCH_KEYLESS", "1")
    with WebTools() as web:
        response = web.search("heap queue")
        shown = web.call_tool("web_search", {"queries": ["heap queue"]})
        assert {tool.name for tool in web.tools()} >= {"web_search", "web_research"}
        assert "summarize" not in {tool.name for tool in web.tools()}
    assert {result.source_provider for result in response.results} == {"tavily"}
    assert titles(response.warnings) == ["Tavily"]
    assert (response.cost_usd, [item.provider for item in response.attempts]) == (0, ["tavily"])
    assert response.warnings[0] in shown.text
    assert requests(sandbox) == ["/tavily/search"]


@pytest.mark.parametrize(("word", "is_on"), [("TRUE", True), (" 0 ", False), ("maybe", False)])
def test_the_variable_takes_yes_and_no(word: str, is_on: bool) -> None:
    accounts = Settings(environ={"WEB_SEARCH_KEYLESS": word}).accounts()
    assert bool(accounts.stand_ins) == is_on
    assert len(accounts.warnings) == (word == "maybe")
    assert all("WEB_SEARCH_KEYLESS" in warning for warning in accounts.warnings)


def test_the_argument_overrides_the_settings(sandbox: SandboxServer) -> None:
    on = configured(sandbox, "context7", keyless=True)
    assert titles(WebTools(on).search("heap queue").warnings) == ["Tavily"]
    off = configured(sandbox, "context7")
    assert titles(WebTools(off, keyless=True).search("heap queue").warnings) == ["Tavily"]
    with pytest.raises(ConfigError, match='"keyless".*Tavily'):
        WebTools(on, keyless=False).search("heap queue")
    with pytest.raises(ConfigError, match=r"WebTools\(keyless=True\).*Tavily"):
        WebTools().research("heap queue")
    with pytest.raises(ConfigError, match='"keyless" to true.*Tavily'):
        WebTools({"providers": [{"name": "d", "type": "direct"}]}).research("heap queue")


# --- only without a provider -------------------------------------------------------------------


def test_a_configured_provider_that_can_search_is_never_replaced(sandbox: SandboxServer) -> None:
    sandbox.fault(provider="exa", status=402, times=None)
    with (
        WebTools(configured(sandbox, "exa", "context7", keyless=True)) as web,
        pytest.raises(Exception, match="HTTP 402"),
    ):
        web.search("heap queue")
    assert not {"/tavily/search", "/wikipedia/w/api.php"} & {*requests(sandbox)}


def test_research_uses_documentation_before_keyless_providers(
    sandbox: SandboxServer,
) -> None:
    with WebTools(configured(sandbox, "context7", keyless=True)) as web:
        plan = web.plan("json decoder", command="web-docs")
        result = web.research("glacier lake")
    assert [step.provider for step in plan.chain] == [
        "context7",
        "tavily",
        "you",
        "firecrawl",
        "wikipedia",
    ]
    assert result.results[0].source_provider == "tavily"
    assert titles(result.meta.warnings) == ["Tavily"]


def test_a_keyless_provider_can_be_chosen_by_name() -> None:
    with WebTools(keyless=True) as web:
        result = web.search("heap queue", provider="wikipedia")
        assert titles(result.warnings) == ["Wikipedia"]
        with pytest.raises(ConfigError, match='"tavily", "you", "firecrawl", "wiki'):
            web.search("heap queue", provider="exa")


# --- put aside ---------------------------------------------------------------------------------


def test_a_rate_limited_keyless_provider_is_skipped(sandbox: SandboxServer) -> None:
    sandbox.fault(provider="tavily", status=429, retry_after=600)
    with WebTools(keyless=True) as web:
        first = web.search("heap queue")
        second = web.search("json decoder")
        research = web.research("csv dialects")
    assert titles(first.warnings[-2:]) == titles(second.warnings[-2:]) == TITLES[:2]
    assert {result.source_provider for result in (*first.results, *second.results)} == {"you"}
    assert second.attempts[0].reason
    assert research.results[0].source_provider == "you"
    assert sandbox.stats()["requests"] == {"/tavily/search": 1, "/you/v1/agents/search": 3}
