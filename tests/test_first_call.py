"""What developers see before they have configured anything, and how adapters take settings."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from langchain_webtools import (
    SummarizeTool,
    WebPageLoader,
    WebReadTool,
    WebSearchRetriever,
    WebSearchTool,
    WebToolkit,
)
from llamaindex_webtools import (
    FetchPagePostprocessor,
    WebPageReader,
    WebRetriever,
    WebToolsSpec,
    web_read_tool,
    web_search_tool,
)
from webtools import ConfigError, InputError, WebTools
from webtools.config.environment import variables
from webtools.providers import PROVIDERS

KEYS = {"exa": "test-key-in-code-0001"}


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user with neither a config file nor a key."""
    for name in [*variables(), "WEBTOOLS_CONFIG"]:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return tmp_path


# --- nothing is configured ---------------------------------------------------------------------


@pytest.mark.parametrize(
    "build",
    [
        WebToolkit,
        WebSearchTool,
        SummarizeTool,
        WebToolsSpec,
        web_search_tool,
        WebSearchRetriever,
        WebRetriever,
    ],
)
def test_tools_and_retrievers_built_without_any_key_warn_the_developer(
    build: Callable[[], Any],
) -> None:
    with pytest.warns(UserWarning, match="KAGI_API_KEY") as caught:
        build()
    [warning] = caught
    assert "webtools config init" in str(warning.message)
    assert warning.filename == __file__


def test_a_toolkit_warns_once_for_all_its_tools() -> None:
    with pytest.warns(UserWarning, match="KAGI_API_KEY") as caught:
        WebToolkit().get_tools()
    assert len(caught) == 1


@pytest.mark.parametrize(
    "build",
    [
        WebReadTool,
        web_read_tool,
        lambda: WebToolkit(api_keys=KEYS),
        lambda: WebToolkit(keyless=True),
        lambda: WebToolsSpec(api_keys=KEYS),
        lambda: WebSearchTool(api_keys=KEYS),
        lambda: web_search_tool(api_keys=KEYS),
        lambda: WebSearchRetriever(api_keys=KEYS),
        lambda: WebRetriever(api_keys=KEYS),
    ],
)
def test_tools_that_can_be_served_do_not_warn(build: Callable[[], Any]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        build()


def test_a_plugin_that_cannot_be_loaded_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    info = tmp_path / "webtools_heron-1.0.dist-info"
    info.mkdir()
    info.joinpath("METADATA").write_text(
        "Metadata-Version: 2.1\nName: webtools-heron\nVersion: 1\n"
    )
    info.joinpath("entry_points.txt").write_text("[webtools.providers]\nheron = webtools_heron\n")
    tmp_path.joinpath("webtools_heron.py").write_text("1 / 0\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(PROVIDERS, "_entry_points", None)
    monkeypatch.setattr(PROVIDERS, "_broken", None)
    monkeypatch.setenv("HERON_API_KEY", "test-key-heron-0001")
    with pytest.raises(ConfigError) as caught:
        WebTools().search("match")
    assert "webtools-heron" in str(caught.value)
    assert "ZeroDivisionError" in str(caught.value)


# --- settings through the adapters -------------------------------------------------------------


def exa(requests: list[httpx.Request]) -> httpx.MockTransport:
    def answer(request: httpx.Request) -> httpx.Response:
        requests.append(request)
        return httpx.Response(200, json={"results": []})

    return httpx.MockTransport(answer)


@pytest.mark.parametrize("make", [WebToolkit, WebToolsSpec])
def test_a_toolkit_and_a_spec_take_the_arguments_of_the_client(make: Callable[..., Any]) -> None:
    requests: list[httpx.Request] = []
    tools = make(api_keys=KEYS, max_results=3, cache=False, transport=exa(requests))
    tools.web.search("match")
    assert requests[0].headers["x-api-key"] == KEYS["exa"]
    assert b'"numResults":3' in requests[0].content.replace(b" ", b"")


@pytest.mark.parametrize(
    "make",
    [
        WebSearchTool,
        WebSearchRetriever,
        lambda **given: WebPageLoader("https://a.example/", **given),
        WebRetriever,
        WebPageReader,
        FetchPagePostprocessor,
    ],
)
def test_single_tools_retrievers_and_loaders_take_keys_or_a_client(
    make: Callable[..., Any],
) -> None:
    tools = make(api_keys=KEYS)
    assert [tool.name for tool in tools.web.tools()][:2] == ["web_search", "web_fetch"]
    assert KEYS["exa"] not in tools.web.redact(f"the key {KEYS['exa']}")
    assert KEYS["exa"] not in repr(tools)
    with pytest.raises((ValueError, InputError), match="not both"):
        make(web=WebTools(), api_keys=KEYS)


def test_an_unknown_setting_of_a_toolkit_or_spec_is_refused_with_the_nearest() -> None:
    spec: Any = WebToolsSpec
    with pytest.raises(TypeError, match='"max_results"'):
        spec(max_result=3)
    toolkit: Any = WebToolkit
    with pytest.raises(ValueError, match='"max_results"'):
        toolkit(max_result=3)
