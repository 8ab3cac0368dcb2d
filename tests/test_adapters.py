"""The same call gives the same text and details through call_tool, LangChain and LlamaIndex."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from langchain_core.messages import ToolMessage
from timeless import timeless

from langchain_webtools import WebToolException, WebToolkit
from langchain_webtools._base import WebTool
from llamaindex_webtools import WebToolsSpec
from webtools import WebTools
from webtools_sandbox import SandboxServer

Answer = tuple[str, Any, bool]


@dataclass(frozen=True)
class Case:
    """A tool call, what goes wrong at the provider, and the error that results."""

    tool: str
    arguments: dict[str, Any]
    error: str | None = None
    fault: dict[str, Any] = field(default_factory=dict[str, Any])
    is_cut: bool = False


SEARCH: dict[str, Any] = {"queries": ["read json"], "limit": 2}
LONG_PAGES = [f"LIBRARY/{name}.html" for name in ("typing", "doctest", "inspect", "difflib")]
CASES = {
    "search": Case("web_search", SEARCH),
    "lenient spelling": Case("web_search", {"query": "read json", "includeDomains": "localhost"}),
    "an unsupported filter": Case("web_search", {**SEARCH, "provider": "kagi", "category": "news"}),
    "summarize": Case("summarize", {"url": "LIBRARY/json.html"}),
    "partial failure of a search": Case(
        "web_search",
        {"queries": ["read json", "zebra"]},
        fault={"status": 500, "containing": "zebra"},
    ),
    "partial failure of a fetch": Case(
        "web_fetch", {"urls": ["LIBRARY/json.html", "https://nowhere.example/"]}
    ),
    "a fetch of which all failed": Case("web_fetch", {"urls": ["LIBRARY/none"]}, "ProviderError"),
    "a cut output": Case("web_fetch", {"urls": LONG_PAGES}, is_cut=True),
    "a failing provider": Case(
        "web_search", SEARCH, "RateLimitError", {"status": 429, "retry_after": 120}
    ),
    "no query": Case("web_search", {}, "InputError"),
    "limit of a wrong type": Case("web_search", {**SEARCH, "limit": "many"}, "InputError"),
    "unknown argument": Case("summarize", {"url": "LIBRARY/json.html", "colour": 1}, "InputError"),
    "unknown provider": Case("web_search", {**SEARCH, "provider": "zilch"}, "ConfigError"),
}


def langchain_tool(web: WebTools, name: str) -> WebTool:
    [tool] = WebToolkit(web=web).get_tools([name])
    assert isinstance(tool, WebTool)
    return tool


def tool_call(name: str, arguments: Any) -> dict[str, Any]:
    return {"name": name, "args": arguments, "id": "call_1", "type": "tool_call"}


def answer_of(message: Any) -> Answer:
    assert isinstance(message, ToolMessage)
    assert message.tool_call_id == "call_1"
    return message.text, message.artifact, message.status == "error"


async def langchain(web: WebTools, name: str, arguments: Any) -> Answer:
    tool = langchain_tool(web, name)
    answer = answer_of(tool.invoke(tool_call(name, arguments)))
    assert tool.invoke(arguments) == answer[0]
    return answer


async def langchain_async(web: WebTools, name: str, arguments: Any) -> Answer:
    tool = langchain_tool(web, name)
    answer = answer_of(await tool.ainvoke(tool_call(name, arguments)))
    assert await tool.ainvoke(arguments) == answer[0]
    return answer


async def langchain_raising(web: WebTools, name: str, arguments: Any) -> Answer:
    tool = langchain_tool(web, name)
    tool.handle_tool_error = False
    try:
        return answer_of(tool.invoke(tool_call(name, arguments)))
    except WebToolException as error:
        return str(error), error.details, True


async def langchain_raising_async(web: WebTools, name: str, arguments: Any) -> Answer:
    tool = langchain_tool(web, name)
    tool.handle_tool_error = False
    try:
        return answer_of(await tool.ainvoke(tool_call(name, arguments)))
    except WebToolException as error:
        return str(error), error.details, True


async def llamaindex(web: WebTools, name: str, arguments: Any) -> Answer:
    [tool] = WebToolsSpec(web).to_tool_list([name])
    output = tool.call(**arguments)
    assert (output.tool_name, output.raw_input) == (name, {"kwargs": arguments})
    return output.content, output.raw_output, output.is_error


async def llamaindex_async(web: WebTools, name: str, arguments: Any) -> Answer:
    [tool] = WebToolsSpec(web).to_tool_list([name])
    output = await tool.acall(**arguments)
    assert (output.tool_name, output.raw_input) == (name, {"kwargs": arguments})
    return output.content, output.raw_output, output.is_error


async def core_async(web: WebTools, name: str, arguments: Any) -> Answer:
    result = await web.acall_tool(name, arguments)
    return result.text, result.details, result.is_error


WAYS: list[Callable[[WebTools, str, Any], Awaitable[Answer]]] = [
    core_async,
    langchain,
    langchain_async,
    langchain_raising,
    langchain_raising_async,
    llamaindex,
    llamaindex_async,
]


async def assert_same_everywhere(web: WebTools, name: str, arguments: dict[str, Any]) -> Any:
    expected = web.call_tool(name, arguments)
    for way in WAYS:
        text, details, is_error = await way(web, name, arguments)
        assert (text, is_error) == (expected.text, expected.is_error)
        assert type(details) is dict
        assert json.dumps(timeless(details)) == json.dumps(timeless(expected.details))
    return expected.details


@pytest.mark.usefixtures("own_temp")
@pytest.mark.parametrize("name", CASES)
async def test_a_call_gives_the_same_text_and_details_everywhere(
    name: str, webtools_sandbox: SandboxServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("webtools._internal.pipeline.retries.FIRST_DELAY", 0.0)
    case = CASES[name]
    library = f"{webtools_sandbox.docs_url}/library"
    arguments = json.loads(json.dumps(case.arguments).replace("LIBRARY", library))
    if case.fault:
        webtools_sandbox.fault(**case.fault, times=None)
    async with WebTools(config=webtools_sandbox.config()) as web:
        details = await assert_same_everywhere(web, case.tool, arguments)
        assert (details["error"] or {}).get("type") == case.error
        assert bool(details["truncation"]) == case.is_cut
        if case.is_cut:
            rest = {"handle": details["read_handle"], "offset": 40_000}
            assert not (await assert_same_everywhere(web, "web_read", rest))["error"]


async def test_a_missing_config_file_is_the_same_error_everywhere(tmp_path: Path) -> None:
    web = WebTools(config=tmp_path / "missing.json")
    details = await assert_same_everywhere(web, "web_search", SEARCH)
    assert details["error"]["type"] == "ConfigError"


@pytest.mark.parametrize(("page", "error"), [("json.html", None), ("none", "ProviderError")])
@pytest.mark.usefixtures("own_temp")
async def test_a_map_is_the_same_everywhere(
    webtools_sandbox: SandboxServer, page: str, error: str | None
) -> None:
    url = f"{webtools_sandbox.docs_url}/library/{page}"
    options = {"allowPrivateHosts": [urlsplit(url).netloc]}
    direct = {"name": "direct", "type": "direct", "options": options}
    arguments = {"url": url, "find": "decoder", "limit": 3}
    async with WebTools(config={"providers": [direct]}, cache=False) as web:
        details = await assert_same_everywhere(web, "web_map", arguments)
    assert (details["error"] or {}).get("type") == error
    assert bool(details["results"]) is (error is None)
