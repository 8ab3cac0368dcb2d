from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import pytest
from llama_index.core.llms import TextBlock
from llama_index.core.llms.llm import ToolSelection
from llama_index.core.tools.calling import (
    acall_tool,
    acall_tool_with_selection,
    call_tool,
    call_tool_with_selection,
)

from llamaindex_webtools import WebToolsSpec, summarize_tool, web_fetch_tool, web_search_tool
from webtools import Config, ToolResult, WebTools

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from llama_index.core.tools import FunctionTool, ToolOutput

    from webtools_sandbox import SandboxServer

    Caller = Callable[[FunctionTool, dict[str, Any]], Awaitable[ToolOutput]]


# --- the ways a tool is called -----------------------------------------------------------------


def _selection(tool: FunctionTool, arguments: dict[str, Any]) -> ToolSelection:
    return ToolSelection(tool_id="1", tool_name=tool.metadata.get_name(), tool_kwargs=arguments)


async def by_calling(tool: FunctionTool, arguments: dict[str, Any]) -> ToolOutput:
    return tool(**arguments)


async def by_call(tool: FunctionTool, arguments: dict[str, Any]) -> ToolOutput:
    return tool.call(**arguments)


async def by_acall(tool: FunctionTool, arguments: dict[str, Any]) -> ToolOutput:
    return await tool.acall(**arguments)


async def by_call_tool(tool: FunctionTool, arguments: dict[str, Any]) -> ToolOutput:
    return call_tool(tool, arguments)


async def by_acall_tool(tool: FunctionTool, arguments: dict[str, Any]) -> ToolOutput:
    return await acall_tool(tool, arguments)


async def by_selection(tool: FunctionTool, arguments: dict[str, Any]) -> ToolOutput:
    return call_tool_with_selection(_selection(tool, arguments), [tool])


async def by_async_selection(tool: FunctionTool, arguments: dict[str, Any]) -> ToolOutput:
    return await acall_tool_with_selection(_selection(tool, arguments), [tool])


WAYS = [
    by_calling,
    by_call,
    by_acall,
    by_call_tool,
    by_acall_tool,
    by_selection,
    by_async_selection,
]
every_way = pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)

SEARCH: dict[str, Any] = {"queries": ["asyncio"], "provider": "exa"}


@every_way
async def test_every_way_of_calling_gives_text_and_details(way: Caller) -> None:
    output = await way(web_search_tool(stub()), SEARCH)
    assert (output.content, output.raw_output) == ("found", {"results": []})
    assert output.blocks == [TextBlock(text="found")]
    assert (output.tool_name, output.raw_input) == ("web_search", {"kwargs": SEARCH})


async def test_the_wait_that_a_provider_asks_for_reaches_the_caller(
    web: WebTools, webtools_sandbox: SandboxServer
) -> None:
    webtools_sandbox.fault(status=429, retry_after=61)
    output = await web_search_tool(web).acall(**SEARCH)
    assert output.raw_output["error"]["retry_after"] == 61


async def test_a_refused_key_shows_nowhere(webtools_sandbox: SandboxServer) -> None:
    settings = webtools_sandbox.config()
    settings["providers"][0]["apiKey"] = key = "sk-very-secret-0123456789"
    webtools_sandbox.fault(body="echo")
    with WebTools(Config.model_validate(settings)) as web:
        tool = web_search_tool(web)
        output = tool.call(**SEARCH)
    assert output.is_error
    assert key not in repr(output)
    assert key not in repr(vars(tool))


async def test_a_key_in_the_arguments_shows_nowhere(webtools_sandbox: SandboxServer) -> None:
    key = "test-key-canary-1"
    config = webtools_sandbox.config()
    for entry in config["providers"]:
        entry["apiKey"] = key
    arguments = {"queries": [f"what is {key}", "json"]}
    async with WebTools(Config.model_validate(config)) as web:
        tool = web_search_tool(web)
        for output in (tool(**arguments), await tool.acall(**arguments)):
            assert output.raw_input == {"kwargs": {"queries": ["what is [redacted]", "json"]}}
            assert key not in repr(output)
    assert arguments["queries"][0].endswith(key)  # the caller's own stay


# --- calling -----------------------------------------------------------------------------------


class Stub(WebTools):
    """Stands for `WebTools`; gives one result and remembers the calls."""

    def __init__(self, result: ToolResult) -> None:
        super().__init__()
        self.result = result
        self.asked: list[tuple[str, Any]] = []

    def call_tool(self, name: str, arguments: Any, **_: Any) -> ToolResult:
        self.asked.append((name, arguments))
        return self.result

    async def acall_tool(self, name: str, arguments: Any, **_: Any) -> ToolResult:
        return self.call_tool(name, arguments)


def stub(text: str = "found", *, is_error: bool = False) -> Any:
    return Stub(ToolResult(text, {"results": []}, is_error))


@pytest.mark.parametrize(
    ("factory", "field"),
    [(web_search_tool, "queries"), (web_fetch_tool, "urls"), (summarize_tool, "url")],
)
async def test_a_bare_word_is_taken_for_the_first_argument(
    factory: Callable[..., FunctionTool], field: str
) -> None:
    web = stub()
    tool = factory(web)
    outputs = [tool("word"), tool.call("word"), await tool.acall("word")]
    assert [arguments for _, arguments in web.asked] == [{field: "word"}] * 3
    assert [output.raw_input for output in outputs] == [{"kwargs": {field: "word"}}] * 3


def test_a_renamed_tool_still_calls_its_function_and_signs_with_its_name() -> None:
    web = stub()
    output = web_search_tool(web, name="lookup")(queries=["x"])
    assert output.tool_name == "lookup"
    assert web.asked == [("web_search", {"queries": ["x"]})]


@pytest.mark.parametrize("arguments", [{"args": 1}, {"first": 1}, {"kwargs": {}}, {"name": "x"}])
def test_an_argument_of_any_name_reaches_the_core(arguments: dict[str, Any]) -> None:
    web = stub()
    web_search_tool(web).call(**arguments)
    assert web.asked == [("web_search", arguments)]


@pytest.mark.parametrize("text", ["", " \n"])
async def test_the_model_never_gets_an_empty_message(text: str) -> None:
    tool = web_search_tool(stub(text))
    for output in (tool.call(queries=["x"]), await tool.acall(queries=["x"])):
        [block] = output.blocks
        assert isinstance(block, TextBlock)
        assert block.text


@pytest.mark.parametrize("is_error", [True, False])
async def test_success_and_failure_are_kept_apart(is_error: bool) -> None:
    tool = web_search_tool(stub(is_error=is_error))
    assert tool.call(queries=["x"]).is_error is is_error
    assert (await tool.acall(queries=["x"])).is_error is is_error


async def test_an_output_survives_json() -> None:
    output = await web_search_tool(stub()).acall(queries=["x"])
    assert json.loads(output.model_dump_json())["raw_output"] == {"results": []}


def test_a_result_that_an_override_gives_keeps_its_mark() -> None:
    class Careful(WebToolsSpec):
        def web_search(self, queries: Any = None, /, **arguments: Any) -> ToolResult:
            return ToolResult("not today", {"results": []}, is_error=True)

    output = Careful(stub()).to_tool_list()[0].call(queries=["x"])
    assert (output.content, output.is_error, output.raw_input) == (
        "not today",
        True,
        {"kwargs": {}},
    )


# --- loops -------------------------------------------------------------------------------------


async def test_an_awaited_call_takes_no_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asyncio.get_running_loop(), "run_in_executor", pytest.fail)
    assert (await web_search_tool(stub()).acall(queries=["x"])).content == "found"


async def test_cancelling_reaches_the_web_tools() -> None:
    class Hanging(Stub):
        ended = False

        async def acall_tool(self, name: str, arguments: Any, **_: Any) -> ToolResult:
            try:
                await asyncio.Event().wait()
            finally:
                self.ended = True
            return self.result

    web: Any = Hanging(ToolResult("never"))
    call = asyncio.create_task(web_search_tool(web).acall(queries=["x"]))
    await asyncio.sleep(0)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert web.ended
