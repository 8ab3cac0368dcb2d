"""What is known of a tool, a setting or a provider is declared once; the rest follows."""

from __future__ import annotations

import inspect
import json
import subprocess
import sys
from typing import Any, get_args

import pytest

from webtools import ConfigError, WebTools
from webtools._internal.late_imports import resolve
from webtools.choices import Capability
from webtools.config import Config
from webtools.config.config_models import ClientArguments, KeywordSettings, TopLevel
from webtools.config.environment import SETTINGS
from webtools.mcp.listing import describe
from webtools.providers import PROVIDERS
from webtools.tools import ALL_TOOLS, Tool
from webtools_sandbox import SandboxServer

UNUSED_BY_A_SEARCH = (
    "webtools._internal.display.drawing",
    "webtools._internal.display.plots",
    "webtools._internal.display.terminal",
    "webtools._internal.grounding",
    "webtools._internal.operations.fetch",
    "webtools._internal.operations.research",
    "webtools._internal.pages.",
    "webtools._internal.session",
    "webtools.native",
    "webtools.providers.browser",
    "webtools.providers.direct",
    "webtools.results.research_models",
    "webtools.results.session_models",
)
ONE_SEARCH = """
import json, sys
from webtools import WebTools
with WebTools(json.loads(sys.argv[1])) as web:
    assert web.search("read json", limit=2).results
print(*sys.modules, sep="\\n")
"""


@pytest.mark.parametrize("tool", ALL_TOOLS.values(), ids=str)
def test_a_tool_names_what_serves_it(tool: Tool) -> None:
    assert inspect.iscoroutinefunction(resolve(tool.operation))
    assert inspect.iscoroutinefunction(resolve(tool.presenter))
    assert set(tool.capabilities) <= set(get_args(Capability))
    assert callable(getattr(WebTools, tool.method))
    assert callable(getattr(WebTools, f"a{tool.method}"))
    listed = describe(tool)
    assert listed.annotations is not None
    assert listed.annotations.title == tool.title != ""


def test_the_details_of_a_tool_can_be_told_from_those_of_others() -> None:
    for tool in ALL_TOOLS.values():
        owners = [
            other.name
            for other in ALL_TOOLS.values()
            if tool.details_key in resolve(other.details).model_fields
        ]
        assert owners == [tool.name]
        assert issubclass(resolve(tool.details), resolve(tool.response))


def test_a_search_imports_only_what_it_needs(webtools_sandbox: SandboxServer) -> None:
    config = {**webtools_sandbox.config(), "log": {"enabled": False}, "cache": {"enabled": False}}
    config["providers"] = [item for item in config["providers"] if item["type"] == "exa"]
    config["defaultProvider"] = config["providers"][0]["name"]
    arguments = [sys.executable, "-c", ONE_SEARCH, json.dumps(config)]
    names = subprocess.run(arguments, check=True, capture_output=True, text=True).stdout.split()
    assert "webtools.providers.exa" in names
    assert [name for name in names if name.startswith(UNUSED_BY_A_SEARCH)] == []


def test_each_setting_is_an_argument_of_the_constructor() -> None:
    written = inspect.signature(WebTools).parameters
    assert set(KeywordSettings.__annotations__) == set(TopLevel.model_fields)
    assert set(written) - {"unknown"} == set(ClientArguments.__annotations__)
    documented = inspect.cleandoc(WebTools.__doc__ or "").split("Args:")[1]
    assert [name for name in ClientArguments.__annotations__ if f"{name}: " not in documented] == []


@pytest.mark.parametrize("name", KeywordSettings.__annotations__)
def test_each_setting_of_the_constructor_is_read(name: str) -> None:
    make: Any = WebTools
    with pytest.raises(ConfigError, match=name):
        make(**{name: object()})


def test_a_variable_sets_one_setting() -> None:
    places = [(setting.part, setting.name) for setting in SETTINGS.values()]
    assert len(places) == len(set(places))


@pytest.mark.parametrize("kind", PROVIDERS)
def test_an_entry_without_a_key_names_the_page_for_one(kind: str) -> None:
    about = PROVIDERS[kind].about
    assert bool(about.key_url) == bool(about.key_variables and not about.url_variables)
    if about.needs_key:
        with pytest.raises(ConfigError, match="apiKey is missing") as caught:
            Config.model_validate({"providers": [{"name": "mine", "type": kind}]})
        assert about.key_url in str(caught.value)
