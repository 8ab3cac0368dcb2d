"""What a LangChain call gives is what `WebTools.call_tool` gives, however it is made."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import ToolMessage
from timeless import timeless

from langchain_webtools import WebToolException, WebToolkit
from langchain_webtools._base import WebTool
from webtools import ToolResult, WebTools
from webtools_sandbox import SandboxServer

ConfigFile = Callable[..., Path]
Answer = tuple[str, Any, bool | None]
Way = Callable[[WebTool, Any], Awaitable[Answer]]


@dataclass(frozen=True)
class Case:
    """A tool call, what goes wrong at the provider, and the error that this is."""

    tool: str
    arguments: dict[str, Any]
    error: str | None = None
    fault: dict[str, Any] = field(default_factory=dict[str, Any])
    entry: dict[str, Any] = field(default_factory=dict[str, Any])
    is_cut: bool = False


SEARCH: dict[str, Any] = {"queries": ["read json"], "limit": 2}
NO_PAGES = ["LIBRARY/nothing-here.html", "https://nowhere.example/"]
LONG_PAGES = [f"LIBRARY/{name}.html" for name in ("typing", "doctest", "inspect", "difflib")]
CASES = {
    "search": Case("web_search", SEARCH),
    "several queries": Case("web_search", {"queries": ["read json", "sort a list"], "limit": 1}),
    "lenient spelling": Case("web_search", {"query": "read json", "includeDomains": "localhost"}),
    "nothing found": Case("web_search", {"queries": ["qqxxqqxx"]}),
    "an unsupported filter": Case("web_search", {**SEARCH, "provider": "kagi", "category": "news"}),
    "fetch": Case("web_fetch", {"urls": ["PAGE"]}),
    "summarize": Case("summarize", {"url": "PAGE"}),
    "partial failure of a search": Case(
        "web_search",
        {"queries": ["read json", "zebra"]},
        fault={"status": 500, "containing": "zebra"},
    ),
    "partial failure of a fetch": Case("web_fetch", {"urls": ["PAGE", "https://nowhere.example/"]}),
    "a fetch of which all failed": Case("web_fetch", {"urls": NO_PAGES}, "ProviderError"),
    "a cut output": Case("web_fetch", {"urls": LONG_PAGES}, is_cut=True),
    "wrong key": Case("web_search", SEARCH, "AuthenticationError", entry={"apiKey": "wrong-key"}),
    "401": Case("summarize", {"url": "PAGE"}, "AuthenticationError", {"status": 401}),
    "402": Case("web_search", SEARCH, "QuotaError", {"status": 402}),
    "429": Case("web_search", SEARCH, "RateLimitError", {"status": 429, "retry_after": 120}),
    "400": Case("web_fetch", {"urls": ["PAGE"]}, "BadRequestError", {"status": 400}),
    "500": Case("web_search", SEARCH, "UnavailableError", {"status": 500}),
    "503": Case("web_fetch", {"urls": ["PAGE"]}, "UnavailableError", {"status": 503}),
    "reset": Case("web_search", SEARCH, "RequestError", {"reset": True}),
    "timeout": Case(
        "web_search",
        {**SEARCH, "provider": "exa"},
        "RequestTimeoutError",
        {"delay": 2.0},
        {"timeoutMs": 500},
    ),
    "HTML": Case("web_search", SEARCH, "ResponseFormatError", {"body": "html"}),
    "cut JSON": Case("web_search", SEARCH, "ResponseFormatError", {"body": b'{"results": [{"ti'}),
    "blank query": Case("web_search", {"queries": [" "]}, "InputError"),
    "no query": Case("web_search", {}, "InputError"),
    "limit out of range": Case("web_search", {**SEARCH, "limit": -1}, "InputError"),
    "limit of a wrong type": Case("web_search", {**SEARCH, "limit": "many"}, "InputError"),
    "malformed URL": Case("web_fetch", {"urls": ["example.com"]}, "InputError"),
    "unknown argument": Case("summarize", {"url": "PAGE", "colour": "red"}, "InputError"),
    "argument called run_manager": Case("web_search", {**SEARCH, "run_manager": 1}, "InputError"),
    "argument called self": Case("web_search", {**SEARCH, "self": 1}, "InputError"),
    "argument called config": Case("web_search", {**SEARCH, "config": {}}, "InputError"),
    "unknown provider": Case("web_search", {**SEARCH, "provider": "zilch"}, "ConfigError"),
}


def _tool_call(tool: WebTool, arguments: Any) -> dict[str, Any]:
    return {"name": tool.name, "args": arguments, "id": "call_1", "type": "tool_call"}


def _answer(tool: WebTool, message: Any) -> Answer:
    assert isinstance(message, ToolMessage)
    assert (message.name, message.tool_call_id) == (tool.name, "call_1")
    return message.text, message.artifact, message.status == "error"


async def _invoke(tool: WebTool, arguments: Any) -> Answer:
    return tool.invoke(arguments), None, None


async def _ainvoke(tool: WebTool, arguments: Any) -> Answer:
    return await tool.ainvoke(arguments), None, None


async def _invoke_tool_call(tool: WebTool, arguments: Any) -> Answer:
    return _answer(tool, tool.invoke(_tool_call(tool, arguments)))


async def _ainvoke_tool_call(tool: WebTool, arguments: Any) -> Answer:
    return _answer(tool, await tool.ainvoke(_tool_call(tool, arguments)))


async def _raised(tool: WebTool, arguments: Any) -> Answer:
    tool.handle_tool_error = False
    try:
        message = tool.invoke(_tool_call(tool, arguments))
    except WebToolException as error:
        return str(error), error.details, True
    return _answer(tool, message)


async def _araised(tool: WebTool, arguments: Any) -> Answer:
    tool.handle_tool_error = False
    try:
        message = await tool.ainvoke(_tool_call(tool, arguments))
    except WebToolException as error:
        return str(error), error.details, True
    return _answer(tool, message)


WAYS = [_invoke, _ainvoke, _invoke_tool_call, _ainvoke_tool_call, _raised, _araised]


def _tool(web: WebTools, name: str) -> WebTool:
    tools = {tool.name: tool for tool in WebToolkit(web=web).get_tools()}
    tool = tools[name]
    assert isinstance(tool, WebTool)
    return tool


def _same(answer: Answer, expected: ToolResult) -> None:
    text, artifact, is_error = answer
    assert text == expected.text
    if is_error is not None:
        assert json.dumps(timeless(artifact)) == json.dumps(timeless(expected.details))
        assert is_error == expected.is_error


@pytest.fixture(params=CASES)
def case(request: pytest.FixtureRequest, page: str) -> Case:
    found = CASES[request.param]
    library = page.rpartition("/")[0]
    given = json.dumps(found.arguments).replace("PAGE", page).replace("LIBRARY", library)
    return replace(found, arguments=json.loads(given))


@pytest.mark.usefixtures("own_temp")
async def test_a_call_gives_the_text_and_details_of_the_core(
    case: Case, config_file: ConfigFile, webtools_sandbox: SandboxServer
) -> None:
    if case.fault:
        webtools_sandbox.fault(**case.fault, times=None)
    async with WebTools(config=config_file(**case.entry)) as web:
        expected = web.call_tool(case.tool, case.arguments)
        kind = (expected.details["error"] or {}).get("type")
        assert kind == case.error
        assert bool(expected.details["truncation"]) == case.is_cut
        for way in WAYS:
            _same(await way(_tool(web, case.tool), case.arguments), expected)


@pytest.mark.usefixtures("own_temp")
@pytest.mark.parametrize("way", WAYS)
async def test_what_was_cut_is_read_on_as_in_the_core(way: Way, web: WebTools, page: str) -> None:
    long = json.loads(json.dumps(LONG_PAGES).replace("LIBRARY", page.rpartition("/")[0]))
    handle = web.call_tool("web_fetch", {"urls": long}).details["read_handle"]
    arguments = {"handle": handle, "offset": 40_000}
    expected = web.call_tool("web_read", arguments)
    assert not expected.is_error
    _same(await way(_tool(web, "web_read"), arguments), expected)


@pytest.mark.parametrize("way", WAYS)
async def test_a_missing_config_file_reads_as_in_the_core(way: Way, tmp_path: Path) -> None:
    web = WebTools(config=tmp_path / "missing.json")
    expected = web.call_tool("web_search", SEARCH)
    assert expected.details["error"]["type"] == "ConfigError"
    _same(await way(_tool(web, "web_search"), SEARCH), expected)


@pytest.mark.parametrize("given", [["read json"], None, 3, {1: 2}])
def test_an_input_that_is_no_object_is_an_error_of_the_core(given: Any, web: WebTools) -> None:
    expected = web.call_tool("web_search", given)
    assert expected.details["error"]["type"] == "InputError"
    assert _tool(web, "web_search").invoke(given) == expected.text


@pytest.mark.parametrize(
    ("tool", "many"), [("web_search", "queries"), ("web_fetch", "urls"), ("summarize", "url")]
)
async def test_a_bare_string_fills_the_first_field(
    tool: str, many: str, web: WebTools, page: str
) -> None:
    expected = web.call_tool(tool, {many: page})
    assert not expected.is_error
    assert _tool(web, tool).invoke(page) == expected.text
    assert await _tool(web, tool).ainvoke(page) == expected.text
